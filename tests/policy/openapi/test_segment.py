"""One piece of a document's path."""

import pytest

from gateway.policy.openapi.segment import Partial, Segment, Slot, parse_segment
from gateway.policy.value_form import ValueForm


@pytest.mark.parametrize(
    ("piece", "segment"),
    [
        ("pets", "pets"),
        ("%61", "a"),
        ("{petId}", Slot("petId")),
        ("{path+}", Slot("path", rest=True)),
        ("{id}:erase", Partial(":erase", ":erase")),
        ("v{id}.json", Partial("v.json", ".json")),
        ("{a", Partial("{a", "{a")),
    ],
)
def test_a_piece_is_text_a_placeholder_or_both(piece: str, segment: Segment) -> None:
    """Text is decoded, as rules see it."""
    assert parse_segment(piece) == segment


@pytest.mark.parametrize(
    ("piece", "form", "fits"),
    [
        ("{id}:erase", "any", True),
        ("{id}:erase", "word", False),
        ("{id}:erase", "unreserved", False),
        ("{id}~erase", "unreserved", True),
        ("{a}-{b}", "word", True),
        ("{a}-{b}", "integer", False),
        ("{a}-{b}", "uuid", True),
        ("{a}.json", "uuid", False),
        ("{a}{b}", "integer", True),
        ("v{a}", "lowercase", True),
        ("V{a}", "lowercase", False),
        ("{id}:erase", "unpadded", True),
        ("V{a}", "uppercase", True),
        ("v{a}", "uppercase", False),
        ("{a}=", "base64", True),
        ("{id}:erase", "base64", False),
        ("{a}-b", frozenset(("a-b", "c")), True),
        ("{a}:b", frozenset(("a-b", "c")), False),
    ],
)
def test_a_form_keeps_out_what_has_other_characters(piece: str, form: ValueForm, fits: bool) -> None:
    """In doubt a segment may be of the form."""
    segment = parse_segment(piece)

    assert isinstance(segment, Partial)
    assert segment.fits(form) is fits


@pytest.mark.parametrize(
    ("piece", "is_format", "is_refused"),
    [
        ("{id}.json", True, False),
        ("{id}.tar.gz", False, False),
        ("v{id}.json", False, False),
        ("{id}:erase", False, False),
        ("{id};v={v}", False, True),
        ("{id}#erase", False, True),
    ],
)
def test_what_servers_and_the_gateway_make_of_it(piece: str, is_format: bool, is_refused: bool) -> None:
    """An ending may be the format of an answer; some text passes under no rule."""
    segment = parse_segment(piece)

    assert isinstance(segment, Partial)
    assert (segment.is_format, segment.is_refused) == (is_format, is_refused)
