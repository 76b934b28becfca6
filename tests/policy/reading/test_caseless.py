"""Names of which some reader takes one for another, as it tells no case."""

import pytest

from gateway.policy.reading.caseless import caseless, unmarked


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ID", "id"),
        ("\u0131d", "id"),
        ("\u0130d", "id"),
        ("\u017fize", "size"),
        ("\u212aey", "key"),
        ("Stra\u00dfe", "strasse"),
        ("\u00e9", "\u00e9"),
        ("", ""),
    ],
    ids=["capitals", "dotless i", "dotted capital I", "long s", "Kelvin sign", "sharp s", "another letter", "nothing"],
)
def test_a_letter_is_what_some_reader_takes_it_for(text: str, plain: str) -> None:
    """Java's `equalsIgnoreCase` compares capitals, then small letters: what is alike in one is alike to it."""
    assert caseless(text) == plain


def test_marks_within_a_name_do_not_count() -> None:
    """Other characters do: `doc.id` is more than a name."""
    assert [unmarked(name) for name in ("docId", "DOC_ID", "doc-id", "doc id", "doc.id")] == ["docid"] * 4 + ["doc.id"]
