"""The proxy listener: one handler for every request, and aiohttp's own errors in the gateway's words."""

import asyncio
from typing import Protocol

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, BAD_REQUEST, INTERNAL, Refused
from gateway.core.faults import CallerGone
from gateway.core.request import Headers, Request
from gateway.core.target import Ambiguous, read_target
from gateway.flow.gate import Ended, Gate
from gateway.proxy.agent_api import AgentApi
from gateway.proxy.body import IncomingBody
from gateway.proxy.reply import Reply

# Everything under /-/fence/ is the agents' own calls; no upstream can be reached there.
RESERVED = ("-", "fence")


class Observer(Protocol):
    """Who is told what became of each request."""

    def answered(self, ended: Ended, method: str, path: str, status: int, seconds: float) -> None: ...

    def failed(self, error: BaseException) -> None:
        """A bug: the request was answered with 500, or cut off."""
        ...


class Listener:
    """Reads each request once and hands it on."""

    def __init__(self, gate: Gate, agents: AgentApi, observer: Observer) -> None:
        self._gate = gate
        self._agents = agents
        self._observer = observer

    def server(self) -> web.Server:
        """The protocol factory for `loop.create_server`."""
        return _Server(self._handle, access_log=None, auto_decompress=False)

    async def _handle(self, raw: web.BaseRequest) -> web.StreamResponse:
        started = asyncio.get_running_loop().time()
        headers = Headers(raw.raw_headers)
        body = IncomingBody(raw, _length(headers))
        reply = Reply(raw, body)
        target = read_target(raw.raw_path)
        try:
            if isinstance(target, Ambiguous):
                ended = _refuse(reply, Refused(AMBIGUOUS_TARGET, f"Not forwarded: {target.why}. Send it in one form."))
            elif target.segments[:2] == RESERVED:
                ended = await self._agents.handle(Request(raw.method, target, headers), body, Caller(), reply)
            else:
                ended = await self._gate.handle(Request(raw.method, target, headers), body, Caller(), reply)
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
        path = target.path if not isinstance(target, Ambiguous) else raw.raw_path.partition("?")[0]
        seconds = asyncio.get_running_loop().time() - started
        self._observer.answered(ended, raw.method, path, reply.status, seconds)
        return reply.sent()


def _refuse(reply: Reply, refused: Refused) -> Ended:
    reply.refuse(refused)
    return Ended(refused)


def _length(headers: Headers) -> int | None:
    """The announced length: 0 without any framing, None when the body is chunked. The parser has checked both."""
    if headers.first(b"transfer-encoding") is not None:
        return None
    return int(headers.first(b"content-length") or 0)


class _Server(web.Server):
    """aiohttp's server with a connection handler of ours."""

    def __call__(self) -> RequestHandler:
        assert self._loop is not None
        return _Connection(self, loop=self._loop, **self._kwargs)


class _Connection(RequestHandler):
    """aiohttp's connection; what its parser refuses is told as a problem, and the connection is closed."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        body = IncomingBody(request, 0)
        reply = Reply(request, body)
        if status == 400:
            why = (message or "it cannot be parsed").splitlines()[0].rstrip(":. ")
            reply.refuse(Refused(BAD_REQUEST, f"Not forwarded: the request is not valid HTTP ({why})."))
        else:
            self.log_exception("unhandled", exc_info=exc)
            reply.refuse(Refused(INTERNAL, "The gateway failed; whether the request had an effect is not known."))
        sent = reply.sent()
        sent.force_close()
        return sent
