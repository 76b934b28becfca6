"""Members that a document calls read-only, as pointers."""

from typing import Any

import pytest

from gateway.policy.openapi.left_out import left_out
from gateway.policy.openapi.tree import Tree

TEXT = {"type": "string"}
READ = TEXT | {"readOnly": True}
NOTE = {"properties": {"id": READ, "text": TEXT}}
ROOT = {"schemas": {"note": NOTE, "tree": {"properties": {"id": READ, "below": {"$ref": "#/schemas/tree"}}}}}


@pytest.mark.parametrize(
    ("schema", "listed", "found"),
    [
        (NOTE, ("/text",), ("/id",)),
        ({"properties": {"id": TEXT | {"readOnly": "true"}}}, (), ("/id",)),
        ({"$ref": "#/schemas/note"}, ("/text",), ("/id",)),
        ({"allOf": [NOTE, {"properties": {"made/at": READ}}]}, ("/text",), ("/id", "/made~1at")),
        ({"properties": {"by": NOTE}}, ("/by/text",), ("/by/id",)),
        ({"properties": {"by": NOTE}}, ("/by",), ()),
        ({"properties": {"all": {"type": "array", "items": NOTE}}}, ("/all/text",), ("/all/id",)),
        ({"anyOf": [NOTE, {"properties": {"id": TEXT}}]}, ("/id", "/text"), ()),
        (TEXT, (), ()),
        ({"$ref": "https://x.example"}, (), ()),
        (None, (), ()),
    ],
    ids=[
        *("a member", "as YAML has it", "referred to", "merged", "within an object", "where anything passes"),
        *("within a list", "elsewhere it is none", "no object", "outside of the document", "nothing"),
    ],
)
def test_what_only_answers_have_is_found_where_no_list_has_it(
    schema: Any, listed: tuple[str, ...], found: tuple[str, ...]
) -> None:
    """At any depth, in all that a schema is made of."""
    assert left_out(Tree(ROOT), schema, listed) == found


def test_a_schema_made_of_itself_has_an_end() -> None:
    """A few levels are told."""
    found = left_out(Tree(ROOT), {"$ref": "#/schemas/tree"}, ())

    assert found[:2] == ("/id", "/below/id")
    assert len(found) < 10
