"""A store that forgets scripts, dies, or loses answers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from gateway.core.rule import Fence
from gateway.core.write import Admitted, ResourceKey, Settled, Waiting, Write
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from tests.store.fences import RESOURCE, SECRET, admitted, ask, bare, granted, name_of, opened, rule
from tests.store.lossy import lossy
from tests.store.server import Server

_WRITERS = 16


async def write_on(store: FenceStore, number: int, stop: asyncio.Event) -> int:
    """One agent that writes its own resource until told to stop; returns how many writes were applied."""
    write = Write(rule(counts=True), ResourceKey(f"report/{number}"), bare(42).epoch, "A", None)
    applied = 0
    while not stop.is_set():
        reply = await ask(store, write)
        if isinstance(reply, Waiting):
            continue
        assert isinstance(reply, Admitted), reply
        assert reply.revision == applied
        settled = await store.settle(reply, "applied", "answered 200", None)
        applied += 1
        assert settled.revision == applied
    return applied


@contextlib.asynccontextmanager
async def load(store: FenceStore) -> AsyncIterator[None]:
    """Writes go on within the block; each must find its own revision, and none may fail."""
    stop = asyncio.Event()
    writers = [asyncio.ensure_future(write_on(store, number, stop)) for number in range(_WRITERS)]
    try:
        yield
    finally:
        stop.set()
        applied = await asyncio.gather(*writers)
    assert min(applied) > 0


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


async def test_a_lost_reply_is_not_its_own_duplicate(store_url: str, tmp_path: Path) -> None:
    """Each answer is lost once after the store has executed the call: the repeat finds what the first one did."""
    async with lossy(store_url, tmp_path) as (wire, url), opened(url) as store:
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
