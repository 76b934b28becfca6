"""A store that is far away: each piece arrives so much later, and none waits for another."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from tests.listening import Listening

_PIECE = 65536


class Way(Listening):
    """Leads to the store's socket."""

    def __init__(self, url: str, takes_s: float) -> None:
        self.port = 0
        self.takes_s = takes_s
        self._path = urlsplit(url).path

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, ahead = await asyncio.open_unix_connection(self._path)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, ahead))
                both.create_task(self._pass(behind, writer))
        except* OSError:
            pass
        finally:
            ahead.transport.abort()
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop, pieces = asyncio.get_running_loop(), asyncio.Queue[tuple[float, bytes]]()

        async def arrive() -> None:
            while True:
                at, piece = await pieces.get()
                await asyncio.sleep(at - loop.time())
                if not piece:
                    writer.write_eof()
                    return
                writer.write(piece)

        arriving = asyncio.ensure_future(arrive())
        try:
            piece = b"begun"
            while piece:
                piece = await reader.read(_PIECE)
                pieces.put_nowait((loop.time() + self.takes_s, piece))
            await arriving
        finally:
            arriving.cancel()


@contextlib.asynccontextmanager
async def far(url: str, takes_s: float) -> AsyncIterator[str]:
    """The URL of the same store, so far away."""
    async with Way(url, takes_s) as way:
        yield f"redis://127.0.0.1:{way.port}"
