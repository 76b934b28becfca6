"""A raw upstream that records the exact bytes it was sent, counts executions, and answers as it is told."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.listening import Listening

OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"ok":true}'


@dataclass
class Seen:
    """One whole request as it came."""

    raw: bytes
    head: bytes
    body: bytes
    connection: int

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode("latin-1")

    def values(self, name: str) -> list[str]:
        wanted = name.lower().encode()
        fields = (line.partition(b":") for line in self.head.split(b"\r\n")[1:] if line)
        return [value.strip().decode("latin-1") for key, _, value in fields if key.lower() == wanted]


Answer = Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


async def answer_ok(_: Seen, writer: asyncio.StreamWriter) -> None:
    writer.write(OK)


def answering(data: bytes, *, close: bool = False, reset: bool = False) -> Answer:
    """Answer each request with these bytes, then leave the connection, close it or reset it."""

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        if reset:
            await writer.drain()
            writer.transport.abort()
        elif close:
            writer.close()

    return answer


@dataclass
class RecordingUpstream(Listening):
    """Listens on loopback. `seen` has every whole request; `partial` what came of those that were never whole."""

    answer: Answer = answer_ok
    before_body: Answer | None = None
    seen: list[Seen] = field(default_factory=list)
    partial: list[bytes] = field(default_factory=list)
    connections: int = 0
    receiving: int = 0
    port: int = 0
    tls: ssl.SSLContext | None = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        try:
            while seen := await self._request(reader, writer, number):
                self.seen.append(seen)
                await self._tell()
                await self.answer(seen, writer)
                await self._tell()
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            await self._tell()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> Seen | None:
        taken = bytearray()
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            taken += head
            self.receiving += 1
            await self._tell()
            if self.before_body is not None:
                await self.before_body(Seen(bytes(head), bytes(head), b"", number), writer)
            body = await self._body(Seen(bytes(head), bytes(head), b"", number), reader, taken)
        except asyncio.IncompleteReadError as error:
            taken += error.partial
            if taken:
                self.partial.append(bytes(taken))
            return None
        except ConnectionError:
            self.partial.append(bytes(taken))
            raise
        return Seen(bytes(taken), bytes(head), body, number)

    async def _body(self, seen: Seen, reader: asyncio.StreamReader, taken: bytearray) -> bytes:
        if seen.values("transfer-encoding") != ["chunked"]:
            body = await reader.readexactly(int((seen.values("content-length") or ["0"])[0]))
            taken += body
            return body
        body = b""
        while True:
            line = await reader.readuntil(b"\r\n")
            taken += line
            size = int(line, 16)
            piece = await reader.readexactly(size + 2)
            taken += piece
            if size == 0:
                return body
            body += piece[:-2]
