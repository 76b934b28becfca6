"""The agent's end of a session: what aiohttp's connection hands over once it no longer speaks HTTP."""

import asyncio
from collections import deque

from aiohttp import web

from gateway.core.websocket import Frames

# As at the upstream's end: what one slow upstream can hold of this process.
_HIGH_WATER = 256 << 10
_LOW_WATER = 64 << 10


class AgentEnd:
    """Implements `ports.NearEnd`. To aiohttp it is the parser of what follows an upgrade."""

    def __init__(self, request: web.BaseRequest) -> None:
        self._protocol = request.protocol
        self._transport = request.transport
        self._drain = request.writer.drain
        self._frames = Frames()
        self._pieces: deque[bytes] = deque()
        self._held = 0
        self._drops = False
        self._ended = self._transport is None or self._transport.is_closing()
        self._waiter: asyncio.Future[None] | None = None

    # What aiohttp tells.

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Take what came; in aiohttp's words: it goes on, and nothing is left over."""
        if not self._drops:
            self._pieces.append(bytes(data))
            self._held += len(data)
            if self._held > _HIGH_WATER:
                self._protocol.pause_reading()
        self._wake()
        return False, b""

    def feed_eof(self) -> None:
        """Nothing more will come. Called again when the connection is gone."""
        self._ended = True
        self._wake()

    # What the flow asks.

    async def read(self) -> bytes:
        while not self._pieces:
            if self._ended:
                return b""
            await self._something()
        piece = self._pieces.popleft()
        before = self._held
        self._held -= len(piece)
        if self._held < _LOW_WATER <= before:
            self._protocol.resume_reading()
        return piece

    async def write(self, piece: bytes) -> bool:
        if self._is_gone():
            return False
        assert self._transport is not None
        self._frames.feed(piece)
        self._transport.write(piece)
        try:
            await self._drain()
        except ConnectionError:
            return False
        return not self._is_gone()

    def close(self, frame: bytes) -> None:
        if self._is_gone():
            return
        assert self._transport is not None
        if frame and (not self._frames.at_end or self._transport.get_write_buffer_size()):
            self._transport.abort()
            return
        if frame:
            self._transport.write(frame)
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            # TLS: what the agent still sends may destroy the frame, which it can do without.
            self._transport.close()

    async def closed(self, within_s: float) -> None:
        self._drops = True
        self._pieces.clear()
        self._held = 0
        if self._is_gone():
            return
        self._protocol.resume_reading()
        try:
            async with asyncio.timeout(within_s):
                while not self._ended:
                    await self._something()
        except TimeoutError:
            return

    def _is_gone(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    async def _something(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
