"""The body of an operation: its types, and which members it has at the top."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from gateway.policy.compile.json_types import parse_json_type
from gateway.policy.finding import Wrong
from gateway.policy.openapi.parameter import Kind, kind_of
from gateway.policy.openapi.tree import Node, Tree, is_true, items_of, text_of

_TYPES = 200
_MEMBERS = 500
_MERGED = 20
# A schema may be made of itself.
_SCHEMAS = 100
_NESTED = 4
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class BodyMembers:
    """By the name of each member at the top what it is, but for those that only answers have.

    `exact`: the body is JSON in any case, and of one schema that the document spells out. `required`: members that no
    body is without. `is_file`: the body is neither JSON nor a form, so that its names cannot be read.
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    exact: bool = False
    required: frozenset[str] = frozenset()
    is_file: bool = False


def body_members(tree: Tree, operation: Node) -> BodyMembers:
    """Those of all its types of media, and of schemas that are merged or one of which holds."""
    content = _content(tree, operation)
    kinds: dict[str, Kind] = {}
    required: set[str] = set()
    media = list(content.items())[:_MERGED]
    plain = True
    for _, described in media:
        schema = tree.resolved(described.get("schema") if isinstance(described, Mapping) else None)
        if isinstance(schema, Wrong):
            plain = False
            continue
        plain = plain and not any(name in schema for name in ("allOf", "oneOf", "anyOf"))
        for one in islice(_schemas(tree, schema), _SCHEMAS):
            kinds |= _members(tree, one)
            required |= _required(one)
    exact = plain and [name for name, _ in media] == ["application/json"]
    is_file = bool(media) and not any(_is_read(name) for name, _ in media)
    return BodyMembers(kinds, exact, frozenset(required & kinds.keys()), is_file)


def json_types(tree: Tree, operation: Node) -> tuple[str, ...]:
    """Those of its types that end in `+json`."""
    types = map(_plain_type, list(_content(tree, operation))[:_TYPES])
    return tuple(name for name in types if name.endswith("+json") and not isinstance(parse_json_type(name), Wrong))


def _content(tree: Tree, operation: Node) -> Node:
    """OpenAPI 3.1, section 4.8.13: by media types, or ranges of them, what is described."""
    body = tree.resolved(operation.get("requestBody"))
    content = None if isinstance(body, Wrong) else body.get("content")
    return content if isinstance(content, Mapping) else {}


def _plain_type(name: object) -> str:
    return text_of(name).partition(";")[0].strip().lower()


def _is_read(name: object) -> bool:
    plain = _plain_type(name)
    return plain in ("application/json", _FORM) or plain.endswith("+json")


def _schemas(tree: Tree, schema: Node, depth: int = 0) -> Iterator[Node]:
    """It, and what it is made of."""
    yield schema
    listed = (items_of(schema.get(name), _MERGED) for name in ("allOf", "oneOf", "anyOf")) if depth < _NESTED else ()
    for one in (one for some in listed for one in some):
        found = tree.resolved(one)
        if not isinstance(found, Wrong):
            yield from _schemas(tree, found, depth + 1)


def _required(schema: Node) -> set[str]:
    return {name for name in items_of(schema.get("required"), _MEMBERS) if isinstance(name, str)}


def _members(tree: Tree, schema: Node) -> dict[str, Kind]:
    members = schema.get("properties")
    kinds: dict[str, Kind] = {}
    for name, value in list(members.items())[:_MEMBERS] if isinstance(members, Mapping) else ():
        described = tree.resolved(value)
        only_answered = not isinstance(described, Wrong) and is_true(described.get("readOnly"))
        if isinstance(name, str) and not only_answered:
            kinds[name] = kind_of(tree, value)
    return kinds
