"""Sends one request once, and says what the wire showed."""

import asyncio
from typing import Literal, Protocol

from gateway.core.clock import Clock, Deadline
from gateway.core.faults import BodyTooLarge, CallerGone
from gateway.core.frozen import frozen
from gateway.core.outcome import LateAnswer, NoReply, NotSent, Overdue
from gateway.core.places import Places
from gateway.core.request import Request
from gateway.core.rule import Upstream
from gateway.core.session import Switched
from gateway.core.write import Admitted, Write
from gateway.upstream.connection_auth import authenticates_connection
from gateway.upstream.exchange import Exchange
from gateway.upstream.handshake import Declined, Handshakes
from gateway.upstream.headers import request_head
from gateway.upstream.own import NOWHERE, OwnListeners
from gateway.upstream.pool import Crowded, Pool, Unreachable
from gateway.upstream.reply import Reply
from gateway.upstream.wire import Wire

# A request of these methods without a body has no framing field (RFC 9110, section 8.6).
_BODILESS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))
# A request up to this size leaves in one piece: a peer that reads takes it at once.
_AT_ONCE = 32 << 10
# Methods whose body every server reads.
_WITH_BODY = frozenset(("POST", "PUT", "PATCH"))


class Body(Protocol):
    """As much of a request's body source as sending needs."""

    @property
    def length(self) -> int | None: ...

    async def read(self) -> bytes: ...

    def take_buffered(self) -> bytes | None: ...

    def rewind(self) -> bool: ...


class PastDeadline(Exception):
    """The write's deadline has passed; what has not left stays here."""


class HttpSender:
    """Implements `ports.Sender` over HTTP/1.1. One pool an upstream; a reloaded policy keeps it where it can."""

    def __init__(self, clock: Clock, places: Places | None = None, own: OwnListeners = NOWHERE) -> None:
        self._clock = clock
        self._places = places
        self._own = own
        self._handshakes = Handshakes(clock, own)
        self._pools: dict[str, tuple[Upstream, Pool]] = {}

    async def send(
        self, admitted: Admitted, request: Request, body: Body, deadline: Deadline
    ) -> Reply | Overdue | NotSent | NoReply:
        upstream = admitted.write.rule.upstream
        attempt = await self._attempt(upstream, request, body, deadline, for_read=False)
        if isinstance(attempt, NotSent):
            return attempt
        result = await attempt.run(upstream, request, admitted.write)
        if isinstance(result, NoReply) and attempt.is_overdue:
            return Overdue(result, lambda keep: attempt.listen(upstream.timeouts.late_s, keep))
        return attempt.concluded(result)

    async def switch(
        self,
        admitted: Admitted,
        request: Request,
        body: Body,  # noqa: ARG002  # a handshake has none; the port is the same as for any write
        deadline: Deadline,
    ) -> Reply | Switched | NotSent | NoReply:
        answered = await self._handshakes.send(admitted, request, deadline)
        return Reply(answered.exchange, answered.give_back) if isinstance(answered, Declined) else answered

    async def read(self, upstream: Upstream, request: Request, body: Body) -> Reply | NotSent | NoReply:
        return await self._send_unfenced(upstream, request, body, for_read=True)

    async def pass_on(self, upstream: Upstream, request: Request, body: Body) -> Reply | NotSent | NoReply:
        return await self._send_unfenced(upstream, request, body, for_read=False)

    async def _send_unfenced(
        self, upstream: Upstream, request: Request, body: Body, *, for_read: bool
    ) -> Reply | NotSent | NoReply:
        deadline = self._clock.after(upstream.timeouts.total_s)
        attempt = await self._attempt(upstream, request, body, deadline, for_read=for_read)
        if isinstance(attempt, NotSent):
            return attempt
        if upstream.term.is_over and not for_read:
            return attempt.concluded(NotSent("unreachable", "the policies changed while a connection was awaited"))
        result = await attempt.run(upstream, request, None)
        # The time was for the head; a body may take longer.
        attempt.stop()
        return attempt.concluded(result)

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
            pool = Pool(upstream, asyncio.get_running_loop().time, self._places, self._own)
        self._pools[upstream.name] = (upstream, pool)
        return pool

    async def _attempt(
        self, upstream: Upstream, request: Request, body: Body, deadline: Deadline, *, for_read: bool
    ) -> "_Attempt | NotSent":
        """Take the body's beginning, then a connection: a body that never comes occupies none."""
        try:
            whole = body.take_buffered()
        except BodyTooLarge as error:
            return NotSent("too-large", str(error))
        outgoing = await self._begin(upstream, body, deadline) if whole is None else _Outgoing(whole, None)
        if isinstance(outgoing, NotSent):
            return outgoing
        try:
            pool = self._pool(upstream)
            wire = (None if for_read else pool.idle()) or await pool.acquire(for_read=for_read)
        except Crowded as error:
            return NotSent("crowded", str(error))
        except (Unreachable, OSError) as error:
            return NotSent("unreachable", str(error))
        expected = _Expected(for_read, request.method == "HEAD", upstream)
        return _Attempt(pool, wire, outgoing, expected, self._clock, deadline)

    async def _begin(self, upstream: Upstream, body: Body, deadline: Deadline) -> "_Outgoing | NotSent":
        try:
            async with asyncio.timeout(max(0.0, self._clock.left(deadline))):
                beginning = await body.read()
        except TimeoutError:
            return NotSent("caller-broke", "the request's body did not begin within the time for the whole")
        except CallerGone as error:
            return NotSent("caller-broke", str(error))
        except BodyTooLarge as error:
            return NotSent("too-large", str(error))
        if upstream.term.is_over:
            # What is kept is judged anew, as what comes too late is.
            cause: Literal["late", "unreachable"] = "late" if body.rewind() else "unreachable"
            return NotSent(cause, "the policies changed while the request's body was awaited")
        return _Outgoing(beginning, body)


@frozen
class _Expected:
    """What kind of exchange it is: a read's connection is counted apart, and an answer to HEAD has no body. Whether
    cookies are dropped and places are mapped is not the pool's to say, which outlives its policy."""

    for_read: bool
    head_only: bool
    upstream: Upstream | None = None


@frozen
class _Outgoing:
    """A body as far as it is here: `beginning` is all of it where nothing more follows (`rest` is None)."""

    beginning: bytes
    rest: Body | None


def _connects_alike(one: Upstream, other: Upstream) -> bool:
    return (one.origin, one.tls, one.limits, one.timeouts) == (other.origin, other.tls, other.limits, other.timeouts)


class _Attempt:
    """One request on one connection, with the timer that ends it at its deadline, and the connection's way back."""

    __slots__ = (
        "_bytes_before",
        "_clock",
        "_deadline",
        "_exchange",
        "_for_read",
        "_given_back",
        "_last",
        "_outgoing",
        "_pool",
        "_sent_whole",
        "_timer",
        "_wire",
    )

    def __init__(
        self, pool: Pool, wire: Wire, outgoing: _Outgoing, expected: _Expected, clock: Clock, deadline: Deadline
    ) -> None:
        self._pool = pool
        self._wire = wire
        self._outgoing = outgoing
        self._clock = clock
        self._deadline = deadline
        self._for_read = expected.for_read
        self._exchange = Exchange(
            wire, head_only=expected.head_only, head_limit=pool.head_limit, upstream=expected.upstream
        )
        self._given_back = False
        self._bytes_before = wire.bytes_out
        self._sent_whole = False
        self._last = False
        self._timer = self._arm()

    def stop(self) -> None:
        self._timer.cancel()

    def _arm(self) -> asyncio.TimerHandle:
        left = max(0.0, self._clock.left(self._deadline))
        return self._wire.loop.call_later(left, self._expired)

    def _expired(self) -> None:
        if self._clock.left(self._deadline) > 0:
            self._timer = self._arm()
        elif self._sent_whole and not self._exchange.has_head and not self._wire.unsent:
            self._exchange.expire()
        else:
            self._exchange.fail("the upstream's answer was not whole in time", timed_out=True)

    def _guard(self) -> None:
        if self._clock.left(self._deadline) <= 0:
            raise PastDeadline
        if self._exchange.bytes_in and self._nothing_left:
            raise ConnectionAbortedError("the upstream answered before anything was sent")

    @property
    def _nothing_left(self) -> bool:
        return self._wire.bytes_out == self._bytes_before

    @property
    def is_overdue(self) -> bool:
        """Sent whole, unanswered in time, and the connection still open."""
        return self._sent_whole and self._exchange.timed_out and self._exchange.broken is None

    def concluded(self, result: NotSent | NoReply | None) -> "Reply | NotSent | NoReply":
        """What the sender tells: an answer whose head came keeps the connection until it is closed."""
        if result is None:
            return Reply(self._exchange, self._give_back)
        # Not even after NotSent: a TLS record that was made and not sent would be missing on the connection.
        self._give_back(reusable=False)
        return result

    async def listen(self, within_s: float, keep: int) -> LateAnswer | None:
        """Read an overdue answer on; the whole one, with its body if that is at most `keep` bytes, or None."""
        whole, body = False, None
        try:
            async with asyncio.timeout(within_s):
                whole, body = await self._exchange.rest(keep)
        except TimeoutError:
            pass
        finally:
            self._give_back(reusable=False)
        if not whole:
            return None
        return LateAnswer(self._exchange.status, self._exchange.headers, body, self._exchange.own_headers)

    def _give_back(self, reusable: bool) -> None:
        if not self._given_back:
            self._given_back = True
            self.stop()
            between = reusable and self._sent_whole and not self._last
            self._pool.release(self._wire, reusable=between, for_read=self._for_read)
            self._exchange.let_go()

    async def run(self, upstream: Upstream, request: Request, write: Write | None) -> NotSent | NoReply | None:
        """Send and wait for the answer's head; None: it is here. Whoever interrupts this ends the connection."""
        try:
            failed = await self._send(upstream, request, write)
            if failed is not None or self._exchange.has_head:
                return failed
            return await self._answer()
        except BaseException:
            self._give_back(reusable=False)
            raise

    async def _send(self, upstream: Upstream, request: Request, write: Write | None) -> NotSent | NoReply | None:
        """Send as much as the upstream takes; not None where that ends it without an answer."""
        try:
            if self._outgoing.rest is None:
                await self._send_whole(upstream, request, write)
            else:
                await self._send_in_pieces(self._outgoing.rest, upstream, request, write)
        except PastDeadline:
            if self._nothing_left:
                return self._late()
            self._exchange.fail("the write's deadline passed while it was being sent", timed_out=True)
        except (CallerGone, BodyTooLarge) as error:
            # The upstream must never hold a whole request that its caller did not send whole.
            self._wire.close()
            return NoReply("caller-broke", str(error))
        except OSError as error:
            if self._nothing_left:
                self._wire.close()
                return self._late() if self._exchange.timed_out else NotSent("unreachable", str(error))
            # The upstream stopped reading; an answer that it sent before may still be there.
        return None

    def _late(self) -> NotSent:
        """Late is what may be tried again; a body whose first piece was taken from its caller cannot be."""
        rest = self._outgoing.rest
        cause: Literal["late", "unreachable"] = "late" if rest is None or rest.rewind() else "unreachable"
        return NotSent(cause, "the write's deadline had passed before its first byte")

    async def _answer(self) -> NoReply | None:
        if await self._exchange.head():
            return None
        why = self._exchange.broken or "no answer within the write's time"
        if self._exchange.timed_out:
            return NoReply("timeout", why)
        return NoReply("malformed" if self._exchange.bytes_in else "closed", why)

    async def _send_whole(self, upstream: Upstream, request: Request, write: Write | None) -> None:
        piece = self._outgoing.beginning
        framing = b"" if not piece and request.method in _BODILESS else _length(len(piece))
        if (piece and request.method not in _WITH_BODY) or authenticates_connection(request.headers):
            framing += self._as_last()
        unfenced = write is None and not self._for_read
        data = request_head(upstream, request, write=write, framing=framing, unfenced=unfenced) + piece
        self._wire.give_up_after(self._clock.left(self._deadline))
        sent = self._wire.send_now(data, self._guard) if len(data) <= _AT_ONCE else 0
        if sent < len(data):
            await self._wire.send_end(data[sent:], self._guard)
        self._sent_whole = True

    async def _send_in_pieces(self, rest: Body, upstream: Upstream, request: Request, write: Write | None) -> None:
        """Stop where the upstream answers, or breaks off, before all of it has left."""
        piece, length = self._outgoing.beginning, rest.length
        framing = b"Transfer-Encoding: chunked\r\n" if length is None else _length(length)
        if request.method not in _WITH_BODY or authenticates_connection(request.headers):
            framing += self._as_last()
        unfenced = write is None and not self._for_read
        unsent = request_head(upstream, request, write=write, framing=framing, unfenced=unfenced)
        self._wire.give_up_after(self._clock.left(self._deadline))
        left = length
        while True:
            if left is None:
                ends = not piece
                piece = b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b"0\r\n\r\n"
            else:
                left -= len(piece)
                ends = left <= 0
            if ends:
                await self._wire.send_end(unsent + piece, self._guard)
                self._sent_whole = True
                return
            await self._wire.send(unsent + piece, self._guard)
            unsent = b""
            following = await self._next_piece(rest)
            if following is None:
                return
            piece = following

    def _as_last(self) -> bytes:
        """This one must be the last: an upstream may take its body, or what its sender proved, for the next one's."""
        self._last = True
        return b"Connection: close\r\n"

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
            if reading.cancel():
                # Whoever reads on, to drop what is left, must find no other reader.
                await asyncio.wait((reading,))


def _length(length: int) -> bytes:
    return b"Content-Length: %d\r\n" % length
