"""The members of an operation's body."""

from typing import Any

import pytest

from gateway.policy.openapi.body import BodyMembers, body_members
from gateway.policy.openapi.parameter import Kind
from gateway.policy.openapi.tree import Tree

PET = {"properties": {"id": {"type": "integer"}, "made": {"type": "string", "readOnly": True}, "name": {}}}
TREE = Tree({"components": {"schemas": {"Pet": PET}, "requestBodies": {"B": {"content": {"application/json": {}}}}}})
KINDS: dict[str, Kind] = {"id": "integer", "name": "text"}


def sent(*types: str, schema: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {name: {"schema": schema} for name in types}}}


@pytest.mark.parametrize(
    ("operation", "kinds", "exact"),
    [
        (sent("application/json", schema={"$ref": "#/components/schemas/Pet"}), KINDS, True),
        (sent("application/json", "application/xml", schema=PET), KINDS, False),
        (sent("application/json", schema={"allOf": [{"$ref": "#/components/schemas/Pet"}, "nonsense"]}), KINDS, False),
        (sent("application/json", schema={"oneOf": [{"allOf": [PET]}, {}]}), KINDS, False),
        (sent("application/json", schema={**PET, "anyOf": []}), KINDS, False),
        (sent("application/json", schema={"type": "array", "items": {"type": "boolean"}}), {}, True),
        (sent("application/json", schema={"$ref": "https://x.example"}), {}, False),
        ({"requestBody": {"$ref": "#/components/requestBodies/B"}}, {}, False),
        ({"requestBody": {"content": ["application/json"]}}, {}, False),
        ({}, {}, False),
    ],
    ids=[
        "JSON",
        "XML too",
        "merged",
        "one of some",
        "alternatives",
        "a list",
        "unread",
        "no schema",
        "nonsense",
        "none",
    ],
)
def test_the_members_that_a_caller_sends(operation: dict[str, Any], kinds: dict[str, Kind], exact: bool) -> None:
    """Those of any type of media; exact where the body can be nothing else."""
    assert body_members(TREE, operation) == BodyMembers(kinds, exact)


DATA = {"properties": {"data": {"$ref": "#/components/schemas/Pet"}}}
TYPED = {"properties": {"type": {}, "attributes": PET}}


@pytest.mark.parametrize(
    ("schema", "within", "names"),
    [
        (DATA, "data", {"id", "name"}),
        ({"allOf": [DATA]}, "data", {"id", "name"}),
        ({"properties": {"pet": PET}}, "pet", {"id", "name"}),
        ({"properties": {"owner": PET}}, "", {"owner"}),
        ({"properties": {"data": TYPED}}, "data", {"type", "attributes", "id", "name"}),
        ({"type": "array", "items": PET}, "[]", {"id", "name"}),
        ({"properties": {**DATA["properties"], "note": {}}}, "", {"data", "note"}),
        ({"properties": {"data": {"type": "string"}}}, "", {"data"}),
    ],
    ids=[
        *("one object", "merged", "as Rails has it", "a reference", "JSON:API's", "a list of them", "two members"),
        "no object",
    ],
)
def test_what_the_whole_body_consists_of_is_looked_through(schema: Any, within: str, names: set[str]) -> None:
    """The members are those of the one object, or of the objects of a list; no pointer of a rule is made of them."""
    found = body_members(TREE, sent("application/json", schema=schema), "/pets/{pet_id}")

    assert (found.within, set(found.kinds)) == (within, names)
    assert not (within and found.exact)


def test_what_no_body_is_without() -> None:
    """But for what only answers have."""
    assert body_members(TREE, sent("application/json", schema={**PET, "required": ["id", "made"]})).required == {"id"}


@pytest.mark.parametrize(
    ("schema", "listed"),
    [
        ({"properties": {"pets": {"type": "array", "items": PET}}}, {"pets": {"id", "name"}}),
        ({"properties": {"pets": {"items": {"$ref": "#/components/schemas/Pet"}}}}, {"pets": {"id", "name"}}),
        ({"properties": {"pets": {"anyOf": [{"items": PET}, {"type": "null"}]}}}, {"pets": {"id", "name"}}),
        (
            {"properties": {"pets": {"items": {"allOf": [PET, {"properties": {"x": {}}}]}}}},
            {"pets": {"id", "name", "x"}},
        ),
        ({"allOf": [{"properties": {"a": {"items": PET}}}, {"properties": {"a": {"items": TYPED}}}]}, None),
        ({"properties": {"pets": {"items": PET, "readOnly": True}, "x": {}}}, {}),
        ({"properties": {"pets": PET, "ids": {"items": {"type": "integer"}}}}, {}),
    ],
    ids=["objects", "referred to", "or null", "merged", "in two places", "only answered", "no list of objects"],
)
def test_lists_of_objects_are_known_by_what_these_have(schema: Any, listed: dict[str, set[str]] | None) -> None:
    """Without what only answers have."""
    found = body_members(TREE, sent("application/json", schema=schema)).listed

    assert found == (listed if listed is not None else {"a": {"id", "name", "type", "attributes"}})


@pytest.mark.parametrize(
    ("items", "are_ids"),
    [
        ({"type": "integer"}, True),
        ({"type": "string", "format": "uuid"}, True),
        ({"type": "string"}, True),
        ({"type": "string", "format": "email"}, False),
        ({"type": "string", "enum": ["a", "b"]}, False),
        ({"type": "number"}, False),
        (PET, False),
        ({"type": "array", "items": {"type": "integer"}}, False),
    ],
)
def test_a_list_of_numbers_or_of_text_may_be_ids(items: Any, are_ids: bool) -> None:
    """What more is said of, is no id."""
    assert body_members(TREE, sent("application/json", schema={"type": "array", "items": items})).is_ids is are_ids


@pytest.mark.parametrize(
    ("types", "is_file"),
    [
        (["application/octet-stream"], True),
        (["multipart/form-data", "text/plain"], True),
        (["application/xml", "application/json; charset=utf-8"], False),
        (["application/vnd.api+json"], False),
        (["application/x-www-form-urlencoded"], False),
        ([], False),
    ],
)
def test_a_body_whose_names_nobody_reads_is_a_file(types: list[str], is_file: bool) -> None:
    """Where one of its types is JSON or a form, callers have a way."""
    assert body_members(TREE, sent(*types, schema=PET)).is_file is is_file


def test_a_schema_that_is_made_of_itself_is_read_in_a_moment() -> None:
    """Many times over, on each level."""
    many = [{"$ref": "#/a"}] * 20
    tree = Tree({"a": {"properties": {"x": {}}, "allOf": many, "oneOf": many}})

    assert body_members(tree, sent("application/json", schema={"$ref": "#/a"})).kinds == {"x": "text"}
