"""A connection that carries one request at a time."""

import asyncio
from collections.abc import Callable

from tests.bench.message import is_whole

BROKEN = 0
BODY = b'{"title":"a report","text":"what a worker found out today"}'
_WRITE = (
    b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
    b"Fencing-Token: 7\r\nFencing-Holder: agent-a\r\nIdempotency-Key: %b\r\n\r\n%b"
)


class Connection(asyncio.Protocol):
    """`on_answer` is told the status of each answer, or BROKEN where there will be none."""

    def __init__(self, on_answer: Callable[["Connection", int], None]) -> None:
        self._on_answer = on_answer
        self._came = b""
        self._is_asked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._came += data
        if is_whole(self._came):
            status, self._came = int(self._came[9:12]), b""
            self._answered(status)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._is_asked:
            self._answered(BROKEN)

    def send(self, request: bytes) -> None:
        """Its answer has to come before the next one is sent."""
        self._is_asked = True
        if self._transport.is_closing():
            asyncio.get_running_loop().call_soon(self._answered, BROKEN)
        else:
            self._transport.write(request)

    def close(self) -> None:
        self._transport.close()

    def _answered(self, status: int) -> None:
        self._is_asked = False
        self._on_answer(self, status)


async def connected(port: int, count: int, on_answer: Callable[[Connection, int], None]) -> list[Connection]:
    """So many connections to a port of this machine."""
    loop = asyncio.get_running_loop()
    made = []
    for _ in range(count):
        _, connection = await loop.create_connection(lambda: Connection(on_answer), "127.0.0.1", port)
        made.append(connection)
    return made


def keyed_write(target: bytes, key: bytes) -> bytes:
    """The write that wrk's script sends too."""
    return _WRITE % (target, len(BODY), key, BODY)
