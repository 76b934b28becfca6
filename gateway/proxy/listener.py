"""The proxy listener: one handler for every request."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from aiohttp import HttpVersion10, HttpVersion11, web

from gateway.core.arrival import Arrival, TrustedProxies
from gateway.core.caller import ANONYMOUS, Caller
from gateway.core.decision import AMBIGUOUS_TARGET, BAD_REQUEST, INTERNAL, OF_PATHS, Refused
from gateway.core.faults import CallerGone
from gateway.core.forwarded import client_address
from gateway.core.framing import head_fault
from gateway.core.frozen import frozen
from gateway.core.places import overloaded
from gateway.core.request import Headers, Request
from gateway.core.target import Ambiguous, read_target
from gateway.core.trace import Trace
from gateway.core.websocket import asks_for_upgrade
from gateway.flow.gate import Ended, Gate
from gateway.policy.ruleset import RuleSet
from gateway.proxy.agent_api import AgentApi
from gateway.proxy.asked import Asked, Observer
from gateway.proxy.body import IncomingBody
from gateway.proxy.connection import Connection
from gateway.proxy.memory import Memory
from gateway.proxy.pages import refuse_name, refuse_page
from gateway.proxy.reply import Reply
from gateway.proxy.server import Bounds, ProxyServer

# Everything under /-/fence/ is the agents' own calls; no upstream can be reached there.
RESERVED = ("-", "fence")
# What ends soon and lets others go on: it has places that no write takes.
_READS = frozenset(("GET", "HEAD", "OPTIONS"))
_KEEP_LEASES = frozenset(("/-/fence/leases/renew", "/-/fence/leases/release"))


class Listener:
    """Reads each request once and hands it on."""

    def __init__(
        self,
        gate: Gate,
        agents: AgentApi,
        observer: Observer,
        policies: Callable[[], RuleSet],
        proxies: TrustedProxies,
        bounds: Bounds | None = None,
        *,
        on_loopback: bool = False,
        begin_trace: Callable[[Headers], Trace] | None = None,
    ) -> None:
        """`on_loopback`: only this machine reaches it, and so does a name that was rebound to it. `begin_trace`: None
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

    def server(self) -> ProxyServer:
        """The protocol factory for `loop.create_server`."""
        return ProxyServer(self._handle, self._observer, self._proxies, self._bounds, self._end)

    def _end(self) -> None:
        """From now on each answer is its connection's last."""
        self._is_ending = True

    async def _handle(self, raw: web.BaseRequest) -> web.StreamResponse:
        started, connection = monotonic(), raw.protocol
        assert isinstance(connection, Connection), "the server makes no others"
        headers = Headers(raw.raw_headers)
        trace = None if self._begin_trace is None else self._begin_trace(headers)
        fault = _fault(raw, headers, connection)
        body = IncomingBody(raw, _length(headers) if fault is None else 0, self._memory)
        came = _Came(raw, headers, _arrival(connection, raw), body, trace)
        reply, ended = Reply(raw, body), None
        if trace is not None:
            reply.trace_id = trace.id
        if fault is not None or self._is_ending or headers.first(b"upgrade") is not None:
            # Behind a handshake that is not taken may stand another protocol's bytes, or a request in disguise.
            reply.close_after()
        if body.length is None:
            reply.close_unless(connection.has_no_trailer)
        try:
            if fault is not None:
                ended = _refuse(reply, _not_taken(fault))
            elif body.is_read or body.wait_in(self._bounds.places, first=_goes_first(raw)):
                ended = await self._route(came, reply)
            else:
                ended = _refuse(reply, overloaded())
        except CallerGone:
            reply.abort()
            return reply.sent()
        except Exception as error:  # noqa: BLE001  # the listener outlives any bug; the write was settled as unknown
            self._observer.failed(error)
            _fail(reply)
            return reply.sent()
        finally:
            body.close()
            if trace is not None and ended is None:
                self._observer.unanswered(trace, self._asked(came))
        seconds = monotonic() - started
        self._observer.answered(ended, self._asked(came), reply.status, seconds)
        if fault is None and not body.is_read:
            connection.only_drops()
            await reply.drop_rest()
        return reply.sent()

    async def _route(self, came: "_Came", reply: Reply) -> Ended:
        raw, headers = came.raw, came.headers
        caller = self._identify(came)
        if isinstance(caller, Refused):
            return _refuse(reply, caller)
        target = read_target(raw.raw_path)
        if isinstance(target, Ambiguous):
            detail = f"Not forwarded: {target.why}. Send it in one form."
            ended = _refuse(reply, Refused(AMBIGUOUS_TARGET, detail, OF_PATHS))
        else:
            taker = self._agents if target.segments[:2] == RESERVED else self._gate
            if came.trace is not None and taker is self._agents:
                came.trace.enter("agent-call")
            request = Request(raw.method, target, headers, arrival=came.arrival, trace=came.trace)
            ended = await taker.handle(request, came.body, caller, reply)
        return ended if caller.principal == ANONYMOUS else replace(ended, principal=caller.principal)

    def _identify(self, came: "_Came") -> Caller | Refused:
        rules, headers = self._policies(), came.headers
        if not rules.principals:
            # Nobody has to prove anything, so that a page may make a browser send this.
            refused = refuse_name(headers, rules) if self._on_loopback else None
            if refused is not None and not (came.arrival is not None and came.arrival.is_trusted):
                return refused
            refused = refuse_page(came.raw.method, headers)
            if refused is not None:
                return refused
        return rules.principals.identify(headers)

    def _asked(self, came: "_Came") -> Asked:
        raw, arrival = came.raw, came.arrival
        client = None if arrival is None else client_address(arrival, came.headers, self._proxies)
        return Asked(raw.method, raw.raw_path.partition("?")[0], client, came.body.waited_s, came.trace)


@frozen
class _Came:
    """One request as it has come."""

    raw: web.BaseRequest
    headers: Headers
    arrival: Arrival | None
    body: IncomingBody
    trace: Trace | None


def _fault(raw: web.BaseRequest, headers: Headers, connection: Connection) -> str | None:
    """What is wrong with the head, of what aiohttp's parsers, or one of the two, have let through; None if nothing is.
    Such a request is refused, and its connection closed behind it.
    """
    if raw.version not in (HttpVersion11, HttpVersion10):
        return "the version must be HTTP/1.1 or HTTP/1.0"
    fault = head_fault(raw.method, headers, is_http_10=raw.version == HttpVersion10)
    if fault is None and raw.method == "GET" and asks_for_upgrade(headers) and not connection.holds_back():
        return "its Connection and Upgrade fields can be read in two ways"
    return fault


def _goes_first(raw: web.BaseRequest) -> bool:
    return raw.method in _READS or raw.raw_path.partition("?")[0] in _KEEP_LEASES


def _arrival(connection: Connection, raw: web.BaseRequest) -> Arrival | None:
    arrival = connection.arrival
    if arrival is None or raw.version == HttpVersion11:
        return arrival
    return replace(arrival, version="1.0")


def _not_taken(fault: str) -> Refused:
    return Refused(BAD_REQUEST, f"Not forwarded: {fault}. Mend the client.")


def _refuse(reply: Reply, refused: Refused) -> Ended:
    reply.refuse(refused)
    return Ended(refused)


def _fail(reply: Reply) -> None:
    """What a caller is told of a bug: nothing, once its answer has begun."""
    if reply.has_begun():
        reply.abort()
    else:
        reply.refuse(Refused(INTERNAL, "The gateway failed; whether the request had an effect is not known."))


def _length(headers: Headers) -> int | None:
    """The announced length: 0 without any framing, None when the body is chunked. The parser has checked both."""
    if headers.first(b"transfer-encoding") is not None:
        return None
    return int(headers.first(b"content-length") or 0)
