"""The gateway's own clock."""

from gateway.core.clock import Deadline
from gateway.flow.clock import BootClock


def test_a_deadline_is_reached_on_whichever_clock_is_first() -> None:
    """A clock that stood still while the machine slept does not prolong a write."""
    clock = BootClock()
    soon, late = clock.after(-5), clock.after(3_600)

    assert clock.left(soon) < 0 < clock.left(late)
    assert clock.left(Deadline(soon.boot, late.wall)) < 0
    assert clock.left(Deadline(late.boot, soon.wall)) < 0


def test_the_later_of_two_instants_is_left_longer() -> None:
    """Anchored at the call, in seconds."""
    clock = BootClock()

    assert 0 < clock.left(clock.after(10)) <= 10 < clock.left(clock.after(20))
