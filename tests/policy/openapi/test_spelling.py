"""How the values that name things are spelled, the same for all rules."""

from typing import Any

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.openapi.operation import Operation, read_operations
from gateway.policy.openapi.segment import Partial, parse_segment
from gateway.policy.openapi.spelling import Spellings
from gateway.policy.openapi.translation import Translation, translate
from gateway.policy.openapi.tree import Tree


def ruled(*typed: tuple[str, Any]) -> list[tuple[Operation, Translation]]:
    """Operations of paths, whose parameter `id` has a schema."""
    paths = {path: {"put": {"parameters": [{"name": "id", "in": "path", "schema": schema}]}} for path, schema in typed}
    read = read_operations(Tree({"paths": paths}))
    assert not isinstance(read, Wrong)
    return [(each, translate(each.path)) for each in read.operations]


ENUM = {"type": "string", "enum": ["b", "a", None]}
INTEGER, UUID, TEXT = {"type": "integer"}, {"type": "string", "format": "uuid"}, {"type": "string"}


@pytest.mark.parametrize(
    ("typed", "forms"),
    [
        ([("/a/{id}", INTEGER)], [{"id": "integer"}]),
        ([("/a/{id}", INTEGER), ("/a/{id}/b", TEXT)], [{"id": "integer"}, {"id": "integer"}]),
        ([("/a/{id}", INTEGER), ("/a/{id}/b", UUID)], [{}, {}]),
        ([("/a/{id}", INTEGER), ("/b/{id}", TEXT)], [{"id": "integer"}, {}]),
        ([("/a/{id}", {"type": "string", "pattern": "^[0-9a-fA-F]{24}$"})], [{"id": "lowercase"}]),
        ([("/a/{id}", {"type": "boolean"}), ("/b/{id}", {"type": "number"})], [{"id": "word"}, {}]),
        ([("/a/{id}", ENUM), ("/a/{id}/b", ENUM | {"enum": ["c", "a"]})], [{"id": frozenset("abc")}] * 2),
        ([("/a/{id}", ENUM), ("/a/{id}/b", TEXT)], [{"id": "word"}] * 2),
        ([("/a/{id}", ENUM), ("/a/{id}/b", INTEGER)], [{}] * 2),
        ([("/a/{id}", INTEGER | {"enum": [1, 2]})], [{"id": "integer"}]),
        ([("/a/{id}", TEXT | {"enum": ["a.b", "c:d"]})], [{"id": frozenset(("a.b", "c:d"))}]),
        ([("/a/{id}", {"const": "a"})], [{"id": frozenset("a")}]),
    ],
    ids=[
        *("one", "said once", "said otherwise", "another thing", "hexadecimal", "of many spellings"),
        *("some words", "words and text", "words and a number", "some numbers", "other texts", "one"),
    ],
)
def test_what_is_said_once_counts_for_all(typed: list[tuple[str, Any]], forms: list[dict[str, str]]) -> None:
    """Or one thing would have a name by one rule that the other refuses."""
    every = ruled(*typed)

    spellings = Spellings(every)

    assert [dict(spellings.forms(path)) for _, path in every] == forms


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "number"}, "a number"),
        ({"type": ["integer", "string"]}, "a number or a text (`7` and `07` may be one; where"),
        ({"type": "string", "pattern": "^[a-fA-F0-9]+$"}, "hexadecimal (`AB` and `ab`"),
    ],
)
def test_a_value_of_many_spellings_is_asked_about(schema: Any, told: str) -> None:
    """By the name that it has in the rule."""
    [(_, path)] = every = ruled(("/a/{id}", schema))

    [question] = Spellings(every).asks(path)

    assert question.startswith(f"how is `{{id}}` spelled? It is {told}")


@pytest.mark.parametrize(
    ("listed", "asked"),
    [
        (["red", "green"], []),
        (["a.b", "2026-01-05"], []),
        (["softDelete", "other", "soft_delete"], ["is `softDelete` and `soft_delete` of `{id}` one thing?"]),
    ],
)
def test_of_listed_words_it_is_asked_whether_two_are_one(listed: list[str], asked: list[str]) -> None:
    """And of nothing else, whatever their format says."""
    every = ruled(("/a/{id}", {"type": "string", "enum": listed, "format": "date"}))
    spellings = Spellings(every)

    found = [one for _, path in every for one in spellings.asks(path)]

    assert [one.partition(" Each")[0] for one in found] == asked
    assert spellings.unsaid(every[0][1]) == ()


def test_words_that_are_not_listed_everywhere_are_asked_about() -> None:
    """Once, at the first rule."""
    every = ruled(("/a/{id}", ENUM), ("/a/{id}/b", TEXT))
    spellings = Spellings(every)

    asked = [list(spellings.asks(path)) for _, path in every]

    assert [len(some) for some in asked] == [1, 0]
    assert asked[0][0].startswith("is `{id}` one of some words?")


@pytest.mark.parametrize(("named", "is_told"), [("email", True), ("date-time", True), ("hostname", False)])
def test_a_value_that_a_rule_takes_only_where_it_says_so_is_told(named: str, is_told: bool) -> None:
    """An `@` and a colon: left out, `values` of the path are `unreserved`."""
    [(_, path)] = every = ruled(("/a/{id}", {**TEXT, "format": named}))

    [question] = Spellings(every).asks(path)

    assert question.endswith("wants `values: any`") is is_told


@pytest.mark.parametrize(
    ("path", "schema", "piece", "kept_out", "form"),
    [
        ("/a/{id}", TEXT, "{id}~erase", True, "word"),
        ("/a/{id}", TEXT, "{id}:erase", True, None),
        ("/a/{id}", INTEGER, "{id}:erase", True, "integer"),
        ("/a/{id}", TEXT, "{id}-{n}", False, None),
        ("/a/{id}", {"type": "number"}, "{id}~erase", False, None),
        ("/a/{id}", {"type": "number"}, "{id}:erase", True, None),
        ("/a/{id+}", TEXT, "{id}~erase", False, None),
        ("/a/{id+}", TEXT, "{id}:erase", True, None),
    ],
    ids=[
        "text becomes words",
        "text has no colon",
        "is a form already",
        "could be a word",
        "has no form",
        "has no form, and no colon",
        "all that follows",
        "all that follows, without a colon",
    ],
)
def test_text_becomes_words_to_keep_another_operation_out(
    path: str, schema: Any, piece: str, kept_out: bool, form: str | None
) -> None:
    """It is told at the rule; where no form helps, the rule cannot stand."""
    [(operation, read)] = every = ruled((path, schema))
    spellings, part = Spellings(every), parse_segment(piece)
    assert isinstance(part, Partial)

    found = spellings.keeps_out(read, [(1, part)], operation)

    assert (found, spellings.forms(read).get("id")) == (kept_out, form)
    assert len(spellings.notes(read)) == (form == "word")


@pytest.mark.parametrize(("path", "kept_out"), [("/a/{id}", True), ("/a/{id+}", False)])
def test_text_may_be_anything_where_the_mount_says_so(path: str, kept_out: bool) -> None:
    """A colon, too: then it becomes words for that."""
    [(operation, read)] = every = ruled((path, TEXT))
    spellings, part = Spellings(every, takes_any=True), parse_segment("{id}:erase")
    assert isinstance(part, Partial)

    assert spellings.keeps_out(read, [(1, part)], operation) is kept_out
    assert spellings.forms(read) == ({"id": "word"} if kept_out else {})
