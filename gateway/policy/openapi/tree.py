"""A document's text as plain mappings, lists and text, and the references inside it.

YAML is read without types, tags and merge keys: all that is wanted are names, and a document may come from anywhere.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gateway.policy.finding import Wrong

# GitHub's whole API is 12 MB; the bound keeps a wrong file from filling the memory.
_FILE_LENGTH = 64 << 20
# A reference to a reference is rare, and longer chains are circles.
_HOPS = 8
_BASE = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

Node = Mapping[str, Any]


class _Loader(_BASE):  # type: ignore[misc, valid-type] # the compiled loader where there is one
    """Scalars stay text; a name that stands twice is a fault, because an operation would be lost with the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            names = [key.value for key, _ in node.value]
            twice = next((name for name in names if names.count(name) > 1), "")
            raise yaml.constructor.ConstructorError(None, None, f"`{twice}` stands twice", node.start_mark)
        return mapping


@dataclass(frozen=True, slots=True)
class Tree:
    """A whole document, and how the parts of it that stand elsewhere in it are found."""

    root: Node

    def resolved(self, value: object) -> Node | Wrong:
        """The mapping that `value` is or refers to. Wrong: a remote reference, a circle, and what leads nowhere."""
        for _ in range(_HOPS):
            if not isinstance(value, Mapping):
                return Wrong("a mapping is wanted here")
            reference = value.get("$ref")
            if reference is None:
                return value
            if not isinstance(reference, str) or not reference.startswith("#/"):
                return Wrong(f"{_short(reference)} lies outside the document and was not followed; bundle the document")
            value = self._at(reference)
        return Wrong("the reference leads in a circle")

    def _at(self, reference: str) -> object:
        here: object = self.root
        for token in reference[2:].split("/"):
            if not isinstance(here, Mapping):
                return None
            here = here.get(token.replace("~1", "/").replace("~0", "~"))
        return here


def items_of(value: object, most: int) -> list[Any]:
    """The first of a list; none of what is no list."""
    return value[:most] if isinstance(value, list) else []


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def is_true(value: object) -> bool:
    """YAML is read as text."""
    return value is True or value == "true"


def _short(reference: object) -> str:
    return f"`{str(reference)[:80]}`" if isinstance(reference, str) else "a reference"


def read_tree(path: Path) -> Tree | Wrong:
    """Read a JSON or YAML file. Wrong: unreadable, too large, malformed, or no OpenAPI 3.0 or 3.1."""
    try:
        with path.open("rb") as file:
            content = file.read(_FILE_LENGTH + 1)
        if len(content) > _FILE_LENGTH:
            return Wrong(f"{path} is larger than {_FILE_LENGTH >> 20} MiB; name an OpenAPI document")
        root = _parsed(content.decode("utf-8-sig"))
    except OSError as error:
        return Wrong(f"{path} cannot be read ({error.strerror}); make it readable")
    except UnicodeDecodeError:
        return Wrong(f"{path} is not UTF-8; save it as UTF-8")
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return Wrong(f"{path}:{line}: this is not valid YAML ({error.problem}); correct it first")
    except yaml.YAMLError:
        return Wrong(f"{path} holds a control character; remove it")
    except json.JSONDecodeError as error:
        return Wrong(f"{path}:{error.lineno}: this is not valid JSON ({error.msg}); correct it first")
    except ValueError as error:
        return Wrong(f"{path} is not valid JSON ({error}); correct it first")
    except RecursionError:
        return Wrong(f"{path} is nested too deeply; name an OpenAPI document")
    return _checked(path, root)


def _parsed(text: str) -> object:
    if text.lstrip().startswith("{"):
        return json.loads(text, object_pairs_hook=_distinct, parse_int=str, parse_float=str)
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - a loader of text only, see above


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"`{twice[:80]}` stands twice in one object")
    return mapping


def _checked(path: Path, root: object) -> Tree | Wrong:
    version = root.get("openapi") if isinstance(root, Mapping) else None
    if isinstance(root, Mapping) and isinstance(version, str) and version.startswith(("3.0", "3.1")):
        return Tree(root)
    return Wrong(f"{path} is no OpenAPI 3.0 or 3.1 document (`openapi: 3.x.y` at its top); convert it first")
