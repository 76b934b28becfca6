"""A store that forgets scripts, dies, or loses answers."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import redis

from gateway.core.faults import PartUnavailable, StoreUnavailable
from gateway.core.rule import Fence
from gateway.core.write import Admitted, Settled, Write
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from tests.store.fences import RESOURCE, SECRET, admitted, ask, bare, ended, granted, name_of, opened, rule
from tests.store.halves import halved
from tests.store.load import load
from tests.store.lossy import lossy
from tests.store.server import Server
from tests.until import until


async def test_forgotten_scripts_are_sent_again(store: FenceStore, raw: Any) -> None:
    """Scripts and functions are flushed over and over under load: no caller hears of it, nothing runs twice."""
    async with load(store):
        for _ in range(100):
            raw.script_flush()
            raw.function_flush()
            await store.ping()


async def test_a_restarted_server_is_picked_up(tmp_path: Path) -> None:
    """Killed and started again under load: what was not answered is repeated, and nothing is applied twice."""
    server = Server(find_server(), tmp_path, "--appendonly", "yes", "--save", "")
    server.start()
    try:
        async with opened(server.url, timeout_s=10) as store, load(store):
            for _ in range(3):
                await asyncio.gather(*(store.ping() for _ in range(200)))
                server.kill()
                server.start()
                await store.ping()
    finally:
        server.kill()


async def test_epochs_survive_the_servers_death(tmp_path: Path) -> None:
    """The older epoch is still refused after the restart."""
    server = Server(find_server(), tmp_path, "--appendonly", "yes", "--save", "")
    server.start()
    try:
        async with opened(server.url, timeout_s=10) as store:
            await admitted(store, bare(42))
            server.kill()
            server.start()
            reply = await ask(store, bare(41))
        assert not isinstance(reply, Admitted)
    finally:
        server.kill()


async def test_a_lost_reply_is_not_its_own_duplicate(store: FenceStore, store_url: str, tmp_path: Path) -> None:
    """Each answer is lost once after the store has executed the call: the repeat finds what the first one did."""
    # The functions' text is larger than a piece on that wire.
    await ended(store, bare(1), "not_applied")
    async with lossy(store_url, tmp_path) as (wire, url), opened(url, timeout_s=5) as store:
        lease = await granted(store)
        write = Write(
            rule(Fence(sequence="contiguous"), authority="lease", counts=True), RESOURCE, lease.epoch, None, SECRET, 1
        )
        ticket = await admitted(store, write)
        assert await store.settle(ticket, "applied", "answered 200", None) == Settled(False, 1, "applied")
        assert name_of(await store.renew(RESOURCE, lease.epoch, SECRET)) == "Lease"
        assert name_of(await store.release(RESOURCE, lease.epoch, SECRET)) == "Lease"
        advanced = await store.advance(RESOURCE, None, "request")
        assert await store.look(RESOURCE) is not None

        assert wire.lost >= 7
        record = await store.look(RESOURCE)
        assert record is not None
        assert (record.epoch, record.revision, record.in_flight) == (advanced, 1, 0)


@pytest.mark.parametrize("functions", [True, False], ids=["a function", "a script"])
async def test_a_write_is_not_recorded_half(store: FenceStore, raw: Any, *, functions: bool) -> None:
    """Where the server takes no writes it is refused before it has written anything."""
    (server,) = store.link.servers
    server.runs_functions = functions
    raw.config_set("maxmemory", 1)
    try:
        with pytest.raises(StoreUnavailable, match="OOM"):
            await ask(store, bare(42))
        raw.config_set("min-replicas-to-write", 1)
        raw.config_set("maxmemory", 0)
        put_off = asyncio.ensure_future(ask(store, bare(42)))
        await until(lambda: any("NOREPLICAS" in (call.why or "") for call in server._put_off))
        assert raw.dbsize() == 0
    finally:
        raw.config_set("maxmemory", 0)
        raw.config_set("min-replicas-to-write", 0)
    assert isinstance(await put_off, Admitted)


async def test_a_server_without_room_for_more_connections(store_url: str, raw: Any) -> None:
    """Its own words are told, if they come before its end; once there is room the connection is made by itself."""
    usual = raw.config_get("maxclients")["maxclients"]
    async with opened(store_url) as store:
        raw.config_set("maxclients", len(raw.client_list()))
        try:
            with pytest.raises(StoreUnavailable, match=r"max number of clients|Connection lost"):
                async with opened(store_url, timeout_s=0.2):
                    pass
            store.link.servers[0].leave()
            called = asyncio.ensure_future(store.ping())
        finally:
            raw.config_set("maxclients", usual)
        await called


async def test_a_server_that_a_script_keeps_busy(store_url: str, raw: Any) -> None:
    """Callers are put off until it is over."""
    usual = raw.config_get("busy-reply-threshold")["busy-reply-threshold"]
    raw.config_set("busy-reply-threshold", 1)
    try:
        async with opened(store_url) as store:
            busy = asyncio.ensure_future(asyncio.to_thread(raw.eval, "while true do end", 0))
            await until(lambda: _is_busy(raw))
            called = asyncio.ensure_future(store.ping())
            await until(lambda: len(store.link.servers[0]._put_off) == 1)
            raw.script_kill()
            await called
            with pytest.raises(redis.ResponseError):
                await busy
    finally:
        raw.config_set("busy-reply-threshold", usual)


def _is_busy(raw: Any) -> bool:
    try:
        raw.ping()
    except redis.ResponseError:
        return True
    return False


async def test_one_server_of_several_that_is_away_is_named(tmp_path: Path) -> None:
    """The others take writes; whether all do is asked of each."""
    async with halved(tmp_path, 0.2) as (store, odd):
        await store.ping()
        odd.kill()

        with pytest.raises(PartUnavailable, match="odd: "):
            await store.ping()

        odd.start()
        await until(lambda: all(server.connected for server in store.link.servers))
        await store.ping()
