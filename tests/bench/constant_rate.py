"""Load at a constant rate: requests come when they are due, however long the ones before them take.

wrk has no such load: it asks again when it was answered, so that a server that stalls is asked less, and its stall is
seen once instead of by all who would have come meanwhile. Here the time of a request counts from when it was due.
"""

import asyncio
import secrets
import selectors
from collections import deque
from dataclasses import dataclass, field

from tests.bench.connection import Connection, connected, keyed_write
from tests.bench.process import Failed
from tests.bench.subject import Subject

# More than are ever under way while the server keeps up; a request for which none is free waits, and its time runs.
_CONNECTIONS = 64
_RESOURCES = 1_000
# What is still under way when the time is over.
_ENDS_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class Paced:
    """Of each request in seconds: from when it was due to its answer, and to when it was sent."""

    took_s: list[float] = field(repr=False)
    late_s: list[float] = field(repr=False)


def paced(subject: Subject, rate: float, seconds: int) -> Paced:
    """Writes at `rate` a second. Raises Failed as `pace` does."""
    if not subject.keeps:
        subject.store.empty()
    # Timers of epoll, uvloop's too, are kept to the millisecond: half a dozen requests would be sent at once.
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
        return runner.run(pace(subject.port, rate, int(rate * seconds)))


async def pace(port: int, rate: float, count: int) -> Paced:
    """So many writes. Raises Failed where one was refused, or where the server falls behind for good."""
    pending = _Pending(count)
    connections = await connected(port, _CONNECTIONS, pending.on_answer)
    pending.free.extend(connections)
    try:
        await _send_when_due(pending, rate, count)
        await asyncio.wait_for(pending.all_answered.wait(), _ENDS_WITHIN_S)
    except TimeoutError:
        raise Failed(f"{rate:.0f} writes a second are more than the server carries") from None
    finally:
        for connection in connections:
            connection.close()
    if pending.refused:
        raise Failed(f"{pending.refused} of {count} writes were refused")
    return pending.paced


async def _send_when_due(pending: "_Pending", rate: float, count: int) -> None:
    loop = asyncio.get_running_loop()
    begins = loop.time()
    for number in range(count):
        due = begins + number / rate
        # Answers are read here too, also when this is behind its time.
        await asyncio.sleep(max(0.0, due - loop.time()))
        pending.add(due)


class _Pending:
    """Requests that are due or under way, and the connections that are free for them."""

    def __init__(self, count: int) -> None:
        self.free: deque[Connection] = deque()
        self.refused = 0
        self.paced = Paced([], [])
        self.all_answered = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._count = count
        self._due: deque[float] = deque()
        self._since: dict[Connection, float] = {}
        self._key = secrets.token_hex(8)
        self._sent = 0

    def add(self, due: float) -> None:
        self._due.append(due)
        self._send()

    def on_answer(self, connection: Connection, status: int) -> None:
        self.paced.took_s.append(self._loop.time() - self._since.pop(connection))
        self.refused += not 200 <= status < 300
        self.free.append(connection)
        self._send()
        if len(self.paced.took_s) == self._count:
            self.all_answered.set()

    def _send(self) -> None:
        if self._due and self.free:
            due, connection = self._due.popleft(), self.free.popleft()
            self._since[connection] = due
            self.paced.late_s.append(self._loop.time() - due)
            self._sent += 1
            target = b"/reports/%d" % (self._sent % _RESOURCES)
            connection.send(keyed_write(target, f"{self._key}{self._sent}".encode()))
