"""A request's body as it arrives from aiohttp: nothing is read before somebody asks, and nothing is read ahead."""

import asyncio
from collections.abc import Callable
from io import BytesIO

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from gateway.core.faults import BodyTooLarge, CallerGone
from gateway.core.places import Places
from gateway.proxy.memory import Memory
from gateway.proxy.spool import Spool

# What is gathered for one write to the disk: an upload costs this much memory, and one piece of aiohttp's buffers.
_BATCH = 512 << 10
# A digest of so much takes less than a millisecond (BLAKE2b: 1.3 GiB/s); beyond it others would wait.
_FED_AT_ONCE = 1 << 20
# An agent that was stopped in its upload may come back, but not after this: its connection is another's.
_STALL_S = 60.0
# As much has to come within that time, or the end: whoever sends a byte a minute would hold a connection, a place and a
# piece of the disk for days. The worst mobile line brings it in a quarter of a minute.
_LEAST_IN_TIME = 16 << 10


class IncomingBody:
    """Implements `ports.BodySource`."""

    def __init__(self, request: web.BaseRequest, length: int | None, memory: Memory | None = None) -> None:
        self._content = request.content
        self._protocol = request.protocol
        self._begun = b""
        self._held: bytes | None = None
        self._spool: Spool | None = None
        self._at = 0
        self._limit: int | None = None
        self._seen = 0
        self._patience_s = _STALL_S
        self._in_time = 0
        self._memory = memory
        self._counted = 0
        self._places: Places | None = None
        self.length = length
        self.waited_s = 0.0
        """How long it was waited for before its request could be judged."""

    def wait_in(self, places: Places, *, first: bool) -> bool:
        """Take a place among those whose bodies are still to come, until this one is here; False if there is none."""
        if not places.take("body", first=first):
            return False
        self._places = places
        self._content.on_eof(self._leave)
        return True

    def _leave(self) -> None:
        if self._places is not None:
            self._places.free("body")
            self._places = None

    def restrict(self, limit: int | None) -> None:
        """Whoever reads past `limit` bytes is stopped by BodyTooLarge."""
        self._limit = limit

    @property
    def is_read(self) -> bool:
        """Whether the body's last byte has been taken from the connection, by whomever."""
        return self._held is not None or self._content.is_eof()

    def take_buffered(self) -> bytes | None:
        if self._held is not None or self._spool is not None:
            return self._held
        if not self._content.is_eof() or self._content.exception() is not None:
            return None
        begun, self._begun = self._begun, b""
        held = self._content.read_nowait(-1)
        self._count(held)
        return self._keep(begun + held)

    async def begin(self) -> None:
        if self._held is None and self._spool is None and not self._begun:
            self._begun = await self._next()

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
        if self._spool is not None:
            await self._spool.feed(feed)
            return None
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
        """The request has ended: what is kept of its body is freed. Safe to call twice."""
        self._leave()
        if self._counted:
            self._take_memory(0)
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
        if self._memory is not None:
            in_memory = self._memory.allows(in_memory if self.length is None else min(in_memory, self.length))
        # Before it is here: of those that come slowly there may be thousands.
        self._take_memory(in_memory)
        batch = await self._gather(in_memory)
        if len(batch) <= in_memory:
            self._take_memory(len(batch))
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
        self._take_memory(0)
        self._spool = spool
        self.length = spool.size
        return None

    def _take_memory(self, size: int) -> None:
        """So much of the body is in memory, or may soon be."""
        if self._memory is not None:
            self._memory.free(self._counted)
            self._memory.take(size)
            self._counted = size

    async def _gather(self, most: int) -> bytes:
        """What comes until the end, or until more than `most` bytes are here.

        One buffer and no list: of a body in chunks of one byte, each object would be forty times its content.
        """
        assert self._spool is None, "the caller's body has been read; what follows would pass for an empty one"
        gathered, asked = BytesIO(), asyncio.get_running_loop().time()
        while gathered.tell() <= most and (piece := await self._next()):
            gathered.write(piece)
        self.waited_s += asyncio.get_running_loop().time() - asked
        return gathered.getvalue()

    async def _next(self) -> bytes:
        if self._begun:
            begun, self._begun = self._begun, b""
            # By the limit of now, which may be another one.
            self._count(b"")
            return begun
        asked = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._patience_s):
                piece = await self._content.readany()
        except TimeoutError:
            least = f"less than {_LEAST_IN_TIME} bytes" if self._in_time else "nothing more"
            raise CallerGone(f"{least} of the request's body came within {_STALL_S:g} s") from None
        except (OSError, HttpProcessingError, web.RequestPayloadError):
            raise CallerGone("the request's body broke off, or its framing is faulty") from None
        except RuntimeError:
            # aiohttp's word where the connection had ended before the wait for its next bytes began.
            if self._protocol.connected:
                raise
            raise CallerGone("the caller left before its request's body was whole") from None
        self._spend(asked, len(piece))
        self._count(piece)
        return piece

    def _spend(self, asked: float, size: int) -> None:
        """Only the time counts in which somebody waits for the caller: an upstream may be slow to take its bytes."""
        self._in_time += size
        if self._in_time >= _LEAST_IN_TIME:
            self._patience_s, self._in_time = _STALL_S, 0
        else:
            self._patience_s -= asyncio.get_running_loop().time() - asked

    def _count(self, piece: bytes) -> None:
        self._seen += len(piece)
        if self._limit is not None and self._seen > self._limit:
            raise BodyTooLarge(f"the body is larger than {self._limit} bytes")
