"""What stands in a body for those that read any body as a form."""

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET
from gateway.policy.reading.formlike import MOST_BYTES, names_within, names_within_json, said_within


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b"", set()),
        (b"id=8", {"id"}),
        (b"id", {"id"}),
        (b"a=1&doc%5Fid=2;B[c]=3", {"a", "docid", "b", "bc"}),
        (b"&&;=1", set()),
        (b"id=\xff&%ff=1", {"id", "�"}),
        (b"id=8" + b"&" * MOST_BYTES, set()),
    ],
    ids=["nothing", "one", "no value", "other spellings", "no names", "no UTF-8", "too long"],
)
def test_names_are_found_as_the_laxest_reader_finds_them(body: bytes, names: set[str]) -> None:
    """In any spelling, with semicolons too; none in a body that such a reader refuses for its length."""
    assert names_within(body) == names


def test_json_is_searched_only_if_it_has_a_separator() -> None:
    """Else all of it is one name or value, which begins as JSON does."""
    assert names_within_json(b'{"id": "="}') == frozenset()
    assert "id" in names_within_json(b'{"a": "&id=8&b="}')
    assert "id" in names_within_json(b'{"a": ";id=8"}')


def test_text_between_separators_is_no_name_by_its_first_word() -> None:
    """Such a reader takes a name as it stands, and a policy may name one with marks in it."""
    names = names_within_json(b'{"id": "R&D", "a": "x &name: y &$top=8&to, or"}')

    assert [one for one in ("id", "d", "name", "to", "$top") if said_within(one, names)] == ["$top"]


def test_a_name_that_is_looked_at_elsewhere_is_refused() -> None:
    """The refusal says how to spell what JSON may have."""
    fault = said_within("doc_id", frozenset(("docid",)))

    assert fault is not None
    assert fault.decision is AMBIGUOUS_TARGET
    assert "\\u0026" in fault.detail
    assert said_within("doc", frozenset(("docid",))) is None
