"""The store of a run: one server behind wires, or several of which sentinels make one the primary."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from tests.history.wire import Wire
from tests.store.topology.guarded import GuardedServers, start_guarded
from tests.store.topology.node import Node

# What is killed has written all that it acknowledged. A command line outlives what sentinels write into a server's
# configuration, a limit of its memory that a nemesis set among it.
_OPTIONS = (
    *("--save", "", "--appendonly", "yes", "--appendfsync", "always"),
    *("--maxmemory-policy", "noeviction", "--maxmemory", "0"),
)


class Lone:
    """One server, and a wire from each gateway to it."""

    def __init__(self, directory: Path) -> None:
        self.wires: list[Wire] = []
        self._server = Node(directory, *_OPTIONS)

    async def set_up(self, ending: AsyncExitStack, gateways: int) -> None:
        ending.callback(self._server.stop)
        await asyncio.to_thread(self._server.start)
        for _ in range(gateways):
            self.wires.append(await ending.enter_async_context(Wire(lambda: self._server.port)))

    def url(self, gateway: int) -> str:
        return f"redis://127.0.0.1:{self.wires[gateway].port}/0"

    async def primary(self) -> Node:
        return self._server


class Guarded:
    """A primary, its replicas, and three sentinels, which gateways ask for the way to it."""

    def __init__(self, directory: Path, replicas: int) -> None:
        self.wires: list[Wire] = []
        self.servers = GuardedServers([], [])
        self._directory = directory
        self._replicas = replicas

    async def set_up(self, ending: AsyncExitStack, gateways: int) -> None:
        starting = asyncio.ensure_future(
            asyncio.to_thread(start_guarded, self._directory, self._replicas, options=_OPTIONS)
        )
        try:
            self.servers = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A thread goes on.
            (await starting).stop()
            raise
        ending.callback(self.servers.stop)

    def url(self, gateway: int) -> str:
        return self.servers.url

    async def primary(self) -> Node:
        return await asyncio.to_thread(self.servers.primary)

    async def replica(self) -> Node:
        """One of the others."""
        primary = await self.primary()
        return next(server for server in self.servers.servers if server is not primary)
