"""What a resource's record still says of writes without a key that have ended."""

from dataclasses import replace

import pytest

from gateway.core.rule import Fence
from gateway.store.links.link import Reply
from gateway.store.loss.places import Place, place_of
from tests.store.fences import RESOURCE, bare, rule

USED = Place(RESOURCE, 42, is_used=True, sequence=0, revision=0)
NUMBERED = Place(RESOURCE, 42, is_used=False, sequence=3, revision=0)
COUNTED = Place(RESOURCE, 42, is_used=False, sequence=0, revision=7)

# The highest epoch, what an operator has forgotten, whether the epoch's write is made, sequence and revision.
ANSWERS: dict[str, tuple[Place, list[Reply], bool]] = {
    "its epoch is used": (USED, [b"42", None, b"1", None, None], True),
    "it is not": (USED, [b"42", None, None, None, None], False),
    "a newer epoch": (USED, [b"43", None, None, None, None], True),
    "an older epoch": (USED, [b"41", None, b"1", None, None], False),
    "no record": (USED, [None, None, None, None, None], False),
    "an operator has forgotten it": (USED, [b"3", b"42", None, None, None], True),
    "an operator has forgotten one before it": (USED, [None, b"41", None, None, None], False),
    "its number": (NUMBERED, [b"42", None, b"2", b"3", None], True),
    "a later number": (NUMBERED, [b"42", None, b"2", b"9", None], True),
    "an earlier number": (NUMBERED, [b"42", None, b"2", b"2", None], False),
    "no number": (NUMBERED, [b"42", None, b"2", None, None], False),
    "no number of a newer epoch": (NUMBERED, [b"43", None, None, None, None], True),
    "its count": (COUNTED, [b"42", None, None, None, b"7"], True),
    "a smaller count": (COUNTED, [b"42", None, None, None, b"6"], False),
    "a smaller count under a newer epoch": (COUNTED, [b"43", None, None, None, b"6"], False),
    "a smaller count after a reset": (COUNTED, [b"3", b"42", None, None, b"6"], False),
    "no count": (COUNTED, [b"42", None, None, None, None], False),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_what_an_answer_proves(case: str) -> None:
    """Its epoch's place is there, or a newer epoch; and the count, under whichever epoch."""
    place, answer, holds = ANSWERS[case]

    assert place.holds(answer) is holds


@pytest.mark.parametrize(
    ("former", "newer", "both"),
    [
        (None, USED, USED),
        (USED, NUMBERED, replace(NUMBERED, is_used=True)),
        (replace(NUMBERED, sequence=9), NUMBERED, replace(NUMBERED, sequence=9)),
        (USED, replace(NUMBERED, epoch=43), replace(NUMBERED, epoch=43)),
        (replace(NUMBERED, epoch=43), USED, replace(NUMBERED, epoch=43)),
        (COUNTED, replace(USED, epoch=43), replace(USED, epoch=43, revision=7)),
    ],
    ids=["the first", "of one epoch", "settled later", "of a newer epoch", "of an older epoch", "counts go on"],
)
def test_what_is_to_be_there_after_two(former: Place | None, newer: Place, both: Place) -> None:
    """All that is known of the newest epoch, and the largest count."""
    assert newer.after(former) == both


def test_most_writes_have_no_place() -> None:
    """Only what keeps another one like it from being admitted."""
    assert place_of(bare(42), 7) is None
    assert place_of(bare(42, of=rule(Fence(order="strict"))), 0) == USED
    assert place_of(bare(42, of=rule(Fence(sequence="contiguous")), sequence=3), 0) == NUMBERED
    assert place_of(bare(42, of=rule(counts=True)), 7) == COUNTED
