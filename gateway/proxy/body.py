"""A request's body as it arrives from aiohttp: nothing is read before somebody asks, and nothing is read ahead."""

import asyncio
from collections.abc import Callable
from io import BytesIO

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from gateway.core.faults import BodyTooLarge, CallerGone
from gateway.proxy.spool import Spool

# What is gathered for one write to the disk: an upload costs this much memory, and one piece of aiohttp's buffers.
_BATCH = 512 << 10
# A digest of so much takes less than a millisecond (BLAKE2b: 1.3 GiB/s); beyond it others would wait.
_FED_AT_ONCE = 1 << 20
# An agent that was stopped in its upload may come back, but not after this: its connection is another's.
_STALL_S = 60.0


class IncomingBody:
    """Implements `ports.BodySource`."""

    def __init__(self, request: web.BaseRequest, length: int | None) -> None:
        self._content = request.content
        self._protocol = request.protocol
        self._held: bytes | None = None
        self._spool: Spool | None = None
        self._at = 0
        self._limit: int | None = None
        self._seen = 0
        self.length = length

    def restrict(self, limit: int | None) -> None:
        """Whoever reads past `limit` bytes is stopped by BodyTooLarge."""
        self._limit = limit

    @property
    def is_read(self) -> bool:
        """Whether the body's last byte has been taken from the connection, by whomever."""
        return self._content.is_eof()

    def take_buffered(self) -> bytes | None:
        if self._held is not None or self._spool is not None:
            return self._held
        if not self._content.is_eof() or self._content.exception() is not None:
            return None
        held = self._content.read_nowait(-1)
        self._count(held)
        return self._keep(held)

    async def read(self) -> bytes:
        if self._held is not None:
            piece = self._held[self._at :]
        elif self._spool is not None:
            piece = await self._spool.read(self._at)
        else:
            return await self._next()
        self._at += len(piece)
        return piece

    def rewind(self) -> bool:
        self._at = 0
        return self._held is not None or self._spool is not None

    async def hold(self, limit: int) -> bytes:
        if self._held is not None:
            return self._held
        held = await self._gather(limit)
        if len(held) > limit:
            raise BodyTooLarge(f"the body is larger than {limit} bytes")
        return self._keep(held)

    async def spool(self, feed: Callable[[bytes], None], in_memory: int) -> bytes | None:
        whole = self.take_buffered()
        if whole is None:
            whole = await self._take(feed, in_memory)
        if whole is None:
            return None
        if len(whole) > _FED_AT_ONCE:
            await asyncio.to_thread(feed, whole)
        else:
            feed(whole)
        return whole

    def close(self) -> None:
        """The request has ended: what is kept of its body on disk is freed. Safe to call twice."""
        if self._spool is not None:
            self._spool.close()

    async def drop(self, most: int, within_s: float) -> None:
        """Read what is left and forget it, up to `most` bytes and `within_s` seconds."""
        self._limit = None
        try:
            async with asyncio.timeout(within_s):
                while most > 0 and (piece := await self._next()):
                    most -= len(piece)
        except (TimeoutError, CallerGone):
            return

    def _keep(self, whole: bytes) -> bytes:
        self._held = whole
        self.length = len(whole)
        return whole

    async def _take(self, feed: Callable[[bytes], None], in_memory: int) -> bytes | None:
        """The whole body, or None once it is on disk; its caller is read only as fast as the disk takes it."""
        batch = await self._gather(in_memory)
        if len(batch) <= in_memory:
            return self._keep(batch)
        spool = await Spool.open()
        try:
            while batch:
                await spool.append(batch, feed)
                # Freed before the next one is gathered: an upload must not cost two.
                batch = b""
                batch = await self._gather(_BATCH)
        except BaseException:
            spool.close()
            raise
        self._spool = spool
        self.length = spool.size
        return None

    async def _gather(self, most: int) -> bytes:
        """What comes until the end, or until more than `most` bytes are here.

        One buffer and no list: of a body in chunks of one byte, each object would be forty times its content.
        """
        assert self._spool is None, "the caller's body has been read; what follows would pass for an empty one"
        gathered = BytesIO()
        while gathered.tell() <= most and (piece := await self._next()):
            gathered.write(piece)
        return gathered.getvalue()

    async def _next(self) -> bytes:
        try:
            async with asyncio.timeout(_STALL_S):
                piece = await self._content.readany()
        except TimeoutError:
            raise CallerGone(f"nothing more of the request's body came for {_STALL_S:g} s") from None
        except (OSError, HttpProcessingError, web.RequestPayloadError):
            raise CallerGone("the request's body broke off, or its framing is faulty") from None
        except RuntimeError:
            # aiohttp's word where the connection had ended before the wait for its next bytes began.
            if self._protocol.connected:
                raise
            raise CallerGone("the caller left before its request's body was whole") from None
        self._count(piece)
        return piece

    def _count(self, piece: bytes) -> None:
        self._seen += len(piece)
        if self._limit is not None and self._seen > self._limit:
            raise BodyTooLarge(f"the body is larger than {self._limit} bytes")
