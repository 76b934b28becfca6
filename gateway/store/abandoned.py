"""Tickets whose admission got no answer. Nothing was sent under them, and the store is told so until it hears it."""

import asyncio
import contextlib
import heapq
import itertools
from collections.abc import Awaitable, Callable

from gateway.core.faults import StoreUnavailable
from gateway.core.write import TicketId, Write
from gateway.ongoing import ongoing, stop

# Between two tries while the store is away.
_AGAIN_S = 0.5
# Past a ticket's deadline, an admission that arrives only now would be swept: the last moment to abandon it instead.
_GRACE_S = 1.0
# A store that is away for minutes under load abandons more than is worth remembering: the sweeper ends the rest.
_REMEMBERED = 10_000

End = Callable[[Write, TicketId, str], Awaitable[None]]


class Abandoned:
    """Ends each ticket when its time comes, the soonest first, in one task until `close`. `also`: what `settle.lua` has
    to know of it besides, in words.
    """

    def __init__(self, end: End) -> None:
        self._end = end
        self._order = itertools.count()
        self._due: list[tuple[float, int, Write, TicketId, str]] = []
        self._loop = asyncio.get_running_loop()
        self._added = asyncio.Event()
        self._running = ongoing("ending abandoned tickets", self._run)

    async def end(self, write: Write, ticket: TicketId, also: str = "") -> None:
        """Now, and once more when its life is over: its admission may still be on the way. Raises StoreUnavailable, and
        goes on trying then.
        """
        self._add(write, ticket, also, write.rule.upstream.timeouts.total_s + _GRACE_S)
        try:
            await self._end(write, ticket, also)
        except StoreUnavailable:
            self._add(write, ticket, also, _AGAIN_S)
            raise

    def later(self, write: Write, ticket: TicketId) -> None:
        """When its life is over: it was answered without a ticket, and its admission may still be made once more."""
        self._add(write, ticket, "", write.rule.upstream.timeouts.total_s + _GRACE_S)

    def _add(self, write: Write, ticket: TicketId, also: str, after_s: float) -> None:
        if len(self._due) < _REMEMBERED:
            heapq.heappush(self._due, (self._loop.time() + after_s, next(self._order), write, ticket, also))
            self._added.set()

    async def close(self) -> None:
        await stop(self._running)

    async def _run(self) -> None:
        while True:
            await self._first_is_due()
            _, _, write, ticket, also = heapq.heappop(self._due)
            try:
                await self._end(write, ticket, also)
            except StoreUnavailable:
                self._add(write, ticket, also, _AGAIN_S)

    async def _first_is_due(self) -> None:
        while not self._due or self._due[0][0] > self._loop.time():
            self._added.clear()
            left_s = self._due[0][0] - self._loop.time() if self._due else None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left_s):
                    await self._added.wait()
