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


INTEGER, UUID, TEXT = {"type": "integer"}, {"type": "string", "format": "uuid"}, {"type": "string"}


@pytest.mark.parametrize(
    ("typed", "forms"),
    [
        ([("/a/{id}", INTEGER)], [{"id": "integer"}]),
        ([("/a/{id}", INTEGER), ("/a/{id}/b", TEXT)], [{"id": "integer"}, {"id": "integer"}]),
        ([("/a/{id}", INTEGER), ("/a/{id}/b", UUID)], [{}, {}]),
        ([("/a/{id}", INTEGER), ("/b/{id}", TEXT)], [{"id": "integer"}, {}]),
        ([("/a/{id}", {"type": "boolean"}), ("/b/{id}", {"type": "number"})], [{"id": "word"}, {}]),
    ],
    ids=["one", "said once", "said otherwise", "another thing", "of many spellings"],
)
def test_what_is_said_once_counts_for_all(typed: list[tuple[str, Any]], forms: list[dict[str, str]]) -> None:
    """Or one thing would have a name by one rule that the other refuses."""
    every = ruled(*typed)

    spellings = Spellings(every)

    assert [dict(spellings.forms(path)) for _, path in every] == forms


def test_a_value_of_many_spellings_is_asked_about() -> None:
    """By the name that it has in the rule."""
    [(_, path)] = every = ruled(("/a/{id}", {"type": "number"}))

    [question] = Spellings(every).asks(path)

    assert question.startswith("how is `{id}` spelled? It is a number")


@pytest.mark.parametrize(("named", "is_told"), [("email", True), ("date-time", True), ("hostname", False)])
def test_a_value_that_a_rule_takes_only_where_it_says_so_is_told(named: str, is_told: bool) -> None:
    """An `@` and a colon: left out, `values` of the path are `unreserved`."""
    [(_, path)] = every = ruled(("/a/{id}", {**TEXT, "format": named}))

    [question] = Spellings(every).asks(path)

    assert question.endswith("wants `values: any`") is is_told


@pytest.mark.parametrize(
    ("path", "schema", "piece", "kept_out", "form"),
    [
        ("/a/{id}", TEXT, "{id}:erase", True, "word"),
        ("/a/{id}", INTEGER, "{id}:erase", True, "integer"),
        ("/a/{id}", TEXT, "{id}-{n}", False, None),
        ("/a/{id}", {"type": "number"}, "{id}:erase", False, None),
        ("/a/{id+}", TEXT, "{id}:erase", False, None),
    ],
    ids=["text becomes words", "is a form already", "could be a word", "has no form", "all that follows"],
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
