"""One request's answer on a connection: parsed as it comes, held back for a slow caller, whole by its own framing."""

import asyncio
from collections import deque
from typing import Any

import httptools

from gateway.core.faults import BrokenAnswer
from gateway.core.request import HeaderPairs
from gateway.core.rule import Upstream
from gateway.upstream.connection_auth import wants_connection_authenticated
from gateway.upstream.headers import without_cookies
from gateway.upstream.location import NAMES as PLACES
from gateway.upstream.location import as_agents_know
from gateway.upstream.wire import Wire

# Reading stops above the high mark and goes on below the low one: what one slow caller can hold of this process.
_HIGH_WATER = 256 << 10
_LOW_WATER = 64 << 10

_BODILESS = frozenset((204, 304))
_HTTP, _HEAD_END = b"HTTP/", b"\r\n\r\n"
# `HTTP/1.1 100`.
_TO_STATUS = 12


class Exchange:
    """Implements `ports.Answer`. Made when the request is sent; `head` waits for the answer's head.

    An interim answer (1xx) is read over. A switch of protocols, a transfer coding other than `chunked`, a head over the
    limit, and whatever llhttp refuses (strict, RFC 9112) break the exchange: such an answer proves nothing.
    """

    __slots__ = (
        "_fields",
        "_head_bytes",
        "_head_limit",
        "_head_only",
        "_held",
        "_keep_alive",
        "_parser",
        "_pieces",
        "_start",
        "_surplus",
        "_until_close",
        "_upstream",
        "_waiter",
        "_wire",
        "broken",
        "bytes_in",
        "complete",
        "has_head",
        "headers",
        "is_stream",
        "own_headers",
        "reason",
        "status",
        "timed_out",
    )

    def __init__(self, wire: Wire, *, head_only: bool, head_limit: int, upstream: Upstream | None = None) -> None:
        self.status = 0
        self.is_stream = False
        self.reason = b""
        self.headers: HeaderPairs = ()
        self.own_headers: HeaderPairs = ()
        self.broken: str | None = None
        self.timed_out = False
        self.complete = False
        self.bytes_in = 0
        self._wire = wire
        self._head_only = head_only
        self._head_limit = head_limit
        self._upstream = upstream
        # Typed by nobody; None once the exchange is over.
        self._parser: Any = httptools.HttpResponseParser(self)
        # What came of an answer whose status line is not known yet; None once it is.
        self._start: bytes | None = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._head_bytes = 0
        self.has_head = False
        self._until_close = False
        self._keep_alive = False
        self._surplus = False
        self._pieces: deque[bytes] = deque()
        self._held = 0
        self._waiter: asyncio.Future[None] | None = None
        wire.on_data = self.feed
        wire.on_end = self.end
        wire.resume()

    # What the wire tells.

    def feed(self, data: bytes) -> None:
        self.bytes_in += len(data)
        if self.complete or self._parser is None:
            self._surplus = True
            return
        if self._start is not None:
            if b"2" <= data[9:10] <= b"5" and data[:5] == _HTTP and not self._start:
                self._start = None
            else:
                data = self._begin(self._start + data)
        if data:
            self._parse(data)
        if not self.has_head and self.bytes_in > self._head_limit:
            self._fail_head()
        if self._held > _HIGH_WATER:
            self._wire.pause()
        self._wake()

    def _begin(self, data: bytes) -> bytes:
        """Look at each status line before it is parsed: llhttp takes RTSP and ICE for HTTP, whose statuses mean
        something else. What may be parsed of the last answer is returned; what is left of an interim one waits.
        """
        while self.broken is None:
            data = data.lstrip(b"\r\n")
            if not data.startswith(_HTTP[: len(data)]):
                self.fail("the upstream's answer is not HTTP")
            elif len(data) < _TO_STATUS:
                self._start = data
                return b""
            elif data[9:10] != b"1" or data[9:_TO_STATUS] == b"101":
                self._start = None
                return data
            else:
                end = data.find(_HEAD_END) + len(_HEAD_END)
                if end < len(_HEAD_END):
                    self._start = data
                    return b""
                self._parse(data[:end])
                data = data[end:]
        return b""

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self.on_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            self.fail(f"the upstream's answer is not valid HTTP: {error.__context__ or error}")

    def end(self, error: OSError | None) -> None:
        if self._until_close and error is None and self.has_head and not self.complete:
            self.complete = True
            self._surplus = True
        elif not self.complete:
            self.fail(f"the upstream closed the connection: {error}" if error else "the upstream closed the connection")
        else:
            self._surplus = True
        self._wake()

    def expire(self) -> None:
        """The time for the answer's head is over; what comes all the same is still read."""
        self.timed_out = True
        self._wake()

    def let_go(self) -> None:
        """The exchange is over: nothing more is parsed. It and its parser know each other, and each other's memory
        would wait for the collector of cycles."""
        self._parser = None

    def fail(self, why: str, *, timed_out: bool = False) -> None:
        """Give the exchange up: whoever waits for it is told, and its connection is closed."""
        if self.broken is None and not self.complete:
            self.broken = why
            self.timed_out = timed_out
            self._wire.close()
            self._wake()

    def _fail_head(self) -> None:
        self.fail(f"the head of the upstream's answer is larger than {self._head_limit} bytes")

    # What llhttp tells.

    def on_status(self, reason: bytes) -> None:
        if not self.complete:
            self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.has_head:
            # A trailer: it cannot be told apart from a header any more once it is passed on (RFC 9110, section 6.5).
            return
        self._fields.append((name, value))
        self._head_bytes += len(name) + len(value) + 4
        if self._head_bytes > self._head_limit:
            self._fail_head()

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        # After the end of an answer nothing counts: a second one in the same read must not speak for the first.
        if self.broken is not None or self.complete:
            return
        if status < 200:
            # No interim answer (`000`): nothing would come behind it.
            if status < 100:
                self.fail(f"the upstream's answer has the status {status:03}, which HTTP does not have")
            return
        self.status = status
        codings, has_length, has_place = [], False, False
        for name, value in self._fields:
            lower = name.lower()
            if lower == b"transfer-encoding":
                codings.append(value.lower())
            elif lower == b"content-length":
                has_length = True
            elif lower == b"content-type" and value.lower().startswith(b"text/event-stream"):
                self.is_stream = True
            elif lower in PLACES:
                has_place = True
        self.headers = self.own_headers = self._passed()
        if has_place and self._upstream is not None:
            self.headers = as_agents_know(self.headers, self._upstream)
        if codings not in ([], [b"chunked"]):
            self.fail("the upstream's answer has a transfer coding other than chunked")
            return
        self.has_head = True
        # llhttp forgets it with the message's end.
        self._keep_alive = self._parser.should_keep_alive()
        if status == 401 and wants_connection_authenticated(self.headers):
            self._keep_alive = False
        if self._head_only or status in _BODILESS:
            self.complete = True
            # A body that does not belong here and comes all the same, late, would be the next request's answer.
            self._surplus = self._announces_body(codings)
        elif not codings:
            self._until_close = not has_length

    def _passed(self) -> HeaderPairs:
        drops_cookies = self._upstream is not None and self._upstream.drops_cookies
        return without_cookies(self._fields) if drops_cookies else tuple(self._fields)

    def _announces_body(self, codings: list[bytes]) -> bool:
        lengths = (value for name, value in self._fields if name.lower() == b"content-length")
        return bool(codings) or any(value.strip(b"0") for value in lengths)

    def on_body(self, piece: bytes) -> None:
        if self.complete:
            self._surplus = True
            return
        self._pieces.append(piece)
        self._held += len(piece)

    def on_message_complete(self) -> None:
        if self.has_head:
            self.complete = True
        else:
            self._fields.clear()
            self.reason = b""

    def on_upgrade(self, rest: bytes) -> None:  # noqa: ARG002  # a handshake, its subclass, keeps what follows the head
        """`rest` is what came behind the head of a 101."""
        self.fail("the upstream switched protocols unasked")

    def on_message_begin(self) -> None:
        if self.complete:
            self._surplus = True

    # What the sender and the flow ask.

    def waiter(self) -> asyncio.Future[None]:
        """A future that ends when anything happens on this exchange."""
        if self._waiter is None or self._waiter.done():
            self._waiter = self._wire.loop.create_future()
        return self._waiter

    async def head(self) -> bool:
        """Wait for the answer's head; False if the exchange broke, or its time was over, before it."""
        while not self.has_head and self.broken is None and not self.timed_out:
            await self.waiter()
        return self.has_head

    async def rest(self, keep: int) -> tuple[bool, bytes | None]:
        """Read an answer that is overdue, for nobody but the record: whether a whole one came, and its body.

        None for a body of more than `keep` bytes.
        """
        body: bytes | None = b""
        while True:
            taken = b"".join(self._pieces)
            self._pieces.clear()
            self._held = 0
            body = body + taken if body is not None and len(body) + len(taken) <= keep else None
            if self.complete or self.broken is not None:
                return self.complete, body
            self._wire.resume()
            await self.waiter()

    async def read(self, within_s: float | None) -> bytes:
        while not self._pieces:
            if self.broken is not None:
                raise BrokenAnswer(self.broken)
            if self.complete:
                return b""
            await self._something(within_s)
        piece = self._pieces.popleft()
        self._held -= len(piece)
        if self._held < _LOW_WATER and not self.complete:
            self._wire.resume()
        return piece

    async def read_small(self, limit: int) -> tuple[bytes, bool]:
        """What comes until the end or until more than `limit` bytes are here: the bytes, and whether that is all."""
        while not self.complete and self._held <= limit and self.broken is None:
            await self.waiter()
        if self.broken is not None:
            raise BrokenAnswer(self.broken)
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        if not self.complete:
            self._wire.resume()
        return data, self.complete

    @property
    def reusable(self) -> bool:
        """Whether the connection stands between two messages, by both sides' word and by the framing."""
        return (
            self.complete and not self._surplus and not self._until_close and self._keep_alive and not self._wire.closed
        )

    async def _something(self, within_s: float | None) -> None:
        waiter = self.waiter()
        if within_s is None:
            await waiter
            return
        done, _ = await asyncio.wait((waiter,), timeout=within_s)
        if not done:
            self.fail("the upstream sent nothing more in time", timed_out=True)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
