"""What a resource's record still says of writes without a key that have ended."""

from dataclasses import replace

import pytest

from gateway.core.intent import IntentId
from gateway.core.rule import Fence
from gateway.core.write import Admitted, TicketId, Write
from gateway.store.links.link import Reply
from gateway.store.loss.places import NO_EPOCH, Place, place_of
from tests.store.fences import RESOURCE, bare, rule

USED = Place(RESOURCE, 42, is_used=True, sequence=0, revision=0)
NUMBERED = Place(RESOURCE, 42, is_used=False, sequence=3, revision=0)
COUNTED = Place(RESOURCE, 42, is_used=False, sequence=0, revision=7)

# As scripts have them: the microsecond of a reset.
ERA, LATER = b"1796007602338000", b"1796007602339000"
SINCE = replace(USED, era=int(ERA))
# An operator has forgotten what was before, and nothing is known since.
BEGUN = Place(RESOURCE, NO_EPOCH, is_used=False, sequence=0, revision=0, era=int(ERA))

# The highest epoch, its era, the largest that an operator has forgotten, the largest of that era, whether the epoch's
# write is made, sequence, revision.
ANSWERS: dict[str, tuple[Place, list[Reply], bool]] = {
    "its epoch is used": (USED, [b"42", None, None, None, b"1", None, None], True),
    "it is not": (USED, [b"42", None, None, None, None, None, None], False),
    "a newer epoch": (USED, [b"43", None, None, None, None, None, None], True),
    "an older epoch": (USED, [b"41", None, None, None, b"1", None, None], False),
    "no record": (USED, [None, None, None, None, None, None, None], False),
    "an operator has forgotten it": (USED, [b"3", ERA, b"42", None, None, None, None], True),
    "a former version has forgotten it": (USED, [b"3", None, b"42", None, None, None, None], True),
    "its epoch is used since a reset": (SINCE, [b"42", ERA, b"99", None, b"1", None, None], True),
    "it is not since a reset": (SINCE, [b"42", ERA, b"99", None, None, None, None], False),
    "an older epoch since a reset": (SINCE, [b"41", ERA, b"99", None, None, None, None], False),
    "a larger epoch of before a reset that was lost": (SINCE, [b"99", None, None, None, b"1", None, None], False),
    "a smaller epoch since another reset": (SINCE, [b"3", LATER, b"99", None, None, None, None], True),
    "a reset": (BEGUN, [None, ERA, b"99", None, None, None, None], True),
    "a reset, and an epoch since": (BEGUN, [b"3", ERA, b"99", None, b"1", None, None], True),
    "a reset that was lost": (BEGUN, [b"99", None, None, None, b"1", None, None], False),
    "a smaller epoch, of before a reset of a former version": (
        SINCE,
        [b"3", ERA, b"99", b"42", b"1", None, None],
        True,
    ),
    "a smaller epoch, since a reset of a former version": (
        replace(SINCE, era=int(ERA) + 1, epoch=3),
        [b"3", ERA, b"99", b"42", b"1", None, None],
        True,
    ),
    "none, since a reset of a former version": (
        replace(BEGUN, era=int(ERA) + 1),
        [None, ERA, b"99", b"42", None, None, None],
        True,
    ),
    "a reset of a former version that was lost": (
        replace(BEGUN, era=int(ERA) + 1),
        [b"42", ERA, b"99", b"42", b"1", None, None],
        False,
    ),
    "an epoch since a reset of a former version": (
        replace(SINCE, era=1),
        [b"41", None, b"99", None, None, None, None],
        False,
    ),
    "its number": (NUMBERED, [b"42", None, None, None, b"2", b"3", None], True),
    "a later number": (NUMBERED, [b"42", None, None, None, b"2", b"9", None], True),
    "an earlier number": (NUMBERED, [b"42", None, None, None, b"2", b"2", None], False),
    "no number": (NUMBERED, [b"42", None, None, None, b"2", None, None], False),
    "no number of a newer epoch": (NUMBERED, [b"43", None, None, None, None, None, None], True),
    "its count": (COUNTED, [b"42", None, None, None, None, None, b"7"], True),
    "a smaller count": (COUNTED, [b"42", None, None, None, None, None, b"6"], False),
    "a smaller count under a newer epoch": (COUNTED, [b"43", None, None, None, None, None, b"6"], False),
    "a smaller count after a reset": (COUNTED, [b"3", ERA, b"42", None, None, None, b"6"], False),
    "no count": (COUNTED, [b"42", None, None, None, None, None, None], False),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_what_an_answer_proves(case: str) -> None:
    """Its epoch's place is there, or a newer epoch; and the count, under whichever epoch."""
    place, answer, holds = ANSWERS[case]

    assert place.holds(answer) is holds


NOW_MS = 1_800_000_000_000
OLD = Place(RESOURCE, NOW_MS - 25 * 3_600_000, is_used=True, sequence=3, revision=0, is_leased=True)


@pytest.mark.parametrize(
    ("place", "may_be"),
    [
        (OLD, True),
        (replace(OLD, epoch=NOW_MS - 23 * 3_600_000), False),
        (replace(OLD, is_leased=False), False),
        (replace(OLD, revision=7), False),
        (replace(OLD, era=int(ERA)), False),
    ],
    ids=["an old lease's", "a lease's of today", "from elsewhere", "counted", "since a reset"],
)
def test_which_records_may_be_collected(place: Place, may_be: bool) -> None:
    """Nobody is told of a loss where they are gone."""
    assert place.may_be_collected(NOW_MS) is may_be


@pytest.mark.parametrize(
    ("former", "newer", "both"),
    [
        (None, USED, USED),
        (USED, NUMBERED, replace(NUMBERED, is_used=True)),
        (replace(NUMBERED, sequence=9), NUMBERED, replace(NUMBERED, sequence=9)),
        (USED, replace(NUMBERED, epoch=43), replace(NUMBERED, epoch=43)),
        (replace(NUMBERED, epoch=43), USED, replace(NUMBERED, epoch=43)),
        (COUNTED, replace(USED, epoch=43), replace(USED, epoch=43, revision=7)),
        (replace(COUNTED, epoch=99), SINCE, replace(SINCE, revision=7)),
        (SINCE, replace(NUMBERED, epoch=99), SINCE),
    ],
    ids=[
        "the first",
        "of one epoch",
        "settled later",
        "of a newer epoch",
        "of an older epoch",
        "counts go on",
        "after a reset",
        "before it",
    ],
)
def test_what_is_to_be_there_after_two(former: Place | None, newer: Place, both: Place) -> None:
    """All that is known of the newest epoch, and the largest count."""
    assert newer.after(former) == both


def test_most_writes_have_no_place() -> None:
    """Only what keeps another one like it from being admitted."""
    strict = written(bare(42, of=rule(Fence(order="strict"))))
    assert place_of(written(bare(42)), 7) is None
    assert place_of(strict, 0) == USED
    assert place_of(replace(strict, era=int(ERA)), 0) == SINCE
    assert place_of(written(bare(42, of=rule(Fence(sequence="contiguous")), sequence=3)), 0) == NUMBERED
    assert place_of(written(bare(42, of=rule(counts=True))), 7) == COUNTED


def written(write: Write) -> Admitted:
    return Admitted(write, TicketId("000one1"), None, IntentId("000one1"))
