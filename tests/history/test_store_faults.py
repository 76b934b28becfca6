"""What befalls a store's server, and that it is over when it is healed."""

import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import redis

from tests.history.plan import Fault
from tests.history.store import Guarded, Lone
from tests.history.store_faults import StoreFaults
from tests.store.topology.node import Node
from tests.until import until

# Beyond the room that its target leaves.
_MORE = b"x" * 2000
# Sentinels let a primary that comes back alone for a while, and longer on a machine that others keep busy.
_DEMOTED_WITHIN_S = 90.0


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Lone]:
    async with AsyncExitStack() as ending:
        store = Lone(tmp_path / "store")
        await store.set_up(ending, 1)
        yield store


def _follows(server: Node) -> bool:
    """Whoever is demoted hangs up."""
    with contextlib.suppress(redis.ConnectionError):
        return b"role:slave" in server.ask("INFO", "replication")
    return False


def takes(server: Node) -> bool:
    """Whether a server acknowledges a write."""
    try:
        return bool(server.ask("SET", "a", _MORE))
    except redis.RedisError:
        return False


@pytest.mark.parametrize("target", [0, 1], ids=["a server that flushes always ends", "one that flushes later refuses"])
async def test_a_full_disk(store: Lone, target: int) -> None:
    """Nothing more is acknowledged once a write has failed; with room it goes on, and a death loses nothing of it."""
    server = await store.primary()
    assert takes(server)
    async with StoreFaults(store).by_kind["fill-disk"](Fault(0, "fill-disk", target, 0)):
        acknowledged = takes(server)
        assert not takes(server)
        # It hangs up before it has ended.
        await until(lambda: server.is_running == bool(target))
    assert takes(server)
    assert server.ask("CONFIG", "GET", "appendfsync")[1] == b"always"
    server.ask("SET", "b", 1)
    server.stop()
    server.start()

    assert server.ask("GET", "b") == b"1"
    assert acknowledged == bool(target)


async def test_a_full_memory(store: Lone) -> None:
    """Writes are refused, and then are not."""
    server = await store.primary()
    async with StoreFaults(store).by_kind["fill-store"](Fault(0, "fill-store", 0, 0)):
        assert not takes(server)
    assert takes(server)


async def test_a_killed_server_has_what_it_acknowledged(store: Lone) -> None:
    """It comes back on the same port."""
    server = await store.primary()
    assert takes(server)
    async with StoreFaults(store).by_kind["kill-store"](Fault(0, "kill-store", 0, 0)):
        assert not server.is_running
    assert server.ask("GET", "a") == _MORE


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["kill-primary", "stop-primary", "lose-primary", "fail-over"])
async def test_a_primary_that_is_away_is_replaced(tmp_path: Path, kind: str) -> None:
    """By the server that was its replica; it comes back as one."""
    async with AsyncExitStack() as ending:
        store = Guarded(tmp_path / "store", 1)
        await store.set_up(ending, 1)
        first, second = store.servers.servers
        assert takes(first)
        async with StoreFaults(store).by_kind[kind](Fault(0, kind, 0, 0)):
            await store.servers.promoted(first)
            assert await store.primary() is second
        await until(lambda: _follows(first), within_s=_DEMOTED_WITHIN_S)

        assert takes(second)
