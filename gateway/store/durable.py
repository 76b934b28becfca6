"""Answers that come once what they tell of is safe: on the store's disk, or at its replicas.

A wait (WAITAOF, WAIT) covers what its own connection has written before it, and nothing else. So it follows the calls
on their connection, behind a write of its own: a call that recognises itself, or finds what another connection has
just written, writes nothing, and a wait behind it alone would be answered at once. Where the connection broke, or a
call was sent again or elsewhere, both are repeated.
"""

import asyncio
from functools import partial

from gateway.core.faults import StoreUnavailable
from gateway.store.durability import Durability
from gateway.store.keys import last_wait
from gateway.store.links.link import Link, OnConnected, Reply, pack
from gateway.store.links.topology import Topology

# Of a call's time: the rest is for those who were held back meanwhile, and for saying what is missing.
_PART = 0.75


class _Group:
    """Calls that leave together, with one wait behind them. `missing` ends with what is not safe, or None."""

    __slots__ = ("breaks", "calls", "missing")

    def __init__(self, missing: asyncio.Future[str | None]) -> None:
        self.missing = missing
        self.calls: list[tuple[bytes, asyncio.Future[Reply]]] = []
        self.breaks = 0


class DurableLink:
    """One server, with one wait for all calls of a turn of the event loop.

    A connection runs nothing while its wait lasts. So the next calls are held back: they leave together, and where the
    wait is in vain none of them is executed behind its caller's back.
    """

    def __init__(self, link: Link, durability: Durability, timeout_s: float) -> None:
        self.mark = b""
        """What is written before each wait."""
        self._link = link
        self._durability = durability
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        wait = durability.wait(round(timeout_s * _PART * 1000))
        assert wait is not None
        self._wait = pack(*wait)
        self._gathering: _Group | None = None
        self._is_waiting = False

    @property
    def runs_functions(self) -> bool:
        return self._link.runs_functions

    @runs_functions.setter
    def runs_functions(self, value: bool) -> None:
        self._link.runs_functions = value

    async def send(self, command: bytes) -> Reply:
        """As `Link.send`, answered when it is safe. Raises StoreUnavailable also where it is not; it may be later."""
        try:
            async with asyncio.timeout(self._timeout_s):
                while True:
                    group, answer = self._join(command)
                    reply = await answer
                    missing = await asyncio.shield(group.missing)
                    if self._link.breaks == group.breaks:
                        break
        except TimeoutError:
            raise StoreUnavailable(f"no answer that is safe within {self._timeout_s:g} s") from None
        if missing is not None:
            raise StoreUnavailable(f"what was recorded is not safe: {missing}")
        return reply

    def _join(self, command: bytes) -> tuple[_Group, asyncio.Future[Reply]]:
        group, answer = self._gathering, self._loop.create_future()
        if group is None:
            group = self._gathering = _Group(self._loop.create_future())
            if not self._is_waiting:
                self._loop.call_soon(self._leave)
        group.calls.append((command, answer))
        return group, answer

    def _leave(self) -> None:
        group, self._gathering = self._gathering, None
        assert group is not None
        group.breaks = self._link.breaks
        try:
            for command, answer in group.calls:
                if not answer.done():
                    self._link.send(command).add_done_callback(partial(_pass_on, answer))
            marked, waited = self._link.send(self.mark), self._link.send(self._wait)
        except StoreUnavailable as closed:
            for _, answer in group.calls:
                if not answer.done():
                    answer.set_exception(StoreUnavailable(str(closed)))
            return
        self._is_waiting = True
        marked.add_done_callback(_fault)
        waited.add_done_callback(partial(self._concluded, group, marked))

    def _concluded(self, group: _Group, marked: asyncio.Future[Reply], waited: asyncio.Future[Reply]) -> None:
        group.missing.set_result(_fault(waited) or self._missing(marked, waited))
        self._is_waiting = False
        if self._gathering is not None:
            self._leave()

    def _missing(self, marked: asyncio.Future[Reply], waited: asyncio.Future[Reply]) -> str | None:
        if not marked.done():
            return "the wait came first"
        return _fault(marked) or self._durability.lacks(waited.result())


class Durable:
    """The servers of a store, over connections that nothing else uses: reads need not stand behind a wait."""

    def __init__(self, topology: Topology, durability: Durability, timeout_s: float) -> None:
        self._topology = topology
        self._durability = durability
        self._timeout_s = timeout_s
        self._links: dict[Link, DurableLink] = {}

    async def open(self, on_connected: OnConnected | None) -> None:
        """Connect. `on_connected` as of a Topology. Raises StoreUnavailable."""
        self._topology.on_connected = on_connected
        await self._topology.open()

    async def close(self) -> None:
        await self._topology.close()

    def link_at(self, key: str, /) -> Link:
        """The connection to the server that has this key, as `Topology.at`."""
        return self._topology.at(key)

    def at(self, key: str, /) -> DurableLink:
        """The same, with waits behind its calls."""
        link = self._topology.at(key)
        found = self._links.get(link)
        if found is None:
            # Of nodes that have left a cluster nothing is kept.
            self._links = {one: self._links[one] for one in self._topology.servers if one in self._links}
            found = self._links[link] = DurableLink(link, self._durability, self._timeout_s)
        # Of this key's shard, which this server has: it may have lost the one before.
        found.mark = pack("SET", last_wait(key), "")
        return found


def _pass_on(answer: asyncio.Future[Reply], sent: asyncio.Future[Reply]) -> None:
    fault = None if sent.cancelled() else sent.exception()
    if answer.done():
        return
    if fault is not None:
        answer.set_exception(fault)
    elif sent.cancelled():
        answer.cancel()
    else:
        answer.set_result(sent.result())


def _fault(answer: asyncio.Future[Reply]) -> str | None:
    """Why there is none. To be asked of each, or the event loop reports an exception that nobody has heard of."""
    if answer.cancelled():
        return "it was cancelled"
    error = answer.exception()
    return None if error is None else str(error)
