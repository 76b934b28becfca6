"""A session: a connection that its upstream has switched to another protocol, under one admitted write's ticket."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from gateway.core.request import HeaderPairs

# How long the store may be away, or a gateway asleep, before a session is cut; and how long a newcomer waits for the
# session of a gateway that was killed, with the grace of tickets.
LIFE_S = 5.0


class FarEnd(Protocol):
    """The upstream's end. Raises nothing about the network: an end that broke has ended."""

    async def read(self) -> bytes:
        """What comes next; empty once nothing more will. What is not asked for is left in the kernel."""
        ...

    async def send(self, piece: bytes, may_go: Callable[[], bool]) -> bool:
        """Send all of it. `may_go` is asked in the same step as each system call (G7).

        False: it said no, or the connection is broken; some of the piece may have left.
        """
        ...

    def finish(self) -> None:
        """Tell the upstream that nothing more will come; what it says is still read."""
        ...

    def abort(self) -> None:
        """Break off: whatever the kernel has not yet sent is thrown away. Safe to call twice."""
        ...


@dataclass(frozen=True, slots=True)
class Switched:
    """The upstream's 101, and the connection behind it. Whoever holds this has to abort it in the end."""

    status: int
    reason: bytes
    headers: HeaderPairs
    end: FarEnd
