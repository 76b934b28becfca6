"""What a nemesis does to the store's servers."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.history import child
from tests.history.plan import Fault
from tests.history.store import Guarded, Lone
from tests.store.room import leave_room
from tests.store.topology.node import Node
from tests.until import until

# A store that is stopped does not answer.
_PATIENCE_S = 1.0
# Sentinels that do not begin with a failover, or do not end it, by then have no replica in step.
_FAILS_OVER_WITHIN_S = 15.0
# So long a replica has heard nothing of what is acknowledged when its primary is killed.
_LAGS_S = 1.0

_Suffering = AbstractAsyncContextManager[None]


class StoreFaults:
    """Of one store. `by_kind`: each as a block, with whose end it is healed."""

    def __init__(self, store: Lone | Guarded) -> None:
        self._store = store
        # What is being killed and started is neither killed nor filled meanwhile.
        self._alone = asyncio.Lock()
        self.by_kind: Mapping[str, Callable[[Fault], _Suffering]] = {
            "stop-store": self._stopped,
            "kill-store": self._killed,
            "fill-store": self._memory_filled,
            "fill-disk": self._disk_filled,
            "flush-scripts": self._scripts_flushed,
            "kill-clients": self._clients_killed,
            "stop-primary": self._stopped_alone,
            "kill-primary": self._killed,
            "lose-primary": self._lost,
            "fail-over": self._failed_over,
        }

    @asynccontextmanager
    async def _stopped(self, _: Fault) -> AsyncIterator[None]:
        server = await self._store.primary()
        pids = [server.pid] if server.is_running else []
        child.signal_all(pids, signal.SIGSTOP)
        try:
            yield
        finally:
            child.signal_all(pids, signal.SIGCONT)

    @asynccontextmanager
    async def _stopped_alone(self, fault: Fault) -> AsyncIterator[None]:
        async with self._alone, self._stopped(fault):
            yield

    @asynccontextmanager
    async def _killed(self, _: Fault) -> AsyncIterator[None]:
        async with self._alone:
            server = await self._store.primary()
            await asyncio.to_thread(server.stop)
            yield
            await asyncio.to_thread(server.start)

    @asynccontextmanager
    async def _lost(self, _: Fault) -> AsyncIterator[None]:
        """The primary is killed while a replica lacks what it has acknowledged."""
        async with self._alone:
            server, replica = await self._guarded.primary(), await self._guarded.replica()
            os.kill(replica.pid, signal.SIGSTOP)
            # What is in their connection it would read afterwards.
            await _ask(server, lambda client: client.client_kill_filter(_type="replica"))
            await asyncio.sleep(_LAGS_S)
            await asyncio.to_thread(server.stop)
            os.kill(replica.pid, signal.SIGCONT)
            yield
            await asyncio.to_thread(server.start)

    @asynccontextmanager
    async def _failed_over(self, _: Fault) -> AsyncIterator[None]:
        """As an operator asks for it; sentinels refuse while no replica is in step."""
        async with self._alone:
            server = await self._guarded.primary()

            async def is_begun() -> bool:
                return await asyncio.to_thread(self._guarded.servers.fails_over)

            async def is_over() -> bool:
                return await self._guarded.primary() is not server

            with suppress(TimeoutError):
                await until(is_begun, within_s=_FAILS_OVER_WITHIN_S)
                await until(is_over, within_s=_FAILS_OVER_WITHIN_S)
            yield

    @property
    def _guarded(self) -> Guarded:
        assert isinstance(self._store, Guarded)
        return self._store

    @asynccontextmanager
    async def _scripts_flushed(self, _: Fault) -> AsyncIterator[None]:
        server = await self._store.primary()
        await _ask(server, lambda client: (client.script_flush(), client.function_flush()))
        yield

    @asynccontextmanager
    async def _clients_killed(self, _: Fault) -> AsyncIterator[None]:
        server = await self._store.primary()
        await _ask(server, lambda client: client.client_kill_filter(_type="normal"))
        yield

    @asynccontextmanager
    async def _memory_filled(self, _: Fault) -> AsyncIterator[None]:
        """It refuses what needs memory, as one whose machine has none left."""
        server = await self._store.primary()
        await _ask(server, lambda client: client.config_set("maxmemory", "1mb"))
        yield
        while not await _ask(server, lambda client: client.config_set("maxmemory", "0")):
            await asyncio.sleep(_PATIENCE_S)

    @asynccontextmanager
    async def _disk_filled(self, fault: Fault) -> AsyncIterator[None]:
        """A write of its file is cut short, and the next ones fail.

        What follows depends on when it flushes: it refuses what writes, or it ends, and is started once there is room.
        """
        async with self._alone:
            server = await self._store.primary()
            flushing = "everysec" if fault.target % 2 else "always"
            await _ask(server, lambda client: client.config_set("appendfsync", flushing))
            leave_room(server.pid, server.written_bytes + fault.target)
            yield
            leave_room(server.pid, None)
            # What waited for room in its memory is in its file, and that can be read, before it may be killed.
            for recovers in (_writes_again, _has_written_all):
                while not await _ask(server, recovers):
                    await asyncio.sleep(_PATIENCE_S / 10)
                    if not server.is_running:
                        await asyncio.to_thread(server.start)


def _writes_again(client: Any) -> None:
    """Raises a RedisError as long as it does not. Its file may have a gap then: an operator has it written anew."""
    if client.info("persistence")["aof_last_write_status"] != "ok":
        raise redis.RedisError("its file lacks something")
    client.config_set("appendfsync", "always")
    client.bgrewriteaof()


def _has_written_all(client: Any) -> None:
    """Raises a RedisError as long as it has not."""
    found = client.info("persistence")
    if found["aof_rewrite_in_progress"] or found["aof_rewrite_scheduled"]:
        raise redis.RedisError("its file is being written")
    if found["aof_last_bgrewrite_status"] != "ok":
        client.bgrewriteaof()
        raise redis.RedisError("its file was not written")


async def _ask(server: Node, ask: Callable[[Any], object]) -> bool:
    """Whether it answered: it may be away, or end this very connection. The client is untyped: its replies are
    unions."""

    def asking() -> None:
        once = Retry(NoBackoff(), 0)
        with redis.Redis(port=server.port, socket_timeout=_PATIENCE_S, retry=once) as client:
            ask(client)

    try:
        await asyncio.to_thread(asking)
    except (redis.RedisError, OSError):
        return False
    return True
