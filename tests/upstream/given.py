"""What a sender is given: a body, a clock, a request and the right to send it."""

import socket

from gateway.core.clock import Deadline
from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.outcome import NoReply, NotSent, Overdue
from gateway.core.request import Headers, Request
from gateway.core.rule import Origin, Rule, Upstream
from gateway.core.target import Target, read_target
from gateway.core.write import Admitted, ResourceKey, TicketId, Write
from gateway.flow.clock import BootClock
from gateway.upstream.sender import HttpSender, Reply
from gateway.upstream.wire import Wire


class Given:
    """A body that is given piece by piece; a piece that is an exception is raised."""

    def __init__(self, *pieces: bytes | Exception, whole: bool = False, length: int | None = None) -> None:
        self._pieces = list(pieces)
        self._whole = whole
        self.length = length

    async def begin(self) -> None:
        """What a piece is waited for is said in its place."""

    async def read(self) -> bytes:
        if not self._pieces:
            return b""
        piece = self._pieces.pop(0)
        if isinstance(piece, Exception):
            raise piece
        return piece

    def rewind(self) -> bool:
        return False

    def take_buffered(self) -> bytes | None:
        return b"".join(piece for piece in self._pieces if isinstance(piece, bytes)) if self._whole else None


class SetClock(BootClock):
    """A clock that the test turns: `passed` says that every deadline has passed."""

    passed = False

    def left(self, deadline: Deadline) -> float:
        return -1.0 if self.passed else super().left(deadline)


def upstream_at(port: int, host: str = "localhost", **fields: object) -> Upstream:
    return Upstream("u", Origin("http", host, port), **fields)


def request(method: str = "PUT", target: str = "/reports/7", *headers: tuple[bytes, bytes]) -> Request:
    read = read_target(target)
    assert isinstance(read, Target)
    return Request(method, read, Headers(headers))


def admitted(upstream: Upstream) -> Admitted:
    write = Write(Rule("r", upstream), ResourceKey("report/7"), Epoch(41), "a", b"")
    return Admitted(write, TicketId("000t"), None, IntentId("000t"))


async def send(
    sender: HttpSender, upstream: Upstream, asked: Request, body: Given
) -> Reply | Overdue | NotSent | NoReply:
    deadline = BootClock().after(upstream.timeouts.total_s)
    return await sender.send(admitted(upstream), asked, body, deadline)


def unread() -> tuple[Wire, socket.socket]:
    """A connection whose other end takes a few kilobytes, and no more before it is read."""
    server = socket.create_server(("127.0.0.1", 0))
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    ours = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    server.close()
    ours.setblocking(False)
    return Wire(ours), peer
