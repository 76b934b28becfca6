"""The members that a schema names, as deep as it is certain that there are no others."""

from typing import Any

import pytest

from gateway.policy.openapi.listed import Listed
from gateway.policy.openapi.members import may_be_object, members_of, pointers, values_at
from gateway.policy.openapi.tree import Tree

TEXT = {"type": "string"}
AT = {"type": "object", "properties": {"x": TEXT, "y": TEXT}}
TREE = Tree(
    {
        "At": AT,
        "Node": {
            "type": "object",
            "properties": {"name": TEXT, "nodes": {"type": "array", "items": {"$ref": "#/Node"}}},
        },
        "Kind": {"properties": {"kind": TEXT}, "discriminator": {"propertyName": "kind"}},
        "Wide": {"properties": {f"a{at}": {"properties": {f"b{of}": TEXT for of in range(9)}} for at in range(9)}},
        "Many": {"properties": {f"m{at}": TEXT for at in range(501)}},
        "Either": {"anyOf": [{"$ref": "#/Either"}, {"type": "null"}]},
        "Fork": {"properties": {"x": TEXT}, "allOf": [{"$ref": "#/Fork"}] * 20, "anyOf": [{"$ref": "#/Fork"}] * 20},
    }
)


def holding(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


@pytest.mark.parametrize(
    ("schema", "listed"),
    [
        (holding(a=TEXT, b=AT), ["/a", "/b/x", "/b/y"]),
        (holding(a={"$ref": "#/At"}), ["/a/x", "/a/y"]),
        ({"properties": {"a": TEXT}}, ["/a"]),
        ({**holding(a=TEXT), "additionalProperties": False}, ["/a"]),
        ({"type": "object", "additionalProperties": "false"}, []),
        (holding(a={"type": "array", "items": AT}), ["/a/x", "/a/y"]),
        (holding(a={"type": "array", "items": {"type": "array", "items": AT}}), ["/a"]),
        (holding(a={"type": "array", "items": {**AT, "nullable": True}}), ["/a"]),
        (holding(a={"type": "array", "items": AT, "prefixItems": [TEXT]}), ["/a"]),
        (holding(a={"type": ["object", "null"], "properties": {"x": TEXT}}), ["/a"]),
        (holding(a={**AT, "nullable": "true"}), ["/a"]),
        (holding(a={"anyOf": [AT, {"type": "null"}]}), ["/a"]),
        (holding(a={"oneOf": [AT, holding(z=TEXT)]}), ["/a/x", "/a/y", "/a/z"]),
        (holding(a={"oneOf": [AT, TEXT]}), ["/a"]),
        (holding(a={"allOf": [AT], "description": "It"}), ["/a/x", "/a/y"]),
        (holding(a={"allOf": [AT, {"required": ["x"]}]}), ["/a/x", "/a/y"]),
        (holding(a={"allOf": [TEXT]}), ["/a"]),
        (holding(a={**AT, "additionalProperties": "true"}), ["/a"]),
        (holding(a={**AT, "patternProperties": {"^z": TEXT}}), ["/a"]),
        (holding(a={**AT, "if": {}, "then": {}}), ["/a"]),
        (holding(a={"type": "object"}), ["/a"]),
        (holding(a=holding()), ["/a"]),
        (holding(a={"type": "object", "additionalProperties": "false"}), ["/a"]),
        (holding(a={"$ref": "#/At", "properties": {"z": TEXT}}), ["/a"]),
        (holding(a={"$ref": "#/nowhere"}, b=True), ["/a", "/b"]),
        (holding(a={"$ref": "#/Kind"}), ["/a"]),
        (holding(a={"oneOf": [{"allOf": [{"$ref": "#/Kind"}, AT]}]}), ["/a/kind", "/a/x", "/a/y"]),
        ({"$ref": "#/Node"}, ["/name", "/nodes"]),
        (holding(a={**TEXT, "readOnly": "true"}, b=TEXT), ["/b"]),
        ({**holding(a=AT), "required": ["a", "b"]}, ["/a/x", "/a/y", "/b"]),
        ({**holding(a=TEXT), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, ["/a", "/b"]),
        ({"anyOf": [AT, {"type": "null"}]}, ["/x", "/y"]),
        ({"oneOf": [AT, holding(z=TEXT)]}, ["/x", "/y", "/z"]),
        (holding(**{"a/b": TEXT, "~c": TEXT, "é": TEXT}), ["/a~1b", "/~0c", "/é"]),
        ({"$ref": "#/Wide"}, [f"/a{at}" for at in range(9)]),
    ],
)
def test_names_end_where_others_may_be(schema: Any, listed: list[str]) -> None:
    """At a null, a text or a list beside an object, a map, a schema that is made of itself, and where it gets long."""
    members = members_of(TREE, schema)

    assert members is not None
    assert list(pointers(members, 40)) == listed


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        TEXT,
        {"type": "array", "items": AT},
        {"type": "object"},
        holding(),
        {**AT, "additionalProperties": "true"},
        {**AT, "additionalProperties": TEXT},
        {**AT, "nullable": "true"},
        {"oneOf": [AT, TEXT]},
        {"allOf": [AT, {"additionalProperties": {}}]},
        {"$ref": "#/Kind"},
        {"$ref": "https://x.example"},
        {"$ref": "#/Many"},
        holding(__proto__=TEXT),
        holding(**{"a\nb": TEXT}),
    ],
)
def test_what_may_have_other_members_names_none(schema: Any) -> None:
    """Also one that no policy could name."""
    assert members_of(TREE, schema) is None


@pytest.mark.parametrize("name", ["Fork", "Either"])
def test_a_schema_that_is_made_of_itself_is_read_in_a_moment(name: str) -> None:
    """Many times over, on each level, or of itself alone."""
    assert members_of(TREE, {"$ref": f"#/{name}"}) is None


@pytest.mark.parametrize(
    ("schema", "may"),
    [
        (AT, True),
        ({"type": ["object", "null"]}, True),
        ({"properties": {}}, True),
        ({"anyOf": [TEXT, {"$ref": "#/At"}]}, True),
        ({"$ref": "#/Fork"}, True),
        (TEXT, False),
        ({"type": "array", "items": AT}, False),
        ({}, False),
        ("nonsense", False),
    ],
)
def test_what_speaks_of_an_object_may_be_one(schema: Any, may: bool) -> None:
    """Be it among others."""
    assert may_be_object(TREE, schema) is may


WORDS = {"type": "string", "enum": ["a", "b"]}
AB = Listed(("a", "b"))


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (holding(a=WORDS, b=TEXT), {"/a": AB}),
        (holding(a=holding(b=WORDS)), {"/a/b": AB}),
        (holding(a={"type": "array", "items": holding(b=WORDS)}), {"/a/b": AB}),
        (holding(a={"type": "array", "items": WORDS}), {"/a": Listed((), ("a", "b"))}),
        ({"oneOf": [holding(k={"const": "a"}), holding(k={"const": "b"})]}, {"/k": AB}),
        ({"oneOf": [holding(k={"const": "a"}), holding(k=TEXT)]}, {}),
        ({"oneOf": [holding(k=WORDS), holding(k=holding(x=TEXT))]}, {}),
        ({"allOf": [{"required": ["k"]}, holding(k=WORDS)]}, {"/k": AB}),
        ({"allOf": [holding(k=WORDS), {"required": ["k"]}]}, {"/k": AB}),
        ({"allOf": [holding(k=TEXT), {"required": ["k"]}, holding(k=WORDS)]}, {}),
        ({"properties": {"k": WORDS | {"readOnly": True}, "l": TEXT}}, {}),
    ],
)
def test_a_members_values_are_those_of_all_that_describe_it(schema: Any, values: dict[str, Listed]) -> None:
    """What only wants it to be there says nothing of them; where one lets any text, so do all."""
    members = members_of(TREE, schema)

    assert members is not None
    assert values_at(members, pointers(members, 40)) == values
