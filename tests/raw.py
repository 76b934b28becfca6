"""A client that sends exactly the bytes it is told, and reads answers as they come: HTTP libraries repair both."""

import asyncio
import json
import ssl
from dataclasses import dataclass
from typing import Self


@dataclass
class RawAnswer:
    """An answer as it came. `whole` tells whether its body ended by its own framing."""

    status: int
    fields: list[tuple[str, str]]
    body: bytes
    whole: bool

    def value(self, name: str) -> str | None:
        return next((value for key, value in self.fields if key.lower() == name.lower()), None)

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key.lower() == name.lower()]

    @property
    def decision(self) -> str | None:
        return self.value("Fencing-Decision")

    @property
    def problem(self) -> dict[str, object]:
        assert (self.value("Content-Type") or "").partition(";")[0] == "application/problem+json"
        problem: dict[str, object] = json.loads(self.body)
        return problem


class RawClient:
    """One connection, over TLS if a context is given."""

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._port = port
        self._tls = tls

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._tls)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def line(self) -> bytes:
        """The next line, or what came before the end."""
        async with asyncio.timeout(20):
            try:
                return await self.reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                return error.partial

    async def answer(self, method: str = "PUT") -> RawAnswer:
        """The next answer, interim ones read over. Raises ConnectionError if the connection ends before its head."""
        async with asyncio.timeout(20):
            status = 0
            while status < 200:
                head = await self._head()
                status = int(head[0].split(b" ")[1])
            fields = [tuple(part.strip().decode("latin-1") for part in line.split(b":", 1)) for line in head[1:]]
            answer = RawAnswer(status, fields, b"", True)
            if method != "HEAD" and status not in (204, 304):
                await self._body(answer)
            return answer

    async def _head(self) -> list[bytes]:
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            raise ConnectionError(f"ended after {error.partial!r}") from None
        return head[:-4].split(b"\r\n")

    async def _body(self, answer: RawAnswer) -> None:
        try:
            if answer.value("Transfer-Encoding") == "chunked":
                while size := int(await self.reader.readuntil(b"\r\n"), 16):
                    answer.body += (await self.reader.readexactly(size + 2))[:-2]
                await self.reader.readexactly(2)
            elif (length := answer.value("Content-Length")) is not None:
                answer.body = await self.reader.readexactly(int(length))
            else:
                answer.body = await self.reader.read()
        except asyncio.IncompleteReadError as error:
            answer.body += error.partial
            answer.whole = False
        except ConnectionError:
            answer.whole = False


def request(method: str, target: str, *fields: str, body: bytes | None = None, host: str = "localhost") -> bytes:
    """A request with a Host, and with a length where it has a body.

    A read gets none, so that tables may name methods of both kinds.
    """
    if method in ("GET", "HEAD", "OPTIONS"):
        body = None
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *fields]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


async def ask(
    port: int, method: str, target: str, *fields: str, body: bytes | None = None, host: str = "localhost"
) -> RawAnswer:
    """One request on a connection of its own."""
    async with RawClient(port) as client:
        await client.send(request(method, target, *fields, body=body, host=host))
        return await client.answer(method)
