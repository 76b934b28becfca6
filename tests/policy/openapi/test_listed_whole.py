"""Members of a list with whatever is below, where the document speaks of objects."""

from typing import Any

import pytest

from gateway.policy.openapi.listed_whole import listed_whole
from gateway.policy.openapi.members import members_of, pointers
from gateway.policy.openapi.tree import Tree

TEXT = {"type": "string"}
AT = {"type": "object", "properties": {"x": TEXT, "y": TEXT}}
NULL = {"type": "null"}
TREE = Tree({"At": AT, "Node": {"properties": {"name": TEXT, "below": {"$ref": "#/Node"}}}})


def rows(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


@pytest.mark.parametrize(
    ("member", "is_whole"),
    [
        ({"anyOf": [AT, NULL]}, True),
        ({"anyOf": [{"$ref": "#/At"}, NULL]}, True),
        ({**AT, "nullable": True}, True),
        ({"oneOf": [AT, TEXT]}, True),
        (rows(rows(AT)), True),
        (rows(TEXT, prefixItems=[TEXT, AT]), True),
        ({"type": "object"}, True),
        ({"type": ["object", "null"], "additionalProperties": TEXT}, True),
        (AT, False),
        (rows(AT), False),
        (TEXT, False),
        (rows(rows(TEXT)), False),
        ({"anyOf": [TEXT, NULL]}, False),
        ({}, False),
        ({"$ref": "https://x.example"}, False),
    ],
)
def test_what_no_pointer_leads_through_is_told(member: Any, is_whole: bool) -> None:
    """A null, a list in a list, a text beside an object, a map; what is listed to its end is not told."""
    schema = {"properties": {"a": member, "b": {"properties": {"c": member}}, "d": TEXT}}
    members = members_of(TREE, schema)
    assert members is not None

    assert listed_whole(TREE, schema, pointers(members, 40)) == (("/a", "/b/c") if is_whole else ())


def test_a_schema_made_of_itself_is_told_where_its_list_ends() -> None:
    """And read in a moment."""
    assert listed_whole(TREE, {"$ref": "#/Node"}, ("/name", "/below")) == ("/below",)
