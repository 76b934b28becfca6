"""Deadlines as values. Reading a clock is a driver's work; comparing with one is asked through `Clock`."""

from typing import NamedTuple, Protocol


class Deadline(NamedTuple):
    """An instant on both clocks of a `Clock`, in seconds. Whichever passes first counts."""

    boot: float
    wall: float

    def earlier(self, seconds: float) -> "Deadline":
        """So many seconds before."""
        return Deadline(self.boot - seconds, self.wall - seconds)


class Clock(Protocol):
    """Time that also counts while the machine or the process is suspended (CLOCK_BOOTTIME), and the wall clock."""

    def boot(self) -> float:
        """Now, in seconds since some instant: for durations, suspension included."""
        ...

    def after(self, seconds: float) -> Deadline:
        """The instant `seconds` from now. Anchor it before the call leaves whose answer it bounds."""
        ...

    def left(self, deadline: Deadline) -> float:
        """Seconds until the deadline by the clock that reaches it first; negative when it has passed."""
        ...
