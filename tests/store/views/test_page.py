"""Cursors: what was handed out is read back, and nothing else is."""

import pytest

from gateway.store.views.page import BadCursor, Position, position

HIGHEST = 2**64 - 1


@pytest.mark.parametrize(
    "at",
    [Position(1700000000000, 0, "3ffAbc"), Position(HIGHEST, HIGHEST, "a.b c/é")],
    ids=["an intent", "the largest, with a name that has dots"],
)
def test_a_cursor_is_read_back(at: Position) -> None:
    """Whatever is in the name."""
    assert position(at.cursor) == at


@pytest.mark.parametrize(
    "cursor",
    ["x", ".", "..", "next please", "1", "1.2", "1.2.", ".2.x", "-1.0.x", "+1.0.x", "1_0.0.x", "\u0661.0.x", "0.0.x",
     "01.0.x", f"{HIGHEST + 1}.0.x", f"1.{HIGHEST + 1}.x", f"{'9' * 5000}.0.x", "1e3.0.x", "nan.0.x"],
    ids=lambda cursor: ascii(cursor[:24]),
)  # fmt: skip
def test_another_text_is_no_cursor(cursor: str) -> None:
    """The store is never asked for what it could not have."""
    with pytest.raises(BadCursor):
        position(cursor)


@pytest.mark.parametrize("cursor", [None, ""])
def test_without_a_cursor_a_list_begins_at_the_newest(cursor: str | None) -> None:
    """An empty one is none."""
    assert position(cursor) is None


def test_what_came_later_is_larger() -> None:
    """First by the millisecond, then by its number in it, then by name."""
    positions = [Position(1, 9, "z"), Position(2, 0, "b"), Position(2, 0, "c"), Position(2, 1, "a")]

    assert sorted(positions, reverse=True) == positions[::-1]
