"""One connection of a caller: aiohttp's, with the bounds and the words of the gateway."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.http import RawRequestMessage, StreamWriter
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError
from aiohttp.http_parser import HttpRequestParserPy
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import ERROR, RequestHandler, _ErrInfo

from gateway.core.arrival import Arrival, Scheme, TrustedProxies
from gateway.core.decision import BAD_REQUEST, INTERNAL, Refused
from gateway.flow.gate import Ended
from gateway.proxy.asked import Asked, Observer
from gateway.proxy.body import IncomingBody
from gateway.proxy.reply import Reply
from gateway.proxy.session import AgentEnd

# The parser quotes what it could not read, up to the whole of a head.
_LONGEST_WHY = 100
# From a head's first byte to its last. Whoever sends one byte a second would hold a connection for an hour; a head of
# 8 KiB over the worst mobile line takes three seconds.
_HEAD_WITHIN_S = 20.0
# A caller that sends one request after the other and takes none of the answers is cut off after this, as one that
# takes nothing of a long answer is (flow/read.py): what it does not read is held here.
_TAKES_WITHIN_S = 30.0
# How a body in chunks ends when nothing follows its last chunk, and nothing came behind it.
_LAST_CHUNK = b"\r\n0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Crowd:
    """The connections of one listener: by their tasks those that have a request, and in order of their answers those
    whose caller has one and still sends.
    """

    under_way: set[asyncio.Task[object]] = field(default_factory=set)
    answered: dict["Connection", None] = field(default_factory=dict)


class Connection(RequestHandler):
    """aiohttp's connection; what its parser refuses is told as a problem, and the connection is closed."""

    __slots__ = ("_crowd", "_head_timer", "_observer", "_proxies", "_tail", "arrival")

    def __init__(
        self,
        server: web.Server,
        observer: Observer,
        proxies: TrustedProxies,
        crowd: Crowd,
        **settings: Any,
    ) -> None:
        """`settings`: aiohttp's own."""
        super().__init__(server, **settings)
        self._observer = observer
        self._proxies = proxies
        self._crowd = crowd
        self.arrival: Arrival | None = None
        self._tail = b""
        self._head_timer: asyncio.TimerHandle | None = None
        if isinstance(self._parser, HttpRequestParserPy):
            self._parser.__class__ = _AsSpelled

    @property
    def is_fresh(self) -> bool:
        """Whether no request has come on it: aiohttp gives each its number."""
        return self._request_count == 0

    def is_idle(self, for_s: float) -> bool:
        """Whether nothing is under way, and nothing has begun to come, since so long."""
        if self._waiter is None or self._waiter.done() or self._head_timer is not None:
            return False
        # aiohttp notes when it would close an idle connection: so long after its last answer, or after its beginning.
        return self._loop.time() - (self._next_keepalive_close_time - self._keepalive_timeout) >= for_s

    def only_drops(self) -> None:
        """From here on what comes is read and forgotten, and in the end the connection is closed."""
        if self.transport is not None:
            self._crowd.answered[self] = None

    def has_no_trailer(self) -> bool:
        """Whether the body that was read ended with its last chunk, and nothing has come since.

        The compiled parser keeps the last field of a trailer and gives it to the next request of the connection: a
        caller could put a field, a token even, into another's request wherever a proxy before this one shares the
        connection. After a trailer no request of the connection is looked at any more.
        """
        return not self._messages and self._tail == _LAST_CHUNK

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        scheme: Scheme = "http" if transport.get_extra_info("sslcontext") is None else "https"
        self.arrival = self._proxies.arrival(transport.get_extra_info("peername"), scheme)

    def holds_back(self) -> bool:
        """Whether the parser has taken the request for a handshake too, and takes nothing behind it for a request."""
        return self._upgraded

    async def start(self) -> None:
        """Take one request after the other. aiohttp's own loop makes a task for each, and responses of its own.

        A handler returns once its answer is written; what it returns says whether the connection goes on.
        """
        task = asyncio.current_task()
        assert task is not None
        while not self._force_close:
            if not self._messages:
                await self._next_message()
            if self._paused:
                await self._until_taken()
                if self._close or self._force_close:
                    break
            if self._request_handler is None:
                # The caller has left in the meantime.
                return
            message, payload = self._messages.popleft()
            self._make_room()
            self._crowd.under_way.add(task)
            try:
                goes_on = await self._answered(message, payload, task)
            except BaseException:
                self.force_close()
                raise
            finally:
                self._crowd.under_way.discard(task)
            if not goes_on or self._close or self._force_close:
                break
            self._next_keepalive_close_time = self._loop.time() + self._keepalive_timeout
            if self._keepalive_handle is None:
                self._keepalive_handle = self._loop.call_at(self._next_keepalive_close_time, self._process_keepalive)
        if not self._force_close:
            self._task_handler = None
            if self.transport is not None:
                self.transport.close()

    async def _next_message(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    async def _until_taken(self) -> None:
        """Wait until the caller has taken most of the answers before."""
        try:
            async with asyncio.timeout(_TAKES_WITHIN_S):
                await self._drain_helper()
        except TimeoutError:
            if self.transport is not None:
                self.transport.abort()
            self.force_close()
        except ConnectionError:
            return

    def _make_room(self) -> None:
        """A request has been taken: where the parser, or the reading, was held back by too many, it goes on."""
        if self._parser is not None:
            self._parser.message_consumed()
        if self._buffer_paused and len(self._messages) <= self._msg_queue_resume_size:
            self._resume_reading_if_drained()

    async def _answered(
        self, message: RawRequestMessage | _ErrInfo, payload: StreamReader, task: asyncio.Task[None]
    ) -> bool:
        """Whether the connection goes on behind this request."""
        writer = StreamWriter(self, self._loop)
        if isinstance(message, _ErrInfo):
            request = web.BaseRequest(ERROR, payload, self, writer, task, self._loop)
            self.handle_error(request, message.status, message.exc, message.message)
            return False
        request = web.BaseRequest(message, payload, self, writer, task, self._loop)
        assert self._request_handler is not None
        self._request_in_progress, self._current_request = True, request
        try:
            sent = await self._request_handler(request)
        except Exception as error:  # noqa: BLE001  # whatever it was, this caller is told, and the others' go on
            sent = self.handle_error(request, 500, error)
        finally:
            self._request_in_progress, self._current_request = False, None
            if self._handler_waiter is not None:
                self._handler_waiter.set_result(None)
        if self._upgraded:
            # A handshake that was not taken: aiohttp parses what it held back behind it.
            await self.finish_response(request, sent, None)
        self._keepalive = bool(sent.keep_alive)
        return self._keepalive and payload.is_eof()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's; aiohttp has no use for the answer
        """In a session the agent that has said all may still listen; TLS has no half of a connection."""
        near = self._payload_parser
        if not isinstance(near, AgentEnd):
            return False
        near.feed_eof()
        return self.transport is not None and self.transport.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._stop_head_timer()
        self._crowd.answered.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came. A fault inside a body ends that body at once: whoever waits for its next piece is told.

        The compiled parser only queues the fault behind the request that it broke, which then waits for ever.
        """
        # Before the parser: it asks for bytes again, with none, while it is being asked.
        self._tail = (data if len(data) >= len(_LAST_CHUNK) else self._tail + data)[-len(_LAST_CHUNK) :]
        super().data_received(data)
        if self._waiter is None or self._waiter.done():
            self._stop_head_timer()
        elif self._head_timer is None and data.lstrip(b"\r\n"):
            # Nothing is under way, and nothing whole has come: this begins a head.
            self._head_timer = self._loop.call_later(_HEAD_WITHIN_S, self._head_is_late)
        if self._messages and not isinstance(self._messages[-1][0], RawRequestMessage):
            bodies = [payload for _, payload in self._messages]
            if self._current_request is not None:
                bodies.append(self._current_request.content)
            for body in bodies:
                if not body.is_eof():
                    body.set_exception(HttpProcessingError(message="its framing is faulty"))

    def resume_reading(self, resume_parser: bool = True) -> None:
        """aiohttp's streams ask for it with each piece that is taken, and nearly always nothing was held back."""
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        """Answer as for a head that cannot be parsed, and close."""
        self._head_timer = None
        if self._waiter is not None and not self._waiter.done():
            late = HttpProcessingError(code=400, message=f"its head was not whole within {_HEAD_WITHIN_S:g} seconds")
            self._messages.append((_ErrInfo(400, late, late.message), EMPTY_PAYLOAD))
            self._waiter.set_result(None)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        body = IncomingBody(request, 0)
        reply = Reply(request, body)
        reply.close_after()
        if status == 400:
            why = (message or "").partition("\n")[0].rstrip(":. ")[:_LONGEST_WHY]
            refused = _not_http(why or "it cannot be parsed")
            reply.refuse(refused)
            client = None if self.arrival is None else self.arrival.address
            self._observer.answered(Ended(refused), Asked(client=client), reply.status, 0.0)
        else:
            self.log_exception("unhandled", exc_info=exc)
            reply.refuse(Refused(INTERNAL, "The gateway failed; whether the request had an effect is not known."))
        return reply.sent()


def _not_http(why: str) -> Refused:
    return Refused(BAD_REQUEST, f"Not forwarded: the request is not valid HTTP ({why}). Mend the client.")


class _AsSpelled(HttpRequestParserPy):
    """aiohttp's parser where its compiled one is missing; a method is taken as it is spelled, or not at all.

    Methods are case-sensitive (RFC 9110, section 9.1): the parser would make PUT of `put`, another request.
    """

    def parse_message(self, lines: list[bytes]) -> RawRequestMessage:
        method = lines[0].partition(b" ")[0]
        if method != method.upper():
            raise BadHttpMethod(method.decode("latin-1"))
        return super().parse_message(lines)
