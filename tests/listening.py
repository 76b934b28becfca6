"""A raw server on a free port, whose tests wait for what it has seen."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Self


class Listening:
    """For classes with `port`, 0 for a free one. `_serve` has each connection, and says by `_tell` that it saw."""

    port: int
    tls: ssl.SSLContext | None = None

    async def __aenter__(self) -> Self:
        self._changed = asyncio.Condition()
        self._serving: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, ssl=self.tls, backlog=1000)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until what was seen satisfies the condition."""
        async with asyncio.timeout(20), self._changed:
            await self._changed.wait_for(is_so)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        await self._serve(reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
