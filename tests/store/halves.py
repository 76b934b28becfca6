"""A store of two servers, each of which has every other shard: as a cluster's, without the seconds that one takes."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from gateway.store.keys import PAUSES_SHARD
from gateway.store.links.link import Link, OnConnected, Reply
from tests.store.fences import opened
from tests.store.server import Server


class Halves:
    """Implements `topology.Topology` over two connections that are open."""

    on_connected: OnConnected | None = None

    def __init__(self, even: Link, odd: Link) -> None:
        even.name, odd.name = "even", "odd"
        self.servers = (even, odd)

    @property
    def healthy(self) -> bool:
        return any(server.healthy for server in self.servers)

    async def open(self) -> None:
        """Both are."""

    async def close(self) -> None:
        await self.servers[0].close()

    def at(self, key: str, /) -> Link:
        """Keys without a tag are on the first."""
        shard = key.partition("{")[2].partition("}")[0] or PAUSES_SHARD
        return self.servers[int(shard, 16) % 2]

    async def call(self, *arguments: str | bytes | int) -> Reply:
        return await self.at(str(arguments[1])).call(*arguments)


@contextlib.asynccontextmanager
async def halved(directory: Path, timeout_s: float) -> AsyncIterator[tuple[FenceStore, Server]]:
    """The store, and the server of its odd shards."""
    servers = [Server(find_server(), directory / name, "--save", "") for name in ("even", "odd")]
    try:
        for name, server in zip(("even", "odd"), servers, strict=True):
            (directory / name).mkdir()
            server.start()
        even, odd = (opened(server.url, timeout_s=timeout_s) for server in servers)
        async with even as store, odd as other:
            assert isinstance(store.link, Link)
            assert isinstance(other.link, Link)
            store.link = Halves(store.link, other.link)
            yield store, servers[1]
    finally:
        for server in servers:
            server.kill()
