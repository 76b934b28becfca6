"""A document's text as plain mappings, lists and text, and the references inside it.

YAML is read without types, tags and merge keys: all that is wanted are names, and a document may come from anywhere.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import yaml

from gateway.policy.finding import Wrong

# GitHub's whole API is 12 MB; the bound keeps a wrong file from filling the memory.
_FILE_LENGTH = 64 << 20
# A reference to a reference is rare, and longer chains are circles.
_HOPS = 8
# Of something in a list, and no longer number than a list has places.
_PLACE = re.compile("0|[1-9][0-9]{0,5}")
# More are no ways to show who one is.
_SCHEMES = 200
_BASE = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

Node = Mapping[str, Any]
Found = TypeVar("Found")
# What has the schemas of which one holds, or more.
ALTERNATIVES = ("anyOf", "oneOf")


class _Loader(_BASE):  # type: ignore[misc, valid-type] # the compiled loader where there is one
    """Scalars stay text; a name that stands twice is a fault, because an operation would be lost with the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            twice = _twice(key.value for key, _ in node.value)
            raise yaml.constructor.ConstructorError(None, None, f"`{twice}` stands twice", node.start_mark)
        return mapping


@dataclass(frozen=True, slots=True)
class Tree:
    """A whole document, and how the parts of it that stand elsewhere in it are found."""

    root: Node
    _known: dict[object, tuple[object, Any]] = field(default_factory=dict, repr=False, compare=False)

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

    def once(self, find: Callable[["Tree", object], Found], value: object) -> Found:
        """What is found in a part of the document: the same part stands in thousands of places, and in itself."""
        is_reference = isinstance(value, Mapping) and len(value) == 1
        resolved = self.resolved(value) if is_reference else value
        part = value if isinstance(resolved, Wrong) else resolved
        # With the part itself, or another one could have its id by and by.
        known = self._known.get((find, id(part))) or (part, find(self, part))
        self._known[find, id(part)] = known
        found: Found = known[1]
        return found

    def _at(self, reference: str) -> object:
        """RFC 6901, section 6. Bundlers refer to where something stood first, be it in a list."""
        here: object = self.root
        for token in unquote(reference[2:]).split("/"):
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(here, list):
                here = here[int(name)] if _PLACE.fullmatch(name) and int(name) < len(here) else None
            else:
                here = here.get(name) if isinstance(here, Mapping) else None
        return here


def security_schemes(tree: Tree) -> Iterator[Node]:
    """How callers may show who they are."""
    components = tree.root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Mapping) else None
    every = list(schemes.values())[:_SCHEMES] if isinstance(schemes, Mapping) else []
    return (found for found in map(tree.resolved, every) if not isinstance(found, Wrong))


def items_of(value: object, most: int) -> list[Any]:
    """The first of a list; none of what is no list."""
    return value[:most] if isinstance(value, list) else []


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def alternatives(schema: Node, most: int) -> list[Any]:
    """The first of each, as they stand."""
    return [one for name in ALTERNATIVES for one in items_of(schema.get(name), most)]


def is_only_null(schema: Node) -> bool:
    """Whether it takes nothing but a null."""
    return schema.get("type") in ("null", ["null"])


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
        raise ValueError(f"`{_twice(name for name, _ in pairs)[:80]}` stands twice in one object")
    return mapping


def _twice(names: Iterable[str]) -> str:
    return next((name for name, count in Counter(names).items() if count > 1), "")


def _checked(path: Path, root: object) -> Tree | Wrong:
    version = root.get("openapi") if isinstance(root, Mapping) else None
    if isinstance(root, Mapping) and isinstance(version, str) and version.startswith(("3.0", "3.1")):
        return Tree(root)
    return Wrong(f"{path} is no OpenAPI 3.0 or 3.1 document (`openapi: 3.x.y` at its top); convert it first")
