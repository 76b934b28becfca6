"""What a document says of the values in a path."""

from typing import Any

import pytest

from gateway.policy.openapi.parameter import DOUBTFUL, FORMS, Kind, kind_of, parameter_kinds
from gateway.policy.openapi.tree import Tree

TREE = Tree({"components": {"schemas": {"Id": {"type": ["integer"]}}}})


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer", "format": "int64"}, "integer"),
        ({"$ref": "#/components/schemas/Id"}, "integer"),
        ({"type": "integer", "minimum": "0"}, "integer"),
        ({"type": "integer", "minimum": "-5"}, "signed"),
        ({"type": ["integer", "null"]}, "integer"),
        ({"type": ["integer", "string"]}, "named"),
        ({"oneOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"enum": ["me"]}]}, "named"),
        ({"oneOf": [{"type": "integer"}, {"type": "string", "format": "uuid"}]}, "number"),
        ({"allOf": [{"$ref": "#/components/schemas/Id"}, {"description": "an id"}]}, "integer"),
        ({"allOf": [{"type": "integer"}, {"type": "boolean"}]}, "mixed"),
        ({"type": "string"}, "text"),
        ({"type": "string", "format": "uuid"}, "uuid"),
        ({"type": "string", "format": "ULID"}, "ulid"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "date-time"}, "moment"),
        ({"type": "string", "format": ["uuid"]}, "text"),
        ({"type": "string", "enum": ["a", "b-c"]}, "word"),
        ({"type": "string", "enum": ["a", "b c"]}, "text"),
        ({"type": "string", "enum": []}, "text"),
        ({"type": "string", "enum": ["1", "2"]}, "word"),
        ({"enum": ["1", "2"]}, "integer"),
        ({"enum": ["1", "a", None]}, "named"),
        ({"enum": ["a", "true"]}, "word"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"anyOf": [{"type": "number"}, {"type": "string"}]}, "number"),
        ({"oneOf": [{"$ref": "#/components/schemas/Id"}]}, "integer"),
        ({"oneOf": [{"type": "string"}, {"type": "boolean"}, "nonsense"]}, "text"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text"),
        ({"anyOf": [{"type": "null"}]}, "text"),
        ({"anyOf": [{"type": "string", "format": "uuid"}, {"type": "string"}]}, "mixed"),
        ({"type": "array"}, "list"),
        ({"type": "array", "items": {"type": "integer"}}, "integers"),
        ({"type": "array", "items": {"type": "string", "format": "uuid"}}, "uuids"),
        ({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "list"),
        ({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}, "integers"),
        ({"type": "object"}, "list"),
        ({"pattern": "^[0-9]+$"}, "integer"),
        ({"$ref": "https://x.example/y"}, "text"),
        (None, "text"),
    ],
    ids=range(40),
)
def test_a_schema_says_what_a_value_is(schema: Any, kind: Kind) -> None:
    """What it does not say, or cannot be read, is text."""
    assert kind_of(TREE, schema) == kind


@pytest.mark.parametrize(
    ("named", "kind"),
    [
        *[(name, "address") for name in ("ipv4", "ipv6", "ipvanyaddress", "ipvanynetwork", "ipv6network")],
        *[(name, "mail") for name in ("email", "idn-email")],
        *[(name, "host") for name in ("hostname", "idn-hostname")],
        *[(name, "number") for name in ("decimal", "double")],
        *[(name, "link") for name in ("uri", "iri-reference")],
        *[(name, "encoded") for name in ("byte", "base64", "base64url")],
        *[(name, "integer") for name in ("int64", "uint64")],
        *[(name, "uuid") for name in ("uuid4", "guid")],
        ("duration", "duration"),
        ("time", "moment"),
        ("string", "text"),
        ("whatever", "other"),
    ],
)
def test_a_format_says_how_a_text_is_spelled(named: str, kind: Kind) -> None:
    """An unknown one is asked about, as all are that have several spellings of one value."""
    assert kind_of(TREE, {"type": "string", "format": named}) == kind
    assert kind in DOUBTFUL or kind in FORMS or kind == "text"


def test_a_pattern_says_more_than_a_format() -> None:
    """And an unreadable one as much as none."""
    date = {"type": "string", "format": "date"}

    assert kind_of(TREE, {**date, "pattern": r"^\d{4}-\d{2}-\d{2}$"}) == "lowercase"
    assert kind_of(TREE, {**date, "pattern": "^[^/]+$"}) == "date"


def test_a_circle_of_schemas_says_nothing() -> None:
    """It is not followed for ever."""
    tree = Tree({"a": {"items": {"$ref": "#/a"}, "type": "array"}, "b": {"allOf": [{"$ref": "#/b"}]}})

    assert [kind_of(tree, {"$ref": f"#/{name}"}) for name in "ab"] == ["list", "text"]


def test_a_schema_of_itself_many_times_over_is_asked_about() -> None:
    """After a moment."""
    tree = Tree({"a": {"anyOf": [{"$ref": "#/a"}] * 20, "type": "string"}})

    assert kind_of(tree, {"$ref": "#/a"}) == "mixed"


def test_an_operations_parameter_stands_over_its_paths() -> None:
    """And only what is in the path counts."""
    integer, text = {"type": "integer"}, {"type": "string"}
    item = {
        "parameters": [
            {"name": "a", "in": "path", "schema": integer},
            {"name": "b", "in": "path", "schema": integer},
            {"name": "c", "in": "query", "schema": integer},
            {"name": "e", "in": "path", "content": {"text/plain": {"schema": integer}}},
            {"name": ["d"], "in": "path"},
            "nonsense",
        ]
    }

    assert parameter_kinds(TREE, item, {"parameters": [{"name": "b", "in": "path", "schema": text}]}, "path") == {
        "a": "integer",
        "b": "text",
        "e": "integer",
    }
    assert parameter_kinds(TREE, item, {}, "query") == {"c": "integer"}
