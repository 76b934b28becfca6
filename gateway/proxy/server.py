"""Who accepts callers' connections, up to a bound, and ends them in good order."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from gateway.core.arrival import TrustedProxies
from gateway.core.places import Places
from gateway.proxy.asked import Observer
from gateway.proxy.connection import Connection, Crowd
from gateway.proxy.turned_away import TurnedAway

# Of connections that are idle, one goes where a newcomer finds no room: it is answered at once with a look at so many.
_LOOKED_AT = 32
# A client that has just had its answer may be about to ask again.
_IDLE_FOR_S = 1.0
# What is left once every request has ended: to close connections.
_CLOSE_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one process takes at a time. `connections`: None for no end of them."""

    places: Places = field(default_factory=Places)
    connections: int | None = None


class ProxyServer(web.Server):
    """aiohttp's server with a connection handler of ours, and an end at which callers are still answered."""

    def __init__(
        self,
        handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        observer: Observer,
        proxies: TrustedProxies,
        bounds: Bounds | None = None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        # What is left of a refused body is dropped here and not by aiohttp, which fails over one that is malformed.
        super().__init__(handler, access_log=None, auto_decompress=False, lingering_time=0)
        self.observer = observer
        self.proxies = proxies
        self._bounds = bounds or Bounds()
        self._on_end = on_end
        self._crowd = Crowd()

    async def finish(self, within_s: float, linger_s: float = 0.0) -> None:
        """Let requests end for so long, then interrupt them: a write in flight is answered as unknown.

        Before that, requests that are on their way on open connections are still taken for `linger_s` seconds, and
        for ten times as long on those that have had none: their callers have just come.
        aiohttp's own shutdown closes the connections first, and nobody could be told anything any more.
        """
        self._on_end()
        assert self._loop is not None
        end = self._loop.time() + within_s
        # All of it is part of the time that requests have to end.
        linger_s = min(linger_s, within_s / 10)
        if linger_s:
            await self._end_of(self._connections, linger_s)
            fresh = [each for each in self._connections if isinstance(each, Connection) and each.is_fresh]
            await self._end_of(fresh, 9 * linger_s)
        self.pre_shutdown()
        under_way = self._crowd.under_way
        if under_way:
            await asyncio.wait(set(under_way), timeout=max(0.0, end - self._loop.time()))
        for task in under_way:
            task.cancel()
        await self.shutdown(_CLOSE_WITHIN_S)

    async def _end_of(self, connections: Iterable[RequestHandler], within_s: float) -> None:
        tasks = {each._task_handler for each in connections if each._task_handler is not None}
        if tasks:
            await asyncio.wait(tasks, timeout=within_s)

    def __call__(self) -> RequestHandler | TurnedAway:  # type: ignore[override]  # whoever accepts wants a protocol
        assert self._loop is not None
        most = self._bounds.connections
        if most is not None and len(self._connections) >= most and not self._make_room():
            self._bounds.places.turned_away("caller")
            return TurnedAway()
        return Connection(self, self.observer, self.proxies, self._crowd, loop=self._loop, **self._kwargs)

    def _make_room(self) -> bool:
        """Close a connection on which nothing is under way: thousands of sleepers must not keep a caller out, nor
        thousands of refused ones that go on sending. The latter go first: each has its answer.
        """
        answered = next(iter(self._crowd.answered), None)
        if answered is not None:
            del self._crowd.answered[answered]
            answered.force_close()
            return True
        for connection in list(islice(self._connections, _LOOKED_AT)):
            assert isinstance(connection, Connection)
            if connection.is_idle(_IDLE_FOR_S):
                connection.force_close()
                return True
            # The next newcomer looks at others.
            self._connections[connection] = self._connections.pop(connection)
        return False
