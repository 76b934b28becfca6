"""Places for requests that wait: one process has only so many, and keeps some for those that go first.

Whoever waits costs memory, and the longer the line, the likelier its caller has given up by its turn. Beyond the bound
a request is told at once to come back. What holds up a gateway is writes: reads, and calls that renew or release a
lease, end sooner, and without them more would have to wait.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

from gateway.core.decision import OVERLOADED, Facts, Refused

# `admission`: for other writes of its resource. `body`: for the rest of its body. `connection`: for one to its
# upstream. `lease`: for a lease to be free, or for older writes to end. `answer`: for what was queued to be delivered.
Wait = Literal["admission", "body", "connection", "lease", "answer"]
# Turned away for another reason: `caller`, a connection beyond those that are accepted; `memory`, a large body.
Shed = Wait | Literal["caller", "memory"]

# One in so many places is kept for those that go first.
_KEPT = 4
# Of the others, those who wait for one thing take at most one in so many: an agent that asks for a thousand leases must
# not keep everybody's bodies out.
_SHARED = 2
# Long enough for a line to become shorter; a herd that returned after one second would find the same.
_RETRY_AFTER_S = 2


class Pressure(Protocol):
    """Who counts. Must neither block nor raise."""

    def waits(self, what: Wait, change: int) -> None:
        """So many more, or fewer, wait for this."""
        ...

    def shed(self, what: Shed) -> None:
        """One was turned away."""
        ...


class Places:
    """The places of one process. `most`: how many there are in all; None: no end of them."""

    def __init__(self, most: int | None = None, pressure: Pressure | None = None) -> None:
        self._most = most
        self._pressure = pressure
        self._taken: dict[Wait, int] = {}

    def has_one(self, what: Wait, *, first: bool = False) -> bool:
        """Whether there is a place now. `first`: for one that goes first."""
        if self._most is None:
            return True
        taken = sum(self._taken.values())
        if first:
            return taken < self._most
        ordinary = self._most - self._most // _KEPT
        return taken < ordinary and self._taken.get(what, 0) < max(1, ordinary // _SHARED)

    def take(self, what: Wait, *, first: bool = False, anyway: bool = False) -> bool:
        """Take a place, which `free` has to give back; False if there is none.

        `anyway`: also then, for one that can no longer be told that nothing was done.
        """
        if not (anyway or self.has_one(what, first=first)):
            self.turned_away(what)
            return False
        self._taken[what] = self._taken.get(what, 0) + 1
        if self._pressure is not None:
            self._pressure.waits(what, 1)
        return True

    def free(self, what: Wait) -> None:
        self._taken[what] -= 1
        if self._pressure is not None:
            self._pressure.waits(what, -1)

    @contextmanager
    def taken(self, what: Wait, *, first: bool = False, anyway: bool = False) -> Iterator[bool]:
        """A place until the end of the block; False if there is none."""
        if not self.take(what, first=first, anyway=anyway):
            yield False
            return
        try:
            yield True
        finally:
            self.free(what)

    def turned_away(self, what: Shed) -> None:
        """For whoever finds out elsewhere that there is no room."""
        if self._pressure is not None:
            self._pressure.shed(what)


def overloaded(facts: Facts | None = None, why: str | None = None) -> Refused:
    """The refusal of one that finds no place. Nothing was sent, and nothing of it was recorded."""
    known = facts or Facts()
    told = Facts(resource=known.resource, epoch=known.epoch, retry_after_s=_RETRY_AFTER_S)
    detail = "Nothing was done: too many requests wait at the gateway. Retry later with the same token and key."
    return Refused(OVERLOADED, detail, told, why)
