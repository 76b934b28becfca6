"""The parameters of an operation's path: what the document says of their values."""

from collections.abc import Mapping
from typing import Any, Literal

from gateway.policy.finding import Wrong
from gateway.policy.openapi.tree import Node, Tree
from gateway.policy.value_form import ValueForm, misfit

# `signed`: an integer that may be below 0. `word`: one of some words that the document lists.
Kind = Literal["text", "word", "integer", "signed", "uuid", "boolean", "number", "date", "moment"]

_PARAMETERS = 200
_OF_FORMAT: Mapping[str, Kind] = {"uuid": "uuid", "date": "date", "date-time": "moment"}
# A boolean is a word in each of its spellings, a date in the most usual one.
FORMS: Mapping[Kind, ValueForm] = {
    "word": "word",
    "integer": "integer",
    "uuid": "uuid",
    "boolean": "word",
    "date": "word",
}
# What has several spellings in whatever form: which of them an API takes, no document says.
DOUBTFUL: Mapping[Kind, str] = {
    "signed": "an integer that may be below 0, for which there is no form",
    "boolean": "a boolean (`true`, `True` and `1` may be one)",
    "number": "a number (`7`, `7.0` and `7e0` may be one)",
    "date": "a date (`2026-01-05` and `20260105` may be one)",
    "moment": "an instant (`Z`, `+00:00` and fractions of a second may make no difference)",
}


def path_kinds(tree: Tree, item: Node, operation: Node) -> Mapping[str, Kind]:
    """By the name of each parameter of the path what it is; the operation's over those of its path."""
    kinds: dict[str, Kind] = {}
    for parameter in parameters(item, operation):
        found = tree.resolved(parameter)
        name = None if isinstance(found, Wrong) or found.get("in") != "path" else found.get("name")
        if not isinstance(found, Wrong) and isinstance(name, str):
            kinds[name] = kind_of(tree, found.get("schema"))
    return kinds


def parameters(item: Node, operation: Node) -> tuple[Any, ...]:
    """Those of a path, then the operation's own, which stand over them (OpenAPI 3.1, section 4.8.10)."""
    listed = (node.get("parameters") for node in (item, operation))
    return tuple(one for some in listed if isinstance(some, list) for one in some[:_PARAMETERS])


def kind_of(tree: Tree, value: object) -> Kind:
    """What a schema says of a value; `text` where it says nothing that counts here."""
    schema = tree.resolved(value)
    if isinstance(schema, Wrong):
        return "text"
    branches = [one for name in ("anyOf", "oneOf") for one in _branches(schema.get(name))]
    if branches:
        return _common({_of_schema(found) for one in branches if not isinstance(found := tree.resolved(one), Wrong)})
    return _of_schema(schema)


def _branches(value: object) -> list[Any]:
    return value[:_PARAMETERS] if isinstance(value, list) else []


def _common(kinds: set[Kind]) -> Kind:
    """Of what may be one thing or another: a number as text is a number that has more spellings."""
    if len(kinds) == 1:
        return kinds.pop()
    return "text" if kinds.isdisjoint({"integer", "signed", "number"}) else "number"


def _of_schema(schema: Node) -> Kind:
    of_type = schema.get("type")
    match of_type[0] if isinstance(of_type, list) and len(of_type) == 1 else of_type:
        case "integer":
            return "signed" if _may_be_negative(schema) else "integer"
        case "boolean":
            return "boolean"
        case "number":
            return "number"
        case "string":
            named = schema.get("format")
            return _OF_FORMAT.get(named, _of_text(schema)) if isinstance(named, str) else _of_text(schema)
    return "text"


def _may_be_negative(schema: Node) -> bool:
    """Numbers are read as text."""
    return any(str(schema.get(bound, "")).startswith("-") for bound in ("minimum", "exclusiveMinimum"))


def _of_text(schema: Node) -> Kind:
    listed = schema.get("enum")
    are_words = isinstance(listed, list) and listed and all(misfit("word", str(one)) is None for one in listed)
    return "word" if are_words else "text"
