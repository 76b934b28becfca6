"""What of unproved results may be kept: so much, and then as it grows back."""

from gateway.flow.allowance import Allowance
from gateway.flow.clock import BootClock

MIB = 1 << 20


class TurnedClock(BootClock):
    """A clock that the test turns."""

    now = 1_000.0

    def boot(self) -> float:
        return self.now


def test_an_allowance_is_used_up_and_grows_back() -> None:
    """4 MiB in a minute; what is refused takes nothing."""
    clock = TurnedClock()
    allowance = Allowance(clock)

    assert allowance.take("t", "ada", 3 * MIB)
    assert not allowance.take("t", "ada", 2 * MIB)
    assert allowance.take("t", "ada", MIB)
    clock.now += 15.0
    assert not allowance.take("t", "ada", MIB + 1)
    assert allowance.take("t", "ada", MIB)
    clock.now += 3_600.0
    assert allowance.take("t", "ada", 4 * MIB)
    assert not allowance.take("t", "ada", 1)


def test_each_principal_has_its_own() -> None:
    """Who floods takes nobody else's; a name says nothing without its tenant."""
    allowance = Allowance(TurnedClock())

    assert allowance.take("north", "ada", 4 * MIB)
    assert allowance.take("north", "bob", 4 * MIB)
    assert allowance.take("south", "ada", 4 * MIB)
    assert not allowance.take("north", "ada", 1)
