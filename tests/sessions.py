"""WebSocket sessions from both ends: an upstream that records in which order what reached it, and an agent's frames."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from gateway.core.websocket import accept_of
from tests.listening import Listening
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import OK

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
HANDSHAKE = (
    "Connection: keep-alive, Upgrade",
    "Upgrade: WebSocket",
    "Sec-WebSocket-Version: 13",
    f"Sec-WebSocket-Key: {KEY.decode()}",
)
POLICY = """
upstream: rooms
url: http://localhost:{port}
mount: {{path: /rooms}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: live
    upgrade: websocket
    match: GET /rooms/{{id}}/live
    resource: room/{{path.id}}
  - name: write
    match: PUT /rooms/{{id}}
    resource: room/{{path.id}}
    fence: {{queue_timeout: 100ms}}
"""

Answering = Callable[[bytes], bytes]


def switching(key: bytes, *fields: bytes) -> bytes:
    """The 101 to a handshake with this key."""
    lines = (b"HTTP/1.1 101 Switching Protocols", b"Upgrade: websocket", b"Connection: Upgrade", *fields)
    return b"\r\n".join((*lines, b"Sec-WebSocket-Accept: " + accept_of(key))) + b"\r\n\r\n"


def frame(text: bytes, *, masked: bool = True) -> bytes:
    """A short text frame, as an agent sends it (its mask is of zeros) or a server."""
    return bytes((0x81, len(text) | 0x80 * masked)) + bytes(4 * masked) + text


@dataclass
class SessionUpstream(Listening):
    """Switches to WebSocket where it is asked to, and answers all else; `order` tells what came, and when.

    `port`: of its own choice, if none is given.
    """

    answer: Answering = switching
    farewell: bytes = b""
    order: list[str] = field(default_factory=list)
    handshakes: list[bytes] = field(default_factory=list)
    received: bytes = b""
    reads: bool = True
    port: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def say(self, data: bytes) -> None:
        """Send on the newest session."""
        self.writers[-1].write(data)
        await self.writers[-1].drain()

    async def _note(self, event: str) -> None:
        self.order.append(event)
        await self._tell()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if b"\r\nUpgrade: websocket\r\n" in head:
                    await self._session(head, reader, writer)
                    return
                length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].partition(b":")[2]) if length else 0)
                await self._note(f"{head.split(b' ')[0].decode()} {body.decode()}")
                writer.write(OK)

    async def _session(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.handshakes.append(head)
        key = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:"))
        answer = self.answer(key.partition(b":")[2].strip())
        self.writers.append(writer)
        await self._note("asked")
        writer.write(answer)
        await self._note("began" if answer.startswith(b"HTTP/1.1 101") else "declined")
        if not self.reads:
            await asyncio.Event().wait()
        try:
            while data := await reader.read(65536):
                self.received += data
                await self._note(f"got {len(data)}")
            await self._note("ended")
            writer.write(self.farewell)
        except ConnectionResetError:
            await self._note("reset")


class Agent(RawClient):
    """An agent's raw connection; `open` shakes hands."""

    async def open(self, target: str, token: str, *fields: str, then: bytes = b"") -> RawAnswer:
        """The answer to the handshake; `then` is sent in the same write."""
        shown = (f"Fencing-Token: {token}", *HANDSHAKE, *fields)
        await self.send(request("GET", target, *shown) + then)
        async with asyncio.timeout(20):
            head = await self._head()
        names = [tuple(part.strip().decode() for part in line.split(b":", 1)) for line in head[1:]]
        answer = RawAnswer(int(head[0].split(b" ")[1]), names, b"", True)
        if answer.status != 101:
            await self._body(answer)
        return answer

    async def take(self, length: int) -> bytes:
        async with asyncio.timeout(20):
            return await self.reader.readexactly(length)

    async def rest(self) -> bytes:
        """All that comes until the end; what broke off ends there."""
        taken = b""
        async with asyncio.timeout(20):
            with contextlib.suppress(ConnectionError):
                while data := await self.reader.read(65536):
                    taken += data
        return taken


def cut(code: int, reason: str) -> bytes:
    """The close frame of a session that was cut."""
    payload = code.to_bytes(2, "big") + reason.encode()
    return bytes((0x88, len(payload))) + payload


async def lease(port: int, resource: str, holder: str = "agent-a", **more: object) -> str:
    """A lease's token."""
    asked = json.dumps({"resource": resource, "holder": holder, "ttl_s": 60, **more}).encode()
    answer = await ask(port, "POST", "/-/fence/leases", body=asked)
    assert answer.status == 201, answer.body
    return str(json.loads(answer.body)["token"])
