"""What a document says of the values in a path."""

from typing import Any

import pytest

from gateway.policy.openapi.parameter import Kind, kind_of, path_kinds
from gateway.policy.openapi.tree import Tree

TREE = Tree({"components": {"schemas": {"Id": {"type": ["integer"]}}}})


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer", "format": "int64"}, "integer"),
        ({"$ref": "#/components/schemas/Id"}, "integer"),
        ({"type": "integer", "minimum": "0"}, "integer"),
        ({"type": "integer", "minimum": "-5"}, "signed"),
        ({"type": ["integer", "null"]}, "text"),
        ({"type": "string"}, "text"),
        ({"type": "string", "format": "uuid"}, "uuid"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "date-time"}, "moment"),
        ({"type": "string", "format": ["uuid"]}, "text"),
        ({"type": "string", "enum": ["a", "b-c"]}, "word"),
        ({"type": "string", "enum": ["a", "b c"]}, "text"),
        ({"type": "string", "enum": []}, "text"),
        ({"type": "number"}, "number"),
        ({"type": "boolean"}, "boolean"),
        ({"anyOf": [{"type": "number"}, {"type": "string"}]}, "number"),
        ({"oneOf": [{"$ref": "#/components/schemas/Id"}]}, "integer"),
        ({"oneOf": [{"type": "string"}, {"type": "boolean"}, "nonsense"]}, "text"),
        ({"type": "array"}, "text"),
        ({"$ref": "https://x.example/y"}, "text"),
        (None, "text"),
    ],
    ids=range(21),
)
def test_a_schema_says_what_a_value_is(schema: Any, kind: Kind) -> None:
    """What it does not say, or cannot be read, is text."""
    assert kind_of(TREE, schema) == kind


def test_an_operations_parameter_stands_over_its_paths() -> None:
    """And only what is in the path counts."""
    integer, text = {"type": "integer"}, {"type": "string"}
    item = {
        "parameters": [
            {"name": "a", "in": "path", "schema": integer},
            {"name": "b", "in": "path", "schema": integer},
            {"name": "c", "in": "query", "schema": integer},
            {"name": ["d"], "in": "path"},
            "nonsense",
        ]
    }

    assert path_kinds(TREE, item, {"parameters": [{"name": "b", "in": "path", "schema": text}]}) == {
        "a": "integer",
        "b": "text",
    }
