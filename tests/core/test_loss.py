"""What is concluded of a store, from what a process remembers of it and what it says itself."""

import pytest

from gateway.core.loss import Found, Kept, Lost, Remembered, Told, judge

REMEMBERED = Remembered("a", 7)
TABLE: dict[str, tuple[Remembered, Found, type[Kept | Told | Lost]]] = {
    "the mark is there": (REMEMBERED, Found("a", 7), Kept),
    "a later mark, whose acknowledgement was lost": (REMEMBERED, Found("a", 8), Kept),
    "no mark was left yet": (Remembered("a"), Found("a"), Kept),
    "an older mark": (REMEMBERED, Found("a", 6), Lost),
    "no mark any more": (REMEMBERED, Found("a"), Lost),
    "nothing at all": (REMEMBERED, Found(None), Lost),
    "nothing at all, and no mark was left": (Remembered("a"), Found(None), Lost),
    "begun anew by a process that remembers nothing": (REMEMBERED, Found("b", 0), Lost),
    "begun anew, and others have left marks": (REMEMBERED, Found("b", 9), Lost),
    "begun anew by one that has told of it": (REMEMBERED, Found("b", 0, before=("a",), is_open=True), Told),
    "told and accepted since": (REMEMBERED, Found("b", 0, before=("x", "a")), Told),
    "a copy of the time after a loss before": (REMEMBERED, Found("b", 9, before=("x",)), Lost),
    "the loss before this incarnation is no new one": (REMEMBERED, Found("a", 7, before=("x",), is_open=True), Kept),
    "a second loss, within the incarnation that told of the first": (REMEMBERED, Found("a", 3, before=("x",)), Lost),
}


@pytest.mark.parametrize("case", TABLE)
def test_what_became_of_the_store(case: str) -> None:
    """Whatever cannot be the store as it was is a loss, unless somebody has told of it already."""
    remembered, found, expected = TABLE[case]

    assert type(judge(remembered, found)) is expected


def test_a_loss_says_why() -> None:
    """For the operator who has to look at it."""
    gone_back = judge(REMEMBERED, Found("a", 3))

    assert gone_back == Lost("it has gone back to mark 3, and mark 7 was acknowledged")
