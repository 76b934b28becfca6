"""A request's body as it arrives from aiohttp: nothing is read before somebody asks, and nothing is read ahead."""

import asyncio

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from gateway.core.faults import BodyTooLarge, CallerGone


class IncomingBody:
    """Implements `ports.BodySource`."""

    def __init__(self, request: web.BaseRequest, length: int | None) -> None:
        self._content = request.content
        self._held: bytes | None = None
        self._given = False
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
        if self._held is not None:
            return self._held
        if not self._content.is_eof() or self._content.exception() is not None:
            return None
        held = self._content.read_nowait(-1)
        self._count(held)
        self._held = held
        return held

    async def read(self) -> bytes:
        if self._held is not None:
            piece = b"" if self._given else self._held
            self._given = True
            return piece
        return await self._next()

    async def hold(self, limit: int) -> bytes:
        if self._held is None:
            pieces: list[bytes] = []
            size = 0
            while piece := await self._next():
                size += len(piece)
                if size > limit:
                    raise BodyTooLarge(f"the body is larger than {limit} bytes")
                pieces.append(piece)
            self._held = b"".join(pieces)
            self.length = len(self._held)
        return self._held

    async def drop(self, most: int, within_s: float) -> None:
        """Read what is left and forget it, up to `most` bytes and `within_s` seconds."""
        self._limit = None
        try:
            async with asyncio.timeout(within_s):
                while most > 0 and (piece := await self._next()):
                    most -= len(piece)
        except (TimeoutError, CallerGone):
            return

    async def _next(self) -> bytes:
        try:
            piece = await self._content.readany()
        except (OSError, HttpProcessingError, web.RequestPayloadError):
            raise CallerGone("the request's body broke off, or its framing is faulty") from None
        self._count(piece)
        return piece

    def _count(self, piece: bytes) -> None:
        self._seen += len(piece)
        if self._limit is not None and self._seen > self._limit:
            raise BodyTooLarge(f"the body is larger than {self._limit} bytes")
