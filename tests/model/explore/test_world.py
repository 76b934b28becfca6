"""Worlds that differ by nothing that matters are one."""

from tests.model.explore.shelf import State
from tests.model.explore.world import GRACE_MS, TTL_MS, Attempt, Bounds, Slot, Token, beginning

FIRST = Attempt(Slot(0, False, 0), 0, Token(41, None))
SECOND = Attempt(Slot(1, True, 0), 1, Token(42, None))


def test_the_order_in_which_writes_came_is_forgotten() -> None:
    """Each has its place by whose it is."""
    world = beginning(Bounds("header"), State(()))
    assert world.with_attempt(FIRST).with_attempt(SECOND) == world.with_attempt(SECOND).with_attempt(FIRST)
    assert world.with_attempt(FIRST).without(FIRST.slot) == world


def test_a_deadline_is_forgotten_once_nobody_asks_for_it() -> None:
    """That of a write whose gateway died is asked for while newer ones have to wait for it."""
    done = FIRST._replace(stage="done")
    dead = FIRST._replace(stage="dead", arrived="whole")

    assert done.forgotten().left_ms == -GRACE_MS
    assert dead.forgotten().left_ms == TTL_MS
    assert dead.later(TTL_MS).left_ms == -GRACE_MS
    assert FIRST.later(TTL_MS).left_ms == 0
