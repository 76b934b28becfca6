"""The names of a form's fields, and of an object's members in a query."""

from typing import Any

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.openapi.form_fields import bracketed, fields_of, values_of_fields
from gateway.policy.openapi.tree import Tree

TEXT = {"type": "string"}
FILE = {"type": "string", "format": "binary"}
WORDS = {"type": "string", "enum": ["a", "b"]}
AT = {"type": "object", "properties": {"x": TEXT, "y": {"type": "object", "properties": {"z": TEXT}}}}
DEEP = {"a": {"style": "deepObject", "explode": "true"}}
TREE = Tree({"At": AT})


def media(a: Any, encoding: Any = None) -> dict[str, Any]:
    return {"schema": {"type": "object", "properties": {"a": a, "b": TEXT}}, "encoding": encoding}


@pytest.mark.parametrize(
    ("described", "is_multipart", "fields"),
    [
        (media(TEXT), False, ("a", "b")),
        (media({"type": "array", "items": TEXT}), False, ("a", "b")),
        (media(AT, DEEP), False, ("a[x]", "a[y][z]", "b")),
        (media({"$ref": "#/At"}, DEEP), False, ("a[x]", "a[y][z]", "b")),
        (media(AT), False, "it has `a`, whose fields the document does not name"),
        (media({"type": "array", "items": AT}, DEEP), False, "it has `a`, whose fields the document does not name"),
        (media({"type": "object"}, DEEP), False, "it has `a`, whose fields the document does not name"),
        (media(AT), True, ("a", "b")),
        (media(FILE), True, "it has a file (`a`), and with a list bodies are read whole"),
        (media({"type": "array", "items": FILE}), True, "it has a file (`a`), and with a list bodies are read whole"),
        (
            media({"anyOf": [FILE, {"type": "null"}]}),
            True,
            "it has a file (`a`), and with a list bodies are read whole",
        ),
        (media({"contentMediaType": "a/b"}), True, "it has a file (`a`), and with a list bodies are read whole"),
        (media({"contentMediaType": "a/b", "contentEncoding": "base64"}), True, ("a", "b")),
        ({"schema": {"type": "object"}}, False, "it may have fields that the document does not name"),
        ({}, True, "it may have fields that the document does not name"),
    ],
)
def test_a_field_is_listed_where_all_clients_spell_it_alike(
    described: Any, is_multipart: bool, fields: tuple[str, ...] | str
) -> None:
    """Neither an object without a style, nor a list of them; and a file is not read whole for a list."""
    found = fields_of(TREE, described, is_multipart=is_multipart)

    assert (found.message if isinstance(found, Wrong) else found) == fields


def test_a_member_stands_in_brackets() -> None:
    """Of objects that name all of them."""
    assert bracketed(TREE, "f", AT) == {"f[x]": None, "f[y][z]": None}
    assert bracketed(TREE, "f", {"type": "object", "properties": {"x": WORDS}}) == {"f[x]": ("a", "b")}
    assert bracketed(TREE, "f", {"type": "array", "items": TEXT}) is None


def test_the_values_of_a_field_are_told_where_a_policy_can_read_it() -> None:
    """Not of a list, whose fields have one name, nor of a name with brackets."""
    members = {"a": WORDS, "b": TEXT, "c": {"type": "array", "items": WORDS}, "d[e]": WORDS, "f": {"enum": ["1", "x"]}}
    described = {"schema": {"type": "object", "properties": members}}

    assert values_of_fields(TREE, described) == {"a": ("a", "b")}
