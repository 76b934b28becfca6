"""The proxy listener: one handler for every request, and aiohttp's own errors in the gateway's words."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

from aiohttp import HttpVersion11, web
from aiohttp.http import RawRequestMessage
from aiohttp.http_exceptions import BadHttpMethod, HttpProcessingError
from aiohttp.http_parser import HttpRequestParserPy
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.web_protocol import RequestHandler, _ErrInfo

from gateway.core.arrival import Arrival, Scheme, TrustedProxies
from gateway.core.caller import ANONYMOUS, Caller
from gateway.core.decision import AMBIGUOUS_TARGET, BAD_REQUEST, INTERNAL, Refused
from gateway.core.faults import CallerGone
from gateway.core.forwarded import client_address
from gateway.core.page import is_of_browser
from gateway.core.places import Places, overloaded
from gateway.core.request import Headers, Request
from gateway.core.target import Ambiguous, read_target
from gateway.core.trace import Trace
from gateway.core.websocket import asks_for_upgrade
from gateway.flow.gate import Ended, Gate
from gateway.policy.ruleset import RuleSet
from gateway.proxy.agent_api import AgentApi
from gateway.proxy.body import IncomingBody
from gateway.proxy.framing import framing_fault
from gateway.proxy.memory import Memory
from gateway.proxy.pages import refuse_name, refuse_page
from gateway.proxy.reply import Reply
from gateway.proxy.session import AgentEnd
from gateway.proxy.turned_away import TurnedAway

# Everything under /-/fence/ is the agents' own calls; no upstream can be reached there.
RESERVED = ("-", "fence")
# What ends soon and lets others go on: it has places that no write takes.
_READS = frozenset(("GET", "HEAD", "OPTIONS"))
_KEEP_LEASES = frozenset(("/-/fence/leases/renew", "/-/fence/leases/release"))
# Of connections that are idle, one goes where a newcomer finds no room: it is answered at once with a look at so many.
_LOOKED_AT = 32
# A client that has just had its answer may be about to ask again.
_IDLE_FOR_S = 1.0
# What is left once every request has ended: to close connections.
_CLOSE_WITHIN_S = 1.0
# The parser quotes what it could not read, up to the whole of a head.
_LONGEST_WHY = 100
# From a head's first byte to its last. Whoever sends one byte a second would hold a connection for an hour; a head of
# 8 KiB over the worst mobile line takes three seconds.
_HEAD_WITHIN_S = 20.0
# How a body in chunks ends when nothing follows its last chunk, and nothing came behind it.
_LAST_CHUNK = b"\r\n0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one process takes at a time. `connections`: None for no end of them."""

    places: Places = field(default_factory=Places)
    connections: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What is told of a request itself. `path` has no query; `client` is the first hop that is no trusted proxy;
    `waited_s`: for its body, before it was judged. `trace`: None where nothing is traced.
    """

    method: str = "-"
    path: str = "-"
    client: str | None = None
    waited_s: float = 0.0
    trace: Trace | None = None


class Observer(Protocol):
    """Who is told what became of each request."""

    def answered(self, ended: Ended, asked: Asked, status: int, seconds: float) -> None: ...

    def unanswered(self, trace: Trace, asked: Asked) -> None:
        """A request that is traced has ended otherwise: its caller has left, or it failed or was interrupted."""
        ...

    def failed(self, error: BaseException) -> None:
        """A bug: the request was answered with 500, or cut off."""
        ...


class Listener:
    """Reads each request once and hands it on."""

    def __init__(
        self,
        gate: Gate,
        agents: AgentApi,
        observer: Observer,
        policies: Callable[[], RuleSet],
        proxies: TrustedProxies,
        bounds: "Bounds | None" = None,
        *,
        on_loopback: bool = False,
        begin_trace: Callable[[Headers], Trace] | None = None,
    ) -> None:
        """`on_loopback`: only this machine reaches it, and so do the pages that its browsers show. `begin_trace`: None
        where nothing is traced.
        """
        self._begin_trace = begin_trace
        self._on_loopback = on_loopback
        self._bounds = bounds or Bounds()
        self._memory = Memory()
        self._is_ending = False
        self._gate = gate
        self._agents = agents
        self._observer = observer
        self._policies = policies
        self._proxies = proxies

    def server(self) -> "ProxyServer":
        """The protocol factory for `loop.create_server`."""
        return ProxyServer(self._handle, self._observer, self._proxies, self._bounds, self._end)

    def _end(self) -> None:
        """From now on each answer is its connection's last."""
        self._is_ending = True

    async def _handle(self, raw: web.BaseRequest) -> web.StreamResponse:
        started = asyncio.get_running_loop().time()
        headers = Headers(raw.raw_headers)
        trace = None if self._begin_trace is None else self._begin_trace(headers)
        fault = framing_fault(raw.method, raw.version, headers)
        handshake = raw.method == "GET" and fault is None and asks_for_upgrade(headers)
        if handshake and not (isinstance(raw.protocol, _Connection) and raw.protocol.holds_back()):
            fault = "its Connection and Upgrade fields can be read in two ways"
        body = IncomingBody(raw, _length(headers) if fault is None else 0, self._memory)
        reply, ended = Reply(raw, body), None
        if trace is not None:
            reply.trace_id = trace.id
        if fault is not None or handshake or self._is_ending:
            # Behind a handshake that is not taken may stand another protocol's bytes, or a request in disguise.
            reply.close_after()
        if body.length is None and isinstance(raw.protocol, _Connection):
            reply.close_unless(raw.protocol.has_no_trailer)
        try:
            if fault is not None:
                ended = _refuse(reply, _not_taken(fault))
            elif body.is_read or body.wait_in(self._bounds.places, first=_goes_first(raw)):
                ended = await self._route(raw, headers, body, reply, trace)
            else:
                ended = _refuse(reply, overloaded())
        except CallerGone:
            reply.abort()
            return reply.sent()
        except Exception as error:  # noqa: BLE001  # the listener outlives any bug; the write was settled as unknown
            self._observer.failed(error)
            if reply.status:
                reply.abort()
            else:
                reply.refuse(Refused(INTERNAL, "The gateway failed; whether the request had an effect is not known."))
            return reply.sent()
        finally:
            body.close()
            if trace is not None and ended is None:
                self._observer.unanswered(trace, self._asked(raw, headers, body.waited_s, trace))
        seconds = asyncio.get_running_loop().time() - started
        self._observer.answered(ended, self._asked(raw, headers, body.waited_s, trace), reply.status, seconds)
        if fault is None and not body.is_read:
            await reply.drop_rest()
        return reply.sent()

    async def _route(
        self, raw: web.BaseRequest, headers: Headers, body: IncomingBody, reply: Reply, trace: Trace | None
    ) -> Ended:
        caller = self._identify(raw, headers)
        if isinstance(caller, Refused):
            return _refuse(reply, caller)
        target = read_target(raw.raw_path)
        if isinstance(target, Ambiguous):
            ended = _refuse(reply, Refused(AMBIGUOUS_TARGET, f"Not forwarded: {target.why}. Send it in one form."))
        else:
            taker = self._agents if target.segments[:2] == RESERVED else self._gate
            if trace is not None and taker is self._agents:
                trace.enter("agent-call")
            request = Request(raw.method, target, headers, arrival=_arrival(raw), trace=trace)
            ended = await taker.handle(request, body, caller, reply)
        return ended if caller.principal == ANONYMOUS else replace(ended, principal=caller.principal)

    def _identify(self, raw: web.BaseRequest, headers: Headers) -> Caller | Refused:
        rules = self._policies()
        if self._on_loopback and not rules.principals and is_of_browser(headers):
            # Nobody has to prove anything, so that a page may make it send this. Other clients may come by any name: a
            # proxy on this machine passes its own on.
            refused = refuse_name(headers, rules)
            if refused is not None and not _is_trusted(raw):
                return refused
            refused = refuse_page(raw.method, headers)
            if refused is not None:
                return refused
        return rules.principals.identify(headers)

    def _asked(self, raw: web.BaseRequest, headers: Headers, waited_s: float, trace: Trace | None) -> Asked:
        arrival = _arrival(raw)
        client = None if arrival is None else client_address(arrival, headers, self._proxies)
        return Asked(raw.method, raw.raw_path.partition("?")[0], client, waited_s, trace)


def _goes_first(raw: web.BaseRequest) -> bool:
    return raw.method in _READS or raw.raw_path.partition("?")[0] in _KEEP_LEASES


def _is_trusted(raw: web.BaseRequest) -> bool:
    arrival = raw.protocol.arrival if isinstance(raw.protocol, _Connection) else None
    return arrival is not None and arrival.is_trusted


def _arrival(raw: web.BaseRequest) -> Arrival | None:
    arrival = raw.protocol.arrival if isinstance(raw.protocol, _Connection) else None
    if arrival is None or raw.version == HttpVersion11:
        return arrival
    return replace(arrival, version="1.0")


def _not_taken(fault: str) -> Refused:
    return Refused(BAD_REQUEST, f"Not forwarded: {fault}. Mend the client.")


def _not_http(why: str) -> Refused:
    return Refused(BAD_REQUEST, f"Not forwarded: the request is not valid HTTP ({why}). Mend the client.")


def _refuse(reply: Reply, refused: Refused) -> Ended:
    reply.refuse(refused)
    return Ended(refused)


def _length(headers: Headers) -> int | None:
    """The announced length: 0 without any framing, None when the body is chunked. The parser has checked both."""
    if headers.first(b"transfer-encoding") is not None:
        return None
    return int(headers.first(b"content-length") or 0)


class ProxyServer(web.Server):
    """aiohttp's server with a connection handler of ours, and an end at which callers are still answered."""

    def __init__(
        self,
        handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        observer: Observer,
        proxies: TrustedProxies,
        bounds: Bounds | None = None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        # What is left of a refused body is dropped here and not by aiohttp, which fails over one that is malformed.
        super().__init__(self._tracked, access_log=None, auto_decompress=False, lingering_time=0)
        self.observer = observer
        self.proxies = proxies
        self._bounds = bounds or Bounds()
        self._on_end = on_end
        self._handle = handler
        self._under_way: set[asyncio.Task[object]] = set()

    async def finish(self, within_s: float, linger_s: float = 0.0) -> None:
        """Let requests end for so long, then interrupt them: a write in flight is answered as unknown.

        Before that, requests that are on their way on open connections are still taken for `linger_s` seconds, and
        for ten times as long on those that have had none: their callers have just come.
        aiohttp's own shutdown closes the connections first, and nobody could be told anything any more.
        """
        self._on_end()
        assert self._loop is not None
        end = self._loop.time() + within_s
        # All of it is part of the time that requests have to end.
        linger_s = min(linger_s, within_s / 10)
        if linger_s:
            await self._end_of(self._connections, linger_s)
            fresh = [each for each in self._connections if isinstance(each, _Connection) and each.is_fresh]
            await self._end_of(fresh, 9 * linger_s)
        self.pre_shutdown()
        if self._under_way:
            await asyncio.wait(set(self._under_way), timeout=max(0.0, end - self._loop.time()))
        for task in self._under_way:
            task.cancel()
        await self.shutdown(_CLOSE_WITHIN_S)

    async def _end_of(self, connections: Iterable[RequestHandler], within_s: float) -> None:
        tasks = {each._task_handler for each in connections if each._task_handler is not None}
        if tasks:
            await asyncio.wait(tasks, timeout=within_s)

    async def _tracked(self, request: web.BaseRequest) -> web.StreamResponse:
        task = request.task
        self._under_way.add(task)
        try:
            return await self._handle(request)
        finally:
            self._under_way.discard(task)

    def __call__(self) -> RequestHandler | TurnedAway:  # type: ignore[override]  # whoever accepts wants a protocol
        assert self._loop is not None
        most = self._bounds.connections
        if most is not None and len(self._connections) >= most and not self._make_room():
            self._bounds.places.turned_away("caller")
            return TurnedAway()
        return _Connection(self, self.observer, self.proxies, loop=self._loop, **self._kwargs)

    def _make_room(self) -> bool:
        """Close a connection on which nothing is under way: thousands of sleepers must not keep a caller out."""
        for connection in list(islice(self._connections, _LOOKED_AT)):
            assert isinstance(connection, _Connection)
            if connection.is_idle(_IDLE_FOR_S):
                connection.force_close()
                return True
            # The next newcomer looks at others.
            self._connections[connection] = self._connections.pop(connection)
        return False


class _Connection(RequestHandler):
    """aiohttp's connection; what its parser refuses is told as a problem, and the connection is closed."""

    __slots__ = ("_head_timer", "_observer", "_proxies", "_tail", "arrival")

    def __init__(self, server: ProxyServer, observer: Observer, proxies: TrustedProxies, **settings: Any) -> None:
        # aiohttp's own keyword arguments, passed through.
        super().__init__(server, **settings)
        self._observer = observer
        self._proxies = proxies
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

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's; aiohttp has no use for the answer
        """In a session the agent that has said all may still listen; TLS has no half of a connection."""
        near = self._payload_parser
        if not isinstance(near, AgentEnd):
            return False
        near.feed_eof()
        return self.transport is not None and self.transport.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._stop_head_timer()
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
            ended = _refuse(reply, _not_http(why or "it cannot be parsed"))
            client = None if self.arrival is None else self.arrival.address
            self._observer.answered(ended, Asked(client=client), reply.status, 0.0)
        else:
            self.log_exception("unhandled", exc_info=exc)
            reply.refuse(Refused(INTERNAL, "The gateway failed; whether the request had an effect is not known."))
        return reply.sent()


class _AsSpelled(HttpRequestParserPy):
    """aiohttp's parser where its compiled one is missing; a method is taken as it is spelled, or not at all.

    Methods are case-sensitive (RFC 9110, section 9.1): the parser would make PUT of `put`, another request.
    """

    def parse_message(self, lines: list[bytes]) -> RawRequestMessage:
        method = lines[0].partition(b" ")[0]
        if method != method.upper():
            raise BadHttpMethod(method.decode("latin-1"))
        return super().parse_message(lines)
