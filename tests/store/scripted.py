"""A server that answers each command with the next of the given replies, whatever was asked; then with PONG. Whoever
subscribes hears nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import hiredis


class Scripted:
    """`asked` are the commands that came, but for a connection's own set-up. A reply of None closes the connection."""

    def __init__(self, replies: list[bytes | None]) -> None:
        self.asked: list[list[bytes]] = []
        self.url = ""
        self._replies = replies

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        commands = hiredis.Reader()
        with contextlib.closing(writer):
            while data := await reader.read(65536):
                commands.feed(data)
                while (command := commands.gets()) is not False:
                    reply = self._reply(command)
                    if reply is None:
                        return
                    writer.write(reply)

    def _reply(self, command: list[bytes]) -> bytes | None:
        if command[0] == b"CLIENT":
            return b"+OK\r\n"
        if command[0] == b"SUBSCRIBE":
            return b""
        self.asked.append(command)
        return self._replies.pop(0) if self._replies else b"+PONG\r\n"


@contextlib.asynccontextmanager
async def scripted(*replies: bytes | None) -> AsyncIterator[Scripted]:
    script = Scripted(list(replies))
    server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    script.url = f"redis://{host}:{port}"
    try:
        yield script
    finally:
        server.close()
        await server.wait_closed()
