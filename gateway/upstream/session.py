"""The upstream's end of a session: bytes in both directions on a connection that has switched protocols."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable

from gateway.upstream.wire import Wire

# Reading stops above the high mark and goes on below the low one: what one slow agent can hold of this process.
_HIGH_WATER = 256 << 10
_LOW_WATER = 64 << 10
_IN_KERNEL = 64 << 10


class _Halted(Exception):
    """Whoever sends may send no more."""


class SessionEnd:
    """Implements `core.session.FarEnd`. `behind` came with the 101; `on_end` is called once, when it is aborted."""

    def __init__(self, wire: Wire, behind: Iterable[bytes], *, ended: bool, on_end: Callable[[], None]) -> None:
        self._wire = wire
        self._pieces = deque(piece for piece in behind if piece)
        self._held = sum(map(len, self._pieces))
        self._ended = ended
        self._on_end = on_end
        self._waiter: asyncio.Future[None] | None = None
        # Of a stopped gateway the kernel goes on sending what it has.
        wire.bound_unsent(_IN_KERNEL)
        wire.give_up_after(None)
        wire.on_data = self._came
        wire.on_end = self._has_ended

    async def read(self) -> bytes:
        while not self._pieces:
            if self._ended:
                return b""
            self._wire.resume()
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        piece = self._pieces.popleft()
        self._held -= len(piece)
        if self._held < _LOW_WATER and not self._ended:
            self._wire.resume()
        return piece

    async def send(self, piece: bytes, may_go: Callable[[], bool]) -> bool:
        def guard() -> None:
            if not may_go():
                raise _Halted

        try:
            await self._wire.send(piece, guard)
        except (_Halted, OSError):
            return False
        return True

    def finish(self) -> None:
        self._wire.finish()

    def abort(self) -> None:
        self._wire.abort()
        self._has_ended(None)
        self._on_end()

    def _came(self, data: bytes) -> None:
        self._pieces.append(data)
        self._held += len(data)
        if self._held > _HIGH_WATER:
            self._wire.pause()
        self._wake()

    def _has_ended(self, _: OSError | None) -> None:
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
