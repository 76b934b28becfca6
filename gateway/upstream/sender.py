"""Sends one request once, and says what the wire showed."""

import asyncio
from collections.abc import Callable
from typing import Literal, Protocol

from gateway.core.clock import Clock, Deadline
from gateway.core.faults import BodyTooLarge, CallerGone
from gateway.core.outcome import NoReply, NotSent
from gateway.core.request import HeaderPairs, Request
from gateway.core.rule import Upstream
from gateway.core.write import Admitted
from gateway.upstream.exchange import Exchange
from gateway.upstream.headers import request_head
from gateway.upstream.pool import Pool, Unreachable
from gateway.upstream.wire import Wire


class Body(Protocol):
    """As much of a request's body source as sending needs."""

    @property
    def length(self) -> int | None: ...

    async def read(self) -> bytes: ...

    def take_buffered(self) -> bytes | None: ...


class PastDeadline(Exception):
    """The write's deadline has passed; what has not left stays here."""


class Reply:
    """Implements `ports.Answer`: an exchange whose head has come, and the way back for its connection."""

    __slots__ = ("_exchange", "_give_back", "headers", "is_stream", "read", "read_small", "reason", "status")

    def __init__(self, exchange: Exchange, give_back: Callable[[bool], None]) -> None:
        self._exchange = exchange
        self._give_back = give_back
        self.status: int = exchange.status
        self.reason: bytes = exchange.reason
        self.headers: HeaderPairs = exchange.headers
        self.is_stream: bool = any(
            name.lower() == b"content-type" and value.lower().startswith(b"text/event-stream")
            for name, value in exchange.headers
        )
        self.read = exchange.read
        self.read_small = exchange.read_small

    def close(self) -> None:
        self._give_back(self._exchange.reusable)


class HttpSender:
    """Implements `ports.Sender` over HTTP/1.1. One pool an upstream; a reloaded policy keeps it where it can."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pools: dict[str, tuple[Upstream, Pool]] = {}

    async def send(
        self, admitted: Admitted, request: Request, body: Body, deadline: Deadline
    ) -> Reply | NotSent | NoReply:
        upstream = admitted.write.rule.upstream
        return await self._exchange(upstream, request, body, admitted.write.epoch, deadline, bounded=True)

    async def read(self, upstream: Upstream, request: Request, body: Body) -> Reply | NotSent | NoReply:
        deadline = self._clock.after(upstream.timeouts.total_s)
        return await self._exchange(upstream, request, body, None, deadline, bounded=False)

    def close(self) -> None:
        for _, pool in self._pools.values():
            pool.retire()

    def _pool(self, upstream: Upstream) -> Pool:
        known = self._pools.get(upstream.name)
        if known is not None and known[0] is upstream:
            return known[1]
        if known is not None and _connects_alike(known[0], upstream):
            pool = known[1]
        else:
            if known is not None:
                known[1].retire()
            pool = Pool(upstream, asyncio.get_running_loop().time)
        self._pools[upstream.name] = (upstream, pool)
        return pool

    async def _exchange(
        self, upstream: Upstream, request: Request, body: Body, epoch: int | None, deadline: Deadline, *, bounded: bool
    ) -> Reply | NotSent | NoReply:
        try:
            pool = self._pool(upstream)
            wire = await pool.acquire()
        except (Unreachable, OSError) as error:
            return NotSent("unreachable", str(error))
        head_only = request.method == "HEAD"
        attempt = _Attempt(wire, self._clock, deadline, head_only=head_only, head_limit=upstream.limits.response_head)
        try:
            result = await attempt.run(upstream, request, body, epoch)
        except BaseException:
            attempt.stop()
            pool.release(wire, reusable=False)
            raise
        if not isinstance(result, Exchange):
            attempt.stop()
            # Not even after NotSent: a TLS record that was made and not sent would be missing on the connection.
            pool.release(wire, reusable=False)
            return result
        if not bounded:
            attempt.stop()
        return Reply(result, _once(pool, wire, attempt))


def _once(pool: Pool, wire: Wire, attempt: "_Attempt") -> Callable[[bool], None]:
    given = False

    def give_back(reusable: bool) -> None:
        nonlocal given
        if not given:
            given = True
            attempt.stop()
            pool.release(wire, reusable=reusable and attempt.sent_whole)

    return give_back


def _connects_alike(one: Upstream, other: Upstream) -> bool:
    return (one.origin, one.tls, one.limits, one.timeouts) == (other.origin, other.tls, other.limits, other.timeouts)


class _Attempt:
    """One request on one connection, with the timer that breaks it off at its deadline."""

    def __init__(self, wire: Wire, clock: Clock, deadline: Deadline, *, head_only: bool, head_limit: int) -> None:
        self._wire = wire
        self._clock = clock
        self._deadline = deadline
        self._exchange = Exchange(wire, head_only=head_only, head_limit=head_limit)
        self._bytes_before = wire.bytes_out
        self._body_taken = False
        self.sent_whole = False
        self._timer = self._arm()

    def stop(self) -> None:
        self._timer.cancel()

    def _arm(self) -> asyncio.TimerHandle:
        left = max(0.0, self._clock.left(self._deadline))
        return asyncio.get_running_loop().call_later(left, self._expired)

    def _expired(self) -> None:
        if self._clock.left(self._deadline) > 0:
            self._timer = self._arm()
        else:
            self._exchange.fail("the upstream's answer was not whole in time", timed_out=True)

    def _guard(self) -> None:
        if self._clock.left(self._deadline) <= 0:
            raise PastDeadline

    @property
    def _nothing_left(self) -> bool:
        return self._wire.bytes_out == self._bytes_before

    async def run(
        self, upstream: Upstream, request: Request, body: Body, epoch: int | None
    ) -> Exchange | NotSent | NoReply:
        try:
            self.sent_whole = await self._send(upstream, request, body, epoch)
        except PastDeadline:
            if self._nothing_left:
                return self._late()
            self._exchange.fail("the write's deadline passed while it was being sent", timed_out=True)
        except (CallerGone, BodyTooLarge) as error:
            # The upstream must never hold a whole request that its caller did not send whole.
            self._wire.close()
            if not self._nothing_left:
                return NoReply("caller-broke", str(error))
            return NotSent("too-large" if isinstance(error, BodyTooLarge) else "caller-broke", str(error))
        except OSError as error:
            if self._nothing_left:
                self._wire.close()
                return self._late() if self._exchange.timed_out else NotSent("unreachable", str(error))
            # The upstream stopped reading; an answer that it sent before may still be there.
        if self._nothing_left and not self._exchange.has_head:
            # The caller's body had not begun when the connection ended or the time was up.
            why = self._exchange.broken or "the upstream closed the connection"
            return self._late() if self._exchange.timed_out else NotSent("unreachable", why)
        return await self._answer()

    def _late(self) -> NotSent:
        """Late is what may be tried again; a body whose first piece was taken from its caller cannot be."""
        cause: Literal["late", "unreachable"] = "unreachable" if self._body_taken else "late"
        return NotSent(cause, "the write's deadline had passed before its first byte")

    async def _answer(self) -> Exchange | NoReply:
        if await self._exchange.head():
            return self._exchange
        why = self._exchange.broken or "the upstream closed the connection"
        if self._exchange.timed_out:
            return NoReply("timeout", why)
        return NoReply("malformed" if self._exchange.bytes_in else "closed", why)

    async def _send(self, upstream: Upstream, request: Request, body: Body, epoch: int | None) -> bool:
        """Send the request; False if the upstream answered, or broke off, before all of it had left."""
        whole = body.take_buffered()
        if whole is not None:
            framing = b"" if not whole and request.method in _BODILESS else _length(len(whole))
            await self._wire.send(request_head(upstream, request, epoch=epoch, framing=framing) + whole, self._guard)
            return True
        length = body.length
        framing = b"Transfer-Encoding: chunked\r\n" if length is None else _length(length)
        unsent = request_head(upstream, request, epoch=epoch, framing=framing)
        while True:
            # The head waits for the first piece: a body that never comes leaves nothing at the upstream.
            piece = await self._next_piece(body)
            if piece is None:
                return False
            self._body_taken = True
            if length is None:
                piece, last = b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b"0\r\n\r\n", not piece
            else:
                last = not piece
            await self._wire.send(unsent + piece, self._guard)
            unsent = b""
            if last:
                return True

    async def _next_piece(self, body: Body) -> bytes | None:
        """The caller's next piece; None if the upstream answered, or the exchange broke, before it came."""
        reading = asyncio.ensure_future(body.read())
        try:
            while not reading.done():
                if self._exchange.has_head or self._exchange.broken is not None:
                    return None
                await asyncio.wait((reading, self._exchange.waiter()), return_when=asyncio.FIRST_COMPLETED)
            return await reading
        finally:
            reading.cancel()


# A request of these methods without a body has no framing field (RFC 9110, section 8.6).
_BODILESS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))


def _length(length: int) -> bytes:
    return b"Content-Length: %d\r\n" % length
