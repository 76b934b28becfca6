"""Sees another server become the primary, since when what was acknowledged before may be missing there, and until when
the former one has acknowledged more.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Iterable, Mapping

from tests.history.log import Log
from tests.history.store import Guarded
from tests.store.topology.node import Node

_LOOKS_EVERY_S = 0.2
# A server that is stopped does not answer.
_PATIENCE_S = 0.5
# A replica tells once a second how far it is.
_REMEMBERED = 600


class Promotions:
    """Of a guarded store, from `run` on. Each is noted when the first sentinel tells of it."""

    def __init__(self, store: Guarded, log: Log) -> None:
        self._store = store
        self._log = log
        self._primary = store.servers.servers[0]
        # All that was acknowledged until then the replica has.
        self._in_step = time.monotonic()
        self._offsets: deque[tuple[float, int]] = deque(maxlen=_REMEMBERED)
        # Offsets are of one history: a primary that was started anew counts in another one.
        self._history = ""
        # Each with the moment since which its successor may lack something.
        self._former: list[tuple[Node, float]] = []

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._compare())
            group.create_task(self._see_off())
            for sentinel in self._store.servers.sentinels:
                group.create_task(self._listen(sentinel))

    async def _listen(self, sentinel: Node) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", sentinel.port)
        with contextlib.closing(writer):
            writer.write(b"SUBSCRIBE +switch-master\r\n")
            async for line in reader:
                # The service, its former and its new address.
                words = line.split()
                if len(words) == 5:
                    self._promoted(int(words[4]))

    def _promoted(self, port: int) -> None:
        if port == self._primary.port:
            return
        self._former.append((self._primary, self._in_step))
        self._primary = next(server for server in self._store.servers.servers if server.port == port)
        self._offsets.clear()
        self._log.note("promoted", port=port, since=self._in_step)

    async def _see_off(self) -> None:
        """A primary that hands over while it lives takes writes of gateways that have not heard of it yet, until its
        sentinels tell it."""
        while True:
            for one in list(self._former):
                server, since = one
                if not await _takes_writes(server):
                    self._former.remove(one)
                    self._log.note("stepped-down", port=server.port, since=since)
            await asyncio.sleep(_LOOKS_EVERY_S)

    async def _compare(self) -> None:
        while True:
            primary, asked_at = self._primary, time.monotonic()
            replica = next(server for server in self._store.servers.servers if server is not primary)
            with contextlib.suppress(OSError, EOFError, ValueError):
                found, theirs = await _replication(primary), await _replication(replica)
                if primary is self._primary:
                    self._compared(asked_at, found, theirs)
            await asyncio.sleep(_LOOKS_EVERY_S)

    def _compared(self, asked_at: float, found: Mapping[str, str], replica: Mapping[str, str]) -> None:
        if found["master_replid"] != self._history:
            self._history = found["master_replid"]
            self._offsets.clear()
        self._offsets.append((asked_at, int(found["master_repl_offset"])))
        at = in_step_at(self._offsets, self._history, replica)
        if at is not None:
            self._in_step = at


def in_step_at(offsets: Iterable[tuple[float, int]], history: str, replica: Mapping[str, str]) -> float | None:
    """The last moment of which the replica has all, if it is one. `offsets`: where the primary was at which moment, in
    its `history`. `replica`: what that server says of itself (INFO); the primary's word may be of its former life.
    """
    if replica.get("master_link_status") != "up" or replica["master_replid"] != history:
        return None
    return max((at for at, offset in offsets if offset <= int(replica["slave_repl_offset"])), default=None)


async def _takes_writes(server: Node) -> bool:
    """One that does not answer takes none: gateways have left it before it wakes up."""
    try:
        return (await _replication(server))["role"] == "master"
    except (OSError, EOFError, ValueError):
        return False


async def _replication(server: Node) -> dict[str, str]:
    """What it says of it. Raises OSError, EOFError or ValueError where it does not."""
    async with asyncio.timeout(_PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        with contextlib.closing(writer):
            writer.write(b"INFO replication\r\n")
            size = int((await reader.readline()).removeprefix(b"$"))
            lines = (await reader.readexactly(size)).decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)
