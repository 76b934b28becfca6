"""Sends a WebSocket handshake once, on a connection of its own: what follows its 101 is a session, and no answer.

The connection is a new one. A pooled one may be closed by its upstream in the moment in which it is used again, and a
session would keep it from all others for hours.
"""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass

from gateway.core.clock import Clock, Deadline
from gateway.core.outcome import NoReply, NotSent
from gateway.core.request import Headers, Request
from gateway.core.rule import Upstream
from gateway.core.session import Switched
from gateway.core.websocket import switch_fault
from gateway.core.write import Admitted
from gateway.upstream.exchange import Exchange
from gateway.upstream.headers import request_head
from gateway.upstream.own import NOWHERE, OwnListeners
from gateway.upstream.pool import tls_context
from gateway.upstream.session import SessionEnd
from gateway.upstream.wire import Wire, connect

# The two fields that a proxy has to make anew (RFC 6455, section 4.1); all others of the handshake pass as they came.
_UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"


@dataclass(frozen=True, slots=True)
class Declined:
    """An ordinary answer whose head has come; `give_back` ends its connection."""

    exchange: Exchange
    give_back: Callable[[bool], None]


class Handshakes:
    """Connections of sessions, no more than `limits.sessions` of one upstream."""

    def __init__(self, clock: Clock, own: OwnListeners = NOWHERE) -> None:
        self._clock = clock
        self._own = own
        self._open: dict[str, int] = {}
        self._contexts: dict[str, tuple[Upstream, ssl.SSLContext | None]] = {}

    async def send(
        self, admitted: Admitted, request: Request, deadline: Deadline
    ) -> Switched | Declined | NotSent | NoReply:
        """As `ports.Sender.switch`."""
        upstream = admitted.write.rule.upstream
        opened = self._open.get(upstream.name, 0)
        if opened >= upstream.limits.sessions:
            return NotSent("unreachable", f"all {upstream.limits.sessions} sessions are in use")
        self._open[upstream.name] = opened + 1
        attempt: _Handshake | None = None
        try:
            wire = await self._connect(upstream)
            attempt = _Handshake(wire, upstream, lambda: self._ended(upstream.name))
            return await attempt.run(admitted, request, self._clock, deadline)
        except OSError as error:
            return NotSent("unreachable", f"{upstream.origin.authority}: {error.strerror or error}")
        finally:
            if attempt is None:
                self._ended(upstream.name)

    async def _connect(self, upstream: Upstream) -> Wire:
        """Raises OSError (TimeoutError and ssl.SSLError among them)."""
        within_s = upstream.timeouts.connect_s
        try:
            async with asyncio.timeout(within_s):
                at = upstream.origin.host, upstream.origin.port
                return await connect(at, self._context(upstream), self._own)
        except TimeoutError:
            raise TimeoutError(f"no connection came about within {within_s:g} s") from None

    def _context(self, upstream: Upstream) -> ssl.SSLContext | None:
        known = self._contexts.get(upstream.name)
        if known is None or (known[0].origin, known[0].tls) != (upstream.origin, upstream.tls):
            known = self._contexts[upstream.name] = (upstream, tls_context(upstream))
        return known[1]

    def _ended(self, upstream: str) -> None:
        self._open[upstream] -= 1


class _Handshake:
    """One handshake on one connection, until it is a session, or is given up."""

    def __init__(self, wire: Wire, upstream: Upstream, on_end: Callable[[], None]) -> None:
        self._wire = wire
        self._answer = _Answer(wire, upstream)
        self._on_end: Callable[[], None] | None = on_end
        self._timer: asyncio.TimerHandle | None = None

    async def run(
        self, admitted: Admitted, request: Request, clock: Clock, deadline: Deadline
    ) -> Switched | Declined | NotSent | NoReply:
        try:
            told = await self._send(admitted, request, clock, deadline)
        except BaseException:
            self.end()
            raise
        if isinstance(told, NotSent | NoReply):
            self.end()
        return told

    def end(self) -> None:
        """Close the connection. Safe to call twice."""
        self._stop_timer()
        self._wire.close()
        if self._on_end is not None:
            self._on_end()
            self._on_end = None

    async def _send(
        self, admitted: Admitted, request: Request, clock: Clock, deadline: Deadline
    ) -> Switched | Declined | NotSent | NoReply:
        def guard() -> None:
            if clock.left(deadline) <= 0:
                raise TimeoutError

        loop, answer = asyncio.get_running_loop(), self._answer
        self._timer = loop.call_later(max(0.0, clock.left(deadline)), self._expire)
        head = request_head(admitted.write.rule.upstream, request, write=admitted.write, framing=_UPGRADE)
        before = self._wire.bytes_out
        try:
            await self._wire.send(head, guard)
        except TimeoutError:
            if self._wire.bytes_out == before:
                return NotSent("late", "the handshake's deadline had passed before its first byte")
            self._expire()
        except OSError as error:
            if self._wire.bytes_out == before:
                return NotSent("unreachable", str(error))
            # The upstream stopped reading; an answer that it sent before may still be there.
        if not await answer.head():
            why = answer.broken or "no answer within the handshake's time"
            if answer.timed_out:
                return NoReply("timeout", why)
            return NoReply("malformed" if answer.bytes_in else "closed", why)
        if answer.status != 101:
            return Declined(answer, lambda _: self.end())
        return self._switched(request)

    def _switched(self, request: Request) -> Switched | NoReply:
        fault = switch_fault(request.headers, Headers(self._answer.headers))
        if fault is not None:
            return NoReply("malformed", fault)
        self._stop_timer()
        end = SessionEnd(self._wire, self._answer.behind, ended=self._answer.has_ended, on_end=self.end)
        return Switched(self._answer.status, self._answer.reason, self._answer.headers, end)

    def _expire(self) -> None:
        self._answer.fail("the upstream's answer was not whole in time", timed_out=True)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _Answer(Exchange):
    """An exchange that a 101 ends. `behind` is what came after its head, `has_ended`: nothing more will."""

    __slots__ = ("behind", "has_ended")

    def __init__(self, wire: Wire, upstream: Upstream) -> None:
        self.behind: list[bytes] = []
        self.has_ended = False
        limit = upstream.limits.response_head
        super().__init__(wire, head_only=False, head_limit=limit, upstream=upstream)

    def feed(self, data: bytes) -> None:
        if self.status == 101:
            # TLS may have more than one record in what was read before the wire was paused.
            self.behind.append(data)
        else:
            super().feed(data)

    def end(self, error: OSError | None) -> None:
        self.has_ended = True
        super().end(error)

    def on_headers_complete(self) -> None:
        if self._parser.get_status_code() != 101 or self.broken is not None or self.complete:
            super().on_headers_complete()
            return
        self.status = 101
        self.headers = self._passed()
        self.has_head = self.complete = True
        self._wire.pause()

    def on_upgrade(self, rest: bytes) -> None:
        self.behind.append(rest)
