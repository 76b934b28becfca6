"""A wire that loses the answer to each script once: the store has run it, and the connection breaks."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path


class Lossy:
    """Between a unix socket of its own and the store's. `lost` counts the answers that were thrown away."""

    def __init__(self, store_socket: str) -> None:
        self.lost = 0
        self._store_socket = store_socket
        self._seen: set[bytes] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        store_reader, store_writer = await asyncio.open_unix_connection(self._store_socket)
        with contextlib.closing(writer), contextlib.closing(store_writer):
            while command := await reader.read(65536):
                store_writer.write(command)
                answer = await store_reader.read(65536)
                if (b"EVAL" in command or b"FCALL" in command) and command not in self._seen:
                    self._seen.add(command)
                    self.lost += 1
                    return
                writer.write(answer)


@contextlib.asynccontextmanager
async def lossy(store_url: str, directory: Path) -> AsyncIterator[tuple[Lossy, str]]:
    """The wire, and the URL at which it is reached."""
    wire = Lossy(store_url.removeprefix("unix://").partition("?")[0])
    path = directory / "lossy"
    server = await asyncio.start_unix_server(wire.serve, path)
    try:
        yield wire, f"unix://{path}"
    finally:
        server.close()
        await server.wait_closed()
