"""An upstream's connections: kept alive between requests, never more than its limit, in order of asking."""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from gateway.core.places import Places
from gateway.core.rule import Tls, Upstream
from gateway.upstream.own import NOWHERE, OwnListeners
from gateway.upstream.wire import Wire, connect

# Servers close idle connections by themselves (Node after 5 s, many others after 15 s and more). A request that is sent
# in that very moment is lost with an unknown outcome, so an idle connection is dropped before the first of them would.
_IDLE_S = 4.0
_SPARED_FOR_WRITES = 4


class Unreachable(Exception):
    """No connection to the upstream could be had; nothing was sent."""


class Crowded(Unreachable):
    """All connections are busy, and too many requests wait for one already."""


class Pool:
    """Connections to one upstream. `acquire` raises Unreachable; each connection goes back by `release` once.

    `places`: where whoever waits for a connection takes one; without any it raises Crowded.
    """

    def __init__(
        self,
        upstream: Upstream,
        now: Callable[[], float],
        places: Places | None = None,
        own: OwnListeners = NOWHERE,
    ) -> None:
        self._own = own
        self._upstream = upstream
        self._places = places or Places()
        self._now = now
        self._context = tls_context(upstream)
        limit = upstream.limits.connections
        self._reads = asyncio.Semaphore(limit - limit // _SPARED_FOR_WRITES)
        self._idle: list[tuple[Wire, float]] = []
        self._open = 0
        # What comes back goes straight to who waits longest: a connection, or (None) the right to open one.
        self._waiting: deque[asyncio.Future[Wire | None]] = deque()
        # How to end those that are only listened to, the oldest first.
        self._listening: deque[Callable[[], None]] = deque()
        self._retired = False
        self._dropping: asyncio.TimerHandle | None = None

    def idle(self) -> Wire | None:
        """For a write: a connection that nobody has to wait for. It is the caller's, as one of `acquire` is."""
        while self._idle:
            wire, since = self._idle.pop()
            if self._now() - since > _IDLE_S:
                wire.close()
            if _is_open(wire):
                return wire
            self._open -= 1
        return None

    async def acquire(self, *, for_read: bool = False) -> Wire:
        """A connection on which nothing is under way, within the upstream's connect timeout. Raises Unreachable.

        One in four is never given to reads: readers that do not read must not lock writers out.
        """
        if not for_read:
            return await self._acquire()
        if self._reads.locked():
            await self._wait_to_read()
        else:
            await self._reads.acquire()
        try:
            return await self._acquire(for_read=True)
        except BaseException:
            self._reads.release()
            raise

    async def _wait_to_read(self) -> None:
        with self._places.taken("connection", first=True) as has_place:
            if not has_place:
                raise Crowded("too many wait for a connection that reads may use")
            try:
                async with asyncio.timeout(self._upstream.timeouts.connect_s):
                    await self._reads.acquire()
            except TimeoutError:
                busy = "all connections that reads may use stayed busy"
                raise Unreachable(f"{busy} within {self._upstream.timeouts.connect_s:g} s") from None

    async def _acquire(self, *, for_read: bool = False) -> Wire:
        wire = self.idle()
        if wire is not None:
            return wire
        try:
            async with asyncio.timeout(self._upstream.timeouts.connect_s):
                if self._open < self._upstream.limits.connections:
                    self._open += 1
                else:
                    with self._places.taken("connection", first=for_read) as has_place:
                        wire = await self._turn() if has_place else self._crowded_out()
                if wire is not None and _is_open(wire):
                    return wire
                return await self._connect()
        except TimeoutError:
            limit = self._upstream.limits.connections
            busy = f"all {limit} connections stayed busy" if self._open >= limit else "no connection came about"
            raise Unreachable(f"{busy} within {self._upstream.timeouts.connect_s:g} s") from None

    def release(self, wire: Wire, *, reusable: bool, for_read: bool = False) -> None:
        """Take a connection back: kept if it stands between two messages, else closed."""
        if for_read:
            self._reads.release()
        if not reusable or self._retired or wire.closed:
            wire.close()
            self._pass_on(None)
            return
        wire.on_data = wire.on_end = wire.close_on
        wire.resume()
        self._pass_on(wire)

    def lend(self, end: Callable[[], None]) -> None:
        """A connection is only listened to from now on, for an answer that is late: it keeps nobody from another one.
        It is not released; of more than may be open at once the oldest is ended.
        """
        self._listening.append(end)
        if len(self._listening) > self._upstream.limits.connections:
            self._listening.popleft()()
        self._pass_on(None)

    def heard(self, end: Callable[[], None]) -> None:
        """That one is closed. Safe to call where it was ended."""
        if end in self._listening:
            self._listening.remove(end)

    def retire(self) -> None:
        """Close what is idle; what is in use is closed as it comes back."""
        self._retired = True
        for wire, _ in self._idle:
            wire.close()
        self._open -= len(self._idle)
        self._idle.clear()
        if self._dropping is not None:
            self._dropping.cancel()

    async def _connect(self) -> Wire:
        """Open a connection under a right to it, which is passed on if that fails."""
        origin = self._upstream.origin
        try:
            wire = await connect((origin.host, origin.port), self._context, self._own)
        except OSError as error:
            self._pass_on(None)
            raise Unreachable(f"{origin.authority}: {error.strerror or error}") from None
        except BaseException:
            self._pass_on(None)
            raise
        # Whoever speaks before it is asked would answer whatever is sent first.
        wire.on_data = wire.on_end = wire.close_on
        if not _is_open(wire):
            self._pass_on(None)
            raise Unreachable(f"{origin.authority}: it spoke before it was asked, or closed at once")
        return wire

    def _crowded_out(self) -> NoReturn:
        raise Crowded(f"all {self._upstream.limits.connections} connections are busy, and too many wait for one")

    async def _turn(self) -> Wire | None:
        turn: asyncio.Future[Wire | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                wire = turn.result()
                self._pass_on(None) if wire is None else self.release(wire, reusable=True)
            raise

    def _pass_on(self, wire: Wire | None) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(wire)
                return
        if wire is None:
            self._open -= 1
        else:
            self._idle.append((wire, self._now()))
            if self._dropping is None:
                self._dropping = wire.loop.call_later(_IDLE_S, self._drop_idle)

    def _drop_idle(self) -> None:
        """Nobody may come to find it too old: its upstream may be gone from the policies."""
        self._dropping = None
        now = self._now()
        for wire, since in self._idle:
            if now - since >= _IDLE_S:
                wire.close()
        left = [(wire, since) for wire, since in self._idle if not wire.closed]
        self._open -= len(self._idle) - len(left)
        self._idle = left
        if left:
            self._dropping = left[0][0].loop.call_later(_IDLE_S - (now - left[0][1]), self._drop_idle)


def _is_open(wire: Wire) -> bool:
    if not wire.closed:
        wire.poll()
    return not wire.closed


def tls_context(upstream: Upstream) -> ssl.SSLContext | None:
    """The context for an `https` upstream. Raises OSError (ssl.SSLError among them) for files that cannot be used."""
    if upstream.origin.scheme == "http":
        return None
    tls = upstream.tls
    with _files(tls) as (ca, cert, key):
        context = ssl.create_default_context(cafile=ca)
        context.set_alpn_protocols(["http/1.1"])
        if not tls.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if cert is not None:
            context.load_cert_chain(cert, key)
    return context


@contextmanager
def _files(tls: Tls) -> Iterator[tuple[str | None, str | None, str | None]]:
    """CA, certificate and key under names: OpenSSL takes them from files only. Those that were read at load are
    written for this moment into a directory that is closed to others."""
    if tls.pem is None:
        yield tls.ca, tls.cert, tls.key
        return
    with TemporaryDirectory(prefix="fencegate-") as directory:
        written = {"ca": tls.pem.ca, "cert": tls.pem.cert, "key": tls.pem.key}
        names = {name: str(Path(directory, name)) for name, content in written.items() if content is not None}
        for name, path in names.items():
            Path(path).write_bytes(written[name] or b"")
        yield names.get("ca"), names.get("cert"), names.get("key")
