"""Which values a schema lists, as documents write them: all of YAML's scalars are text here."""

from typing import Any

import pytest

from gateway.policy.openapi.listed import NULL, Listed, Plain, either, listed_by
from gateway.policy.openapi.tree import Tree

WORDS = {"type": "string", "enum": ["b", "a"]}
NUMBERS = {"type": "integer", "enum": ["1", "2"]}
TREE = Tree({"components": {"schemas": {"Words": WORDS, "Loop": {"allOf": [{"$ref": "#/components/schemas/Loop"}]}}}})
REFERRED = {"$ref": "#/components/schemas/Words"}
TRUE, ONE, TWO = Plain("true"), Plain("1"), Plain("2")
LISTED = Listed(("b", "a"))


@pytest.mark.parametrize(
    ("schema", "listed"),
    [
        (WORDS, LISTED),
        (REFERRED, LISTED),
        ({"type": "string", "const": "a"}, Listed(("a",))),
        ({"const": "a"}, Listed(("a",))),
        ({"enum": ["a", "b c", "a"]}, Listed(("a", "b c"))),
        ({"type": "string", "enum": ["1", "true", ""]}, Listed(("1", "true", ""))),
        (NUMBERS, Listed((ONE, TWO))),
        ({"type": "number", "enum": ["1.5", "-2"]}, Listed((Plain("1.5"), Plain("-2")))),
        ({"type": "boolean", "enum": ["true"]}, Listed((TRUE,))),
        ({"type": "boolean", "const": True}, Listed((TRUE,))),
        ({"const": True}, Listed((TRUE,))),
        ({"type": "array", "items": REFERRED}, Listed((), ("b", "a"))),
        ({"type": "array", "items": {"type": "string", "enum": ["a"], "nullable": "true"}}, Listed((), ("a", NULL))),
        ({"type": ["array", "null"], "items": WORDS}, Listed((NULL,), ("b", "a"))),
    ],
)
def test_an_enum_lists_all_values(schema: Any, listed: Listed) -> None:
    """Of the type that the schema has; without one, of text that is nothing else."""
    assert listed_by(TREE, schema) == listed


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["a"], "nullable": "true"},
        {"type": "string", "enum": ["a", "null"], "nullable": "true"},
        {"type": "string", "enum": ["a", None]},
        {"type": ["string", "null"], "enum": ["a"]},
        {"type": ["string", "null"], "enum": ["a", "null"]},
        {"anyOf": [{"type": "string", "const": "a"}, {"type": "null"}]},
        {"oneOf": [{"type": "string", "enum": ["a"]}], "nullable": "true"},
    ],
)
def test_a_null_is_a_value_where_the_document_lets_it(schema: Any) -> None:
    """Whether its list has it or not: clients send it."""
    assert listed_by(TREE, schema) == Listed(("a", NULL))


@pytest.mark.parametrize(
    ("schema", "listed"),
    [
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, Listed(("a", "b"))),
        ({"anyOf": [WORDS, NUMBERS]}, Listed(("b", "a", ONE, TWO))),
        ({"anyOf": [WORDS, {"type": "array", "items": WORDS}]}, Listed(("b", "a"), ("b", "a"))),
        ({"allOf": [REFERRED]}, LISTED),
        ({"allOf": [{"description": "x"}, REFERRED], "default": "a"}, LISTED),
        ({"anyOf": [WORDS, {"type": "string"}]}, None),
        ({"anyOf": [WORDS, {"type": "string"}], "enum": ["a"]}, Listed(("a",))),
    ],
)
def test_of_alternatives_each_has_to_list_them(schema: Any, listed: Listed | None) -> None:
    """Of what is merged one."""
    assert listed_by(TREE, schema) == listed


@pytest.mark.parametrize(
    "schema",
    [
        *(
            {},
            {"nullable": "true"},
            {"type": "string"},
            {"type": "boolean"},
            {"enum": []},
            {"enum": "a"},
            None,
            {"enum": {"a": "b"}},
        ),
        *({"enum": ["a", {}]}, {"enum": [["a"]]}, {"type": "object", "enum": [{"a": "b"}]}),
        *({"enum": ["1"]}, {"enum": ["a", "true"]}, {"type": ["string", "integer"], "enum": ["1"]}),
        *({"type": "integer", "enum": ["one"]}, {"type": "number", "enum": ["1e999", "9007199254740993"]}),
        *(
            {"type": "boolean", "enum": ["yes"]},
            {"type": "string", "enum": ["a\u200b"]},
            {"type": "string", "enum": [" a"]},
        ),
        {"type": "string", "enum": ["x" * 201]},
        {"type": "string", "enum": [str(at) for at in range(201)]},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"type": "array", "items": WORDS}},
        {"type": "array", "prefixItems": [WORDS], "items": WORDS},
        WORDS | {"x-ms-enum": {"name": "words", "modelAsString": True}},
        {"$ref": "#/nowhere"},
        {"$ref": "#/components/schemas/Loop"},
        REFERRED | {"nullable": "true"},
    ],
)
def test_what_is_not_sure_is_not_listed(schema: Any) -> None:
    """YAML is read without types: an untyped 1 may be text. Nor is what no policy could write, or nobody would read."""
    assert listed_by(TREE, schema) is None


@pytest.mark.parametrize(
    ("listed", "texts"),
    [
        (LISTED, ("b", "a")),
        (Listed(("a", NULL)), ("a",)),
        (Listed((ONE, "a")), ("1", "a")),
        (Listed((NULL,)), None),
        (Listed((TRUE,)), None),
        (Listed((Plain("1.5"),)), None),
        (Listed((), ("a",)), None),
    ],
)
def test_in_a_parameter_text_and_integers_have_one_spelling(listed: Listed, texts: tuple[str, ...] | None) -> None:
    """Clients spell a boolean as `True`, and 0.5 as `.5`."""
    assert listed.texts == texts
    assert Listed((), listed.plain).texts_of_items == texts


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        (Listed(("a", "1", "on", "b c", ONE, NULL)), ["a", '"1"', '"on"', '"b c"', "1", "null"]),
        (Listed((NULL,), ("a", "b")), ["null", "[a", "b]"]),
        (Listed((), ("a",)), ["[a]"]),
        (Listed((), ()), ["[]"]),
    ],
)
def test_values_are_written_as_a_policy_has_them(listed: Listed, words: list[str]) -> None:
    """Text with quotes where it would be something else."""
    assert list(listed.words) == words


def test_either_has_the_values_of_both() -> None:
    """Each once."""
    assert either(Listed(("a",)), Listed(("b", "a"), (ONE,))) == Listed(("a", "b"), (ONE,))
