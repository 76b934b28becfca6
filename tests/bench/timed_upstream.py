"""An API that answers at once, and knows how long it was left alone between two writes: `python -m`, with a port.

`GET /gaps` tells them, in microseconds, and begins anew.
"""

import asyncio
import json
import sys
import time

from tests.bench.message import is_whole

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"


class _Gaps:
    def __init__(self) -> None:
        self._answered_at: float | None = None
        self._us: list[float] = []

    def arrived(self) -> None:
        if self._answered_at is not None:
            self._us.append((time.monotonic() - self._answered_at) * 1e6)

    def answered(self) -> None:
        self._answered_at = time.monotonic()

    def take(self) -> list[float]:
        taken, self._us, self._answered_at = self._us, [], None
        return taken


class _Upstream(asyncio.Protocol):
    def __init__(self, gaps: _Gaps) -> None:
        self._gaps = gaps
        self._came = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._came += data
        if not is_whole(self._came):
            return
        asked, self._came = self._came, b""
        if asked.startswith(b"GET /gaps "):
            self._answer(json.dumps(self._gaps.take()).encode())
            return
        self._gaps.arrived()
        self._answer(b'{"ok":true}')
        self._gaps.answered()

    def _answer(self, body: bytes) -> None:
        self._transport.write(_ANSWER % (len(body), body))


async def _serve(port: int) -> None:
    gaps = _Gaps()
    server = await asyncio.get_running_loop().create_server(lambda: _Upstream(gaps), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
