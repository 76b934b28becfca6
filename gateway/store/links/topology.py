"""How many servers the store is: one, whichever the sentinels name, or the primaries of a cluster."""

from collections.abc import Awaitable, Sequence
from typing import Protocol

from gateway.store.keys import shards, store_record
from gateway.store.links.link import Link, OnConnected, Reply


class Server(Protocol):
    """A server that scripts are run on."""

    runs_functions: bool

    def send(self, command: bytes, /) -> Awaitable[Reply]:
        """One packed command's reply. Raises StoreUnavailable, or ScriptMissing."""
        ...


class Servers(Protocol):
    """Where scripts are run."""

    def at(self, key: str, /) -> Server:
        """The server that has this key."""
        ...


class Topology(Protocol):
    """What the rest of this package knows of the store's servers."""

    on_connected: OnConnected | None
    """Has each connection before any command leaves."""

    @property
    def healthy(self) -> bool:
        """Whether a server that takes writes answered the last time that it was asked, and is connected: what fails
        then is one server's, or one record's.
        """
        ...

    @property
    def servers(self) -> Sequence[Link]:
        """Each server that takes writes. Every key is on one of them; keys without a tag may be on any."""
        ...

    async def open(self) -> None:
        """Connect. Raises StoreUnavailable, with the reason, if that takes longer than a call may."""
        ...

    async def close(self) -> None:
        """Fail what is waiting, and close the connections."""
        ...

    def at(self, key: str, /) -> Link:
        """The connection to the server that has this key; whoever sends a packed command asks for it each time."""
        ...

    async def call(self, *arguments: str | bytes | int) -> Reply:
        """One command. It goes to the server of its second word, a key. Raises StoreUnavailable."""
        ...


def places(store: Topology) -> list[str]:
    """One shard of each server: its first."""
    found: dict[object, str] = {}
    for shard in shards():
        if len(found) == len(store.servers):
            break
        found.setdefault(store.at(store_record(shard)), shard)
    return list(found.values())
