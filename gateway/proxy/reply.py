"""The way back to the agent: heads and bodies written as they are, framed anew."""

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from time import CLOCK_REALTIME, clock_gettime_ns

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from gateway.core import problem, rpc_error
from gateway.core.decision import REPLAYED, Decision, Facts, Refused
from gateway.core.intent import KeptAnswer
from gateway.core.record import IntentRecord, shown
from gateway.core.request import HeaderPairs
from gateway.core.session import Switched
from gateway.flow.marks import Marks
from gateway.flow.ports import Answer, NearEnd
from gateway.policy.reading.jsonrpc import call_id
from gateway.proxy.accept import GRAPHQL, as_accepted, as_event, takes_graphql
from gateway.proxy.body import IncomingBody
from gateway.proxy.hung_up import has_hung_up
from gateway.proxy.session import AgentEnd
from gateway.upstream.headers import answer_headers

# Where an agent asks what became of its intents.
INTENTS = b"/-/fence/intents/"
_BODILESS = frozenset((204, 304))
# Hop by hop: they are each end's own (RFC 6455, section 4.2.2).
_SWITCHED = b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
_STATUSES = frozenset(HTTPStatus)
# By which header a caller shows what it lacked.
_PROVED_BY = {"unauthenticated": b"Fencegate-Key", "token-invalid": b"Fencing-Token"}
# A caller that is refused in the middle of its upload sees the refusal only if the rest is taken from it: closing a
# connection with unread bytes resets it. Beyond this it is cut off.
_DROP_BYTES = 64 << 20
_DROP_WITHIN_S = 10.0


class Sent(web.StreamResponse):
    """What aiohttp is told about an answer that was already written: nothing is left to do but to go on or to close."""

    def __init__(self, *, keep_alive: bool) -> None:
        super().__init__()
        self._keep_alive = keep_alive

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:  # noqa: ARG002  # aiohttp's signature
        return None

    async def write_eof(self, data: bytes = b"") -> None:  # noqa: ARG002  # aiohttp's signature
        return None


# There is nothing in them of the one answer, and they cost as much to make as a whole head.
_GOES_ON, _CLOSES = Sent(keep_alive=True), Sent(keep_alive=False)


class Reply:
    """Implements `ports.Caller` for one request. It writes to the connection itself: what is passed on stays as is.

    `trace_id`: what a refusal names, where the request is traced.
    """

    trace_id: str | None = None

    def __init__(self, request: web.BaseRequest, body: IncomingBody) -> None:
        self._request = request
        self._transport = request.transport
        self._body = body
        self._is_http_10 = request.version < (1, 1)
        self._keep_alive = request.keep_alive
        self._head_only = request.method == "HEAD"
        self._expects = request.headers.get("Expect", "").lower() == "100-continue" and not self._is_http_10
        self._chunked = False
        self._may_stay_open: Callable[[], bool] | None = None
        self._call: bytes | None = None
        self._is_graphql = False
        self.status = 0

    def is_gone(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    def has_left(self) -> bool:
        """As `is_gone`, asked of the system too: for what is rare, and takes something from others."""
        if self._transport is None or self._transport.is_closing():
            return True
        socket = self._transport.get_extra_info("socket")
        return socket is not None and has_hung_up(socket)

    def has_begun(self) -> bool:
        return self.status != 0

    def awaits_proceed(self) -> bool:
        return self._expects and not self._body.is_read

    def proceed(self) -> None:
        if self.awaits_proceed():
            self._write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._expects = False

    def close_after(self) -> None:
        """The connection ends with this answer."""
        self._keep_alive = False

    def close_unless(self, may_stay_open: Callable[[], bool]) -> None:
        """As `close_after`, unless this holds once the answer begins."""
        self._may_stay_open = may_stay_open

    async def drop_rest(self) -> None:
        """Take from the caller what is left of its body. One that still waits for `100 Continue` has sent none."""
        if not (self._expects or self._body.is_read or self.is_gone()):
            await self._body.drop(_DROP_BYTES, _DROP_WITHIN_S)

    def as_call(self, body: bytes) -> None:
        self._call = body

    def as_graphql(self) -> None:
        self._is_graphql = True

    def refuse(self, refused: Refused) -> None:
        refused = self._traced(refused)
        decision, retry_after_s = refused.decision, refused.facts.retry_after_s
        spelled = self._call_id()
        if spelled is None:
            accept = self._request.headers.getall("Accept", ()) if self._is_graphql else ()
            kind = GRAPHQL if takes_graphql(accept) else problem.CONTENT_TYPE_WITH_CHARSET
            self.own(decision, kind, problem.render(refused, is_graphql=self._is_graphql), retry_after_s)
            return
        content_type, body = as_accepted(rpc_error.render(refused, spelled), self._request.headers.getall("Accept", ()))
        # MCP and JSON-RPC clients look into the body of a 200 only.
        self.own(replace(decision, status=200), content_type, body, retry_after_s)

    def own(self, decision: Decision, content_type: bytes, body: bytes, retry_after_s: int | None = None) -> None:
        """An answer of the gateway itself."""
        assert decision.status is not None
        fields = [_date(), (b"Cache-Control", b"no-store")]
        if decision.status not in _BODILESS:
            fields += [(b"Content-Type", content_type), (b"Content-Length", b"%d" % len(body))]
        if retry_after_s is not None:
            fields.append((b"Retry-After", b"%d" % retry_after_s))
        if decision.status == 401:
            # RFC 9110, section 15.5.2 wants a challenge. At `Bearer` clients would look for somebody who gives tokens.
            fields.append((b"WWW-Authenticate", _PROVED_BY[decision.name] + b' realm="fencegate"'))
        fields.append((b"Fencing-Decision", decision.name.encode("ascii")))
        head = self._head(decision.status, _phrase(decision.status), fields)
        self._write(head + (b"" if self._head_only else body))

    def reply(self, marks: Marks, answer: Answer, body: bytes) -> None:
        fields = _passed(answer)
        if not self._has_no_body(answer.status) and not _has_length(fields):
            fields += ((b"Content-Length", b"%d" % len(body)),)
        self._write(self._head(answer.status, answer.reason, fields + _marked(marks)) + body)

    def replay(self, marks: Marks, answer: KeptAnswer) -> None:
        fields = [_date(), *answer.headers]
        if not self._has_no_body(answer.status):
            fields.append((b"Content-Length", b"%d" % len(answer.body)))
        fields += _marked(marks)
        if marks.decision is REPLAYED:
            fields.append((b"Idempotent-Replayed", b"true"))
        self._write(self._head(answer.status, _phrase(answer.status), fields) + answer.body)

    def park(self, marks: Marks, record: IntentRecord, waited_s: int | None) -> None:
        decision = marks.decision
        if self._call is not None:
            detail = "Taken, and sent later. Repeat the call with the same key for its answer."
            facts = Facts(record.resource, record.epoch, intent=record.id, intent_state=record.state)
            self.refuse(Refused(decision, detail, facts))
            return
        body = json.dumps(shown(record), ensure_ascii=False).encode()
        assert decision.status is not None
        fields = [
            _date(),
            (b"Cache-Control", b"no-store"),
            (b"Content-Type", b"application/json"),
            (b"Content-Length", b"%d" % len(body)),
            (b"Location", INTENTS + record.id.encode("ascii")),
            *_marked(marks),
        ]
        if waited_s is not None:
            # RFC 7240, section 3.
            fields.append((b"Preference-Applied", b"wait=%d" % waited_s))
        self._write(self._head(decision.status, _phrase(decision.status), fields) + body)

    def begin(self, marks: Marks, answer: Answer) -> None:
        fields = _passed(answer)
        if not self._has_no_body(answer.status) and not _has_length(fields):
            if self._is_http_10:
                self._keep_alive = False
            else:
                self._chunked = True
                fields += ((b"Transfer-Encoding", b"chunked"),)
        self._write(self._head(answer.status, answer.reason, fields + _marked(marks)))

    def switch(self, marks: Marks, switched: Switched) -> NearEnd:
        self.status = switched.status
        self._keep_alive = False
        lines = [b"HTTP/1.1 %d %b\r\n" % (switched.status, switched.reason), _SWITCHED]
        for name, value in answer_headers(switched.headers) + _marked(marks):
            # RFC 9110, section 8.6: a 101 has no length, and its reader would wait for a body.
            if name.lower() != b"content-length":
                lines += (name, b": ", value, b"\r\n")
        lines.append(b"\r\n")
        self._write(b"".join(lines))
        near = AgentEnd(self._request)
        if not self.is_gone():
            self._request.protocol.set_parser(near)  # type: ignore[arg-type]  # it only feeds it
        return near

    async def write(self, piece: bytes, within_s: float | None) -> bool:
        self._write(b"%x\r\n%b\r\n" % (len(piece), piece) if self._chunked else piece)
        try:
            async with asyncio.timeout(within_s):
                await self._request.writer.drain()
        except (TimeoutError, ConnectionError):
            return False
        return not self.is_gone()

    def end(self) -> None:
        if self._chunked:
            self._write(b"0\r\n\r\n")

    def break_off(self, refused: Refused) -> None:
        spelled = self._call_id()
        if spelled is None or not self._chunked:
            self.abort()
            return
        event = as_event(rpc_error.render(self._traced(refused), spelled))
        self._write(b"%x\r\n%b\r\n" % (len(event), event))
        self.end()

    def _call_id(self) -> str | None:
        """As it is spelled; None for what is no call."""
        own = None if self._call is None else call_id(self._call)
        return None if own is None else own.spelled.decode()

    def abort(self) -> None:
        self._keep_alive = False
        if self._transport is not None:
            self._transport.abort()

    def sent(self) -> Sent:
        """What aiohttp has to know to go on with the connection."""
        return _GOES_ON if self._keep_alive else _CLOSES

    def _traced(self, refused: Refused) -> Refused:
        if self.trace_id is None:
            return refused
        return replace(refused, facts=replace(refused.facts, trace_id=self.trace_id))

    def _head(self, status: int, reason: bytes, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
        self.status = status
        if not self._body.is_read:
            # What is left of the body would be read as the next request.
            self._keep_alive = False
        elif self._may_stay_open is not None and not self._may_stay_open():
            self._keep_alive = False
        lines = [b"HTTP/1.1 %d %b\r\n" % (status, reason)]
        for name, value in fields:
            lines += (name, b": ", value, b"\r\n")
        if not self._keep_alive:
            lines.append(b"Connection: close\r\n")
        elif self._is_http_10:
            lines.append(b"Connection: keep-alive\r\n")
        lines.append(b"\r\n")
        return b"".join(lines)

    def _has_no_body(self, status: int) -> bool:
        return self._head_only or status in _BODILESS

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)


def _date() -> tuple[bytes, bytes]:
    return _date_of(clock_gettime_ns(CLOCK_REALTIME) // 1_000_000_000)


@lru_cache(1)
def _date_of(second: int) -> tuple[bytes, bytes]:
    return b"Date", formatdate(second, usegmt=True).encode()


def _phrase(status: int) -> bytes:
    """The reason phrase; none for a status that is nobody's."""
    return HTTPStatus(status).phrase.encode("ascii") if status in _STATUSES else b""


def _passed(answer: Answer) -> HeaderPairs:
    fields = answer_headers(answer.headers)
    if answer.status != 204:
        return fields
    # RFC 9110, section 8.6: with a length its reader would wait for a body that never comes.
    return tuple(pair for pair in fields if pair[0].lower() != b"content-length")


def _has_length(fields: HeaderPairs) -> bool:
    for name, _ in fields:  # noqa: SIM110  # a generator costs more than all that it looks at
        if len(name) == len(b"content-length") and name.lower() == b"content-length":
            return True
    return False


def _marked(marks: Marks) -> HeaderPairs:
    fields = [(b"Fencing-Decision", marks.decision.name.encode("ascii"))]
    if marks.would is not None:
        fields.append((b"Fencing-Would", marks.would.name.encode("ascii")))
    if marks.epoch is not None:
        fields.append((b"Fencing-Epoch", b"%d" % marks.epoch))
    if marks.outcome is not None:
        fields.append((b"Fencing-Outcome", marks.outcome.encode("ascii")))
    if marks.revision is not None:
        fields.append((b"Fencing-Revision", b"%d" % marks.revision))
    return tuple(fields)
