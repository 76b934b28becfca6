"""A body in the making: its head has come to the gateway's own server, the test sends the rest; and a full disk."""

import asyncio
import contextlib
import resource
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from aiohttp import web

from gateway.core.arrival import TrustedProxies
from gateway.core.trace import Trace
from gateway.flow.gate import Ended
from gateway.proxy.asked import Asked
from gateway.proxy.body import IncomingBody
from gateway.proxy.memory import Memory
from gateway.proxy.server import ProxyServer
from tests.raw import RawClient, request
from tests.served import served


class _Failures:
    """Implements the listener's `Observer`: nothing may fail."""

    def answered(self, ended: Ended, asked: Asked, status: int, seconds: float) -> None: ...

    def unanswered(self, trace: Trace, asked: Asked) -> None: ...

    def failed(self, error: BaseException) -> None:
        raise error


@dataclass
class Arriving:
    """A request whose head has come, from both ends."""

    client: RawClient
    body: IncomingBody
    raw: web.BaseRequest

    async def send(self, body: bytes) -> None:
        """The body, in the framing that the head announced."""
        if self.body.length is not None:
            await self.client.send(body)
            return
        for start in range(0, len(body), 100_000):
            chunk = body[start : start + 100_000]
            await self.client.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await self.client.send(b"0\r\n\r\n")

    async def spool(self, body: bytes, feed: Callable[[bytes], None], in_memory: int) -> bytes | None:
        """Send the body to one who already waits for it."""
        spooling = asyncio.ensure_future(self.body.spool(feed, in_memory))
        await asyncio.sleep(0)
        await self.send(body)
        return await spooling


@dataclass
class Feed:
    """Keeps what it is fed. `stops_at`: this call, counted from 0, says so and waits for `go_on`."""

    stops_at: int = -1
    pieces: list[bytes] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    stopped: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, piece: bytes) -> None:
        self.threads.add(threading.get_ident())
        self.pieces.append(piece)
        if len(self.pieces) == self.stops_at + 1:
            self.stopped.set()
            assert self.go_on.wait(20)

    @property
    def fed(self) -> bytes:
        return b"".join(self.pieces)


@contextlib.asynccontextmanager
async def handled(handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> AsyncIterator[int]:
    """The gateway's own server with another handler; its port."""
    server = ProxyServer(handle, _Failures(), TrustedProxies())
    async with served(server) as port:
        yield port


@contextlib.asynccontextmanager
async def arriving(length: int | None, memory: Memory | None = None) -> AsyncIterator[Arriving]:
    """The gateway's own server, and one caller that announces a body; None: a chunked one."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[web.BaseRequest] = loop.create_future()
    ended = asyncio.Event()

    async def handle(raw: web.BaseRequest) -> web.StreamResponse:
        came.set_result(raw)
        await ended.wait()
        return web.Response()

    async with handled(handle) as port, RawClient(port) as client:
        framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
        await client.send(request("PUT", "/", framing))
        raw = await came
        try:
            yield Arriving(client, IncomingBody(raw, length, memory), raw)
        finally:
            ended.set()


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The kernel refuses to let any file of this process grow beyond `size`: EFBIG."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
