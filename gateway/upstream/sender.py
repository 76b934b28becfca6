"""Sends one request once, and says what the wire showed."""

import asyncio
from functools import partial
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
from gateway.upstream.early import EarlyReply, Upload
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
# A write whose body takes longer to begin is admitted anew: a pause holds within a second.
_BEGINS_SOON_S = 0.5
# Methods whose body every server reads.
_WITH_BODY = frozenset(("POST", "PUT", "PATCH"))


class Body(Protocol):
    """As much of a request's body source as sending needs."""

    @property
    def length(self) -> int | None: ...

    async def begin(self) -> None: ...

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
        write = admitted.write
        upstream = write.rule.upstream
        attempt = await self._attempt(_Sending(upstream, request, write, body, deadline))
        if isinstance(attempt, NotSent):
            return attempt
        result = await attempt.run()
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
        attempt = await self._attempt(_Sending(upstream, request, None, body, deadline, for_read))
        if isinstance(attempt, NotSent):
            return attempt
        if upstream.term.is_over and not for_read:
            return attempt.concluded(NotSent("unreachable", "the policies changed while a connection was awaited"))
        result = await attempt.run()
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

    async def _attempt(self, sending: "_Sending") -> "_Attempt | NotSent":
        """Take the body's beginning, then a connection: a body that never comes occupies none."""
        upstream, for_read = sending.upstream, sending.for_read
        try:
            whole = sending.body.take_buffered()
        except BodyTooLarge as error:
            return NotSent("too-large", str(error))
        outgoing = await self._begin(sending) if whole is None else _Outgoing(whole, None)
        if isinstance(outgoing, NotSent):
            return outgoing
        try:
            pool = self._pool(upstream)
            wire = (None if for_read else pool.idle()) or await pool.acquire(for_read=for_read)
        except Crowded as error:
            return NotSent("crowded", str(error))
        except (Unreachable, OSError) as error:
            return NotSent("unreachable", str(error))
        return _Attempt(pool, wire, sending, outgoing, self._clock)

    async def _begin(self, sending: "_Sending") -> "_Outgoing | NotSent":
        body, asked = sending.body, self._clock.boot()
        try:
            async with asyncio.timeout(max(0.0, self._clock.left(sending.deadline))):
                await body.begin()
                why = self._outlived(sending, asked)
                if why is not None:
                    return NotSent("unreachable" if sending.write is None else "late", why)
                return _Outgoing(await body.read(), body)
        except TimeoutError:
            return NotSent("caller-broke", "the request's body did not begin within the time for the whole")
        except CallerGone as error:
            return NotSent("caller-broke", str(error))
        except BodyTooLarge as error:
            return NotSent("too-large", str(error))

    def _outlived(self, sending: "_Sending", asked: float) -> str | None:
        """Why the judgement may hold no more behind the wait for its body, since `asked`; None where it holds."""
        if sending.upstream.term.is_over:
            return "the policies changed while the request's body was awaited"
        if sending.write is not None and self._clock.boot() - asked > _BEGINS_SOON_S:
            return "the request's body began long after its admission"
        return None


@frozen
class _Sending:
    """One request that is to be sent, and until when. `write`: None of what is not fenced. `for_read`: its connection
    is counted apart.
    """

    upstream: Upstream
    request: Request
    write: Write | None
    body: Body
    deadline: Deadline
    for_read: bool = False


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
        "_exchange",
        "_given_back",
        "_last",
        "_outgoing",
        "_pool",
        "_sending",
        "_sent_whole",
        "_timer",
        "_upload",
        "_wire",
    )

    def __init__(self, pool: Pool, wire: Wire, sending: _Sending, outgoing: _Outgoing, clock: Clock) -> None:
        self._pool = pool
        self._wire = wire
        self._sending = sending
        self._outgoing = outgoing
        self._clock = clock
        # Not the pool's upstream, which outlives its policy: what is dropped and mapped of an answer is this one's.
        upstream = sending.upstream
        self._exchange = Exchange(
            wire,
            head_only=sending.request.method == "HEAD",
            head_limit=upstream.limits.response_head,
            upstream=upstream,
        )
        self._given_back = False
        self._bytes_before = wire.bytes_out
        self._sent_whole = False
        self._last = False
        self._upload: Upload | None = None
        self._timer = self._arm()

    def stop(self) -> None:
        self._timer.cancel()

    def _arm(self) -> asyncio.TimerHandle:
        left = max(0.0, self._clock.left(self._sending.deadline))
        return self._wire.loop.call_later(left, self._expired)

    def _expired(self) -> None:
        if self._clock.left(self._sending.deadline) > 0:
            self._timer = self._arm()
        elif self._sent_whole and not self._exchange.has_head and not self._wire.unsent:
            self._exchange.expire()
        else:
            self._exchange.fail("the upstream's answer was not whole in time", timed_out=True)

    def _guard(self) -> None:
        if self._clock.left(self._sending.deadline) <= 0:
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
            return self._reply()
        # Not even after NotSent: a TLS record that was made and not sent would be missing on the connection.
        self._give_back(reusable=False)
        return result

    def _reply(self) -> Reply:
        told = self._exchange, self._give_back, lambda: self._sent_whole
        if self._upload is None or not self._upload.goes_on:
            return Reply(*told)
        # The upstream may take what comes behind its answer for the next request.
        self._last = True
        return EarlyReply(*told, self._upload, lambda: self._clock.left(self._sending.deadline))

    async def listen(self, within_s: float, keep: int) -> LateAnswer | None:
        """Read an overdue answer on; the whole one, with its body if that is at most `keep` bytes, or None."""
        whole, body = False, None
        end = partial(self._exchange.fail, "too many late answers were awaited")
        self._pool.lend(end)
        self._given_back = True
        try:
            async with asyncio.timeout(within_s):
                whole, body = await self._exchange.rest(keep)
        except TimeoutError:
            pass
        finally:
            self._pool.heard(end)
            self.stop()
            self._wire.close()
            self._exchange.let_go()
        if not whole:
            return None
        return LateAnswer(self._exchange.status, self._exchange.headers, body, self._exchange.own_headers)

    def _give_back(self, reusable: bool) -> None:
        if not self._given_back:
            self._given_back = True
            self.stop()
            between = reusable and self._sent_whole and not self._last
            self._pool.release(self._wire, reusable=between, for_read=self._sending.for_read)
            self._exchange.let_go()

    async def run(self) -> NotSent | NoReply | None:
        """Send and wait for the answer's head; None: it is here. Whoever interrupts this ends the connection."""
        try:
            if self._outgoing.rest is None:
                failed = await self._send()
            else:
                self._upload = Upload(self._exchange, self._send())
                failed = await self._upload.until_answered()
            if failed is not None or self._exchange.has_head:
                return failed
            return await self._answer()
        except BaseException:
            self._give_back(reusable=False)
            raise

    async def _send(self) -> NotSent | NoReply | None:
        """Send as much as the upstream takes; not None where that ends it without an answer."""
        try:
            if self._outgoing.rest is None:
                await self._send_whole(self._outgoing.beginning)
            else:
                await self._send_in_pieces(self._outgoing.beginning, self._outgoing.rest)
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

    async def _send_whole(self, piece: bytes) -> None:
        method = self._sending.request.method
        framing = b"" if not piece and method in _BODILESS else _length(len(piece))
        data = self._head(framing, has_odd_body=bool(piece) and method not in _WITH_BODY) + piece
        sent = self._wire.send_now(data, self._guard) if len(data) <= _AT_ONCE else 0
        if sent < len(data):
            await self._wire.send_end(data[sent:], self._guard)
        self._sent_whole = True

    async def _send_in_pieces(self, piece: bytes, rest: Body) -> None:
        left = rest.length
        framing = b"Transfer-Encoding: chunked\r\n" if left is None else _length(left)
        unsent = self._head(framing, has_odd_body=self._sending.request.method not in _WITH_BODY)
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
            piece = await rest.read()

    def _head(self, framing: bytes, *, has_odd_body: bool) -> bytes:
        """`has_odd_body`: a body that not every server reads."""
        sending = self._sending
        if has_odd_body or authenticates_connection(sending.request.headers):
            # The last one: the upstream may take its body, or what its sender proved, for the next one's.
            self._last = True
            framing += b"Connection: close\r\n"
        self._wire.give_up_after(self._clock.left(sending.deadline))
        unfenced = sending.write is None and not sending.for_read
        return request_head(sending.upstream, sending.request, write=sending.write, framing=framing, unfenced=unfenced)


def _length(length: int) -> bytes:
    return b"Content-Length: %d\r\n" % length
