"""A store that went back in time is found out: by marks, and by what it acknowledged after the last one."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from gateway.store.keys import marks, resource_keys, shard_keys, store_record
from gateway.store.links.topology import places
from gateway.store.loss import losses
from gateway.store.loss.incarnation import MARK, Incarnation
from tests.store.fences import (
    OTHER_SECRET,
    PATIENCE_S,
    RESOURCE,
    admitted,
    ask,
    bare,
    ended,
    granted,
    keyed,
    leased,
    name_of,
    settled,
)
from tests.store.losing import Remembering, remembering
from tests.store.server import Server
from tests.until import until

APPEND_ONLY = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")


@pytest.fixture
def durable(tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own, whose file has everything."""
    server = Server(find_server(), tmp_path, *APPEND_ONLY, "--auto-aof-rewrite-percentage", "0")
    server.start()
    yield server
    server.kill()


@contextlib.contextmanager
def going_back(server: Server, directory: Path) -> Iterator[Callable[[], None]]:
    """What is called first keeps the store as it is; at the end it comes back as it was then."""
    copy = directory / "copy"

    def keep() -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(directory / "appendonlydir", copy)

    yield keep
    server.kill()
    shutil.rmtree(directory / "appendonlydir")
    shutil.copytree(copy, directory / "appendonlydir")
    server.start()


async def until_told(*all_of_them: Remembering) -> str:
    """Why, by the one that found it; nobody else says so too."""
    await until(lambda: any(one.told for one in all_of_them))
    (why,) = [why for one in all_of_them for why in one.told]
    return why


async def is_regressed(one: Remembering) -> bool:
    return await losses.regressed(one.store) is not None


@contextlib.asynccontextmanager
async def quiet(one: Remembering) -> AsyncIterator[None]:
    """No marks of its own meanwhile."""
    assert one.store.marking is not None
    one.store.marking.cancel()
    yield


async def test_marks_rise_and_the_incarnation_stays(store_url: str, raw: Any) -> None:
    """What is remembered is what the store acknowledged, process by process."""
    async with remembering(store_url, "one") as one, remembering(store_url, "two") as two:
        before = one.incarnation.remembered["000"]
        await one.mark()

        after = one.incarnation.remembered["000"]
        kept = {name: mark.partition(b" ")[0] for name, mark in raw.hgetall(marks("000")).items()}
        assert after.mark > before.mark >= 1
        assert after.incarnation == before.incarnation == two.incarnation.remembered["000"].incarnation
        assert raw.hget(store_record("000"), "incarnation").decode() == after.incarnation
        assert int(kept[b"one"]) >= after.mark
        assert places(one.store.link) == ["000"]
        assert not await is_regressed(one)


async def test_a_mark_that_is_executed_late_is_no_loss(store_url: str) -> None:
    """Its connection stood still, and another has left later ones."""
    async with remembering(store_url, "one") as one:
        at = one.incarnation.remembered["000"]
        late = "one", at.incarnation, str(at.mark), str(at.mark + 1), "x", "1000", ""
        for _ in range(3):
            await one.mark()
        await one.store.run(MARK, shard_keys("000"), *late)
        await one.mark()

        assert one.told == []
        assert not await is_regressed(one)


async def test_a_process_that_begins_clears_away_old_marks(store_url: str, raw: Any) -> None:
    """Those of processes that are long gone; not those that a file may remember."""
    raw.hset(marks("000"), mapping={"gone": "7 1000", "odd": "x", "kept-1": "7 1000"})
    async with remembering(store_url, "one"):
        assert raw.hkeys(marks("000")) == [b"kept-1", b"one"]


async def test_a_lost_connection_is_no_loss(store_url: str, raw: Any) -> None:
    """The store has everything, and says so; nothing is told, and nothing waits."""
    async with remembering(store_url) as one:
        lease = await granted(one.store)
        first = await admitted(one.store, keyed(leased(lease.epoch)))
        raw.client_kill_filter(_type="normal", skipme=True)

        assert (await settled(one.store, first, "applied")).outcome == "applied"
        assert name_of(await ask(one.store, keyed(leased(lease.epoch)))) == "Replayed"
        assert one.told == []


async def test_a_restart_that_lost_nothing_is_no_loss(durable: Server) -> None:
    """The last second of its life is there too: epochs, intents and tickets."""
    async with remembering(durable.url) as one, quiet(one):
        lease = await granted(one.store)
        await ended(one.store, keyed(leased(lease.epoch)), "applied")
        first = await admitted(one.store, leased(lease.epoch))
        durable.kill()
        durable.start()

        assert name_of(await ask(one.store, leased(lease.epoch))) == "Waiting"
        assert (await settled(one.store, first, "applied")).outcome == "applied"
        assert one.told == []


async def test_an_emptied_store_is_found_within_a_second(store_url: str, raw: Any) -> None:
    """No connection is lost then: the next mark finds it. One process tells, and all obey."""
    async with remembering(store_url) as one, remembering(store_url) as two:
        lease = await granted(one.store)
        raw.flushall()
        await one.mark()

        why = await until_told(one, two)

        assert why == "it knows nothing of this gateway: it is empty, or another one"
        assert name_of(await ask(two.store, leased(lease.epoch))) == "store-regressed"
        assert name_of(await ask(two.store, bare(42))) == "store-regressed"
        assert raw.hget(store_record("000"), "why").decode() == why
        # Both know of it, and once it is accepted an old token is one to be replaced.
        await losses.accept(one.store, note="looked", by="operator")
        await two.mark()
        await until(lambda: two.store.recent is not None and two.store.recent.floor > 0)
        for store in (one.store, two.store):
            assert name_of(await ask(store, leased(lease.epoch))) == "token-invalid"


async def test_what_began_anew_without_a_memory_is_a_loss(store_url: str, raw: Any) -> None:
    """A gateway that starts on an emptied store does not know; one that knew it does."""
    async with remembering(store_url) as one, quiet(one):
        await granted(one.store)
        raw.flushall()
        async with remembering(store_url) as newcomer:
            raw.client_kill_filter(_type="normal", skipme=True)
            await one.store.look(RESOURCE)

            assert one.told == ["it is another one than it was: it was emptied, or replaced"]
            assert name_of(await ask(newcomer.store, bare(42))) == "store-regressed"


async def test_a_file_that_is_gone_is_a_loss(durable: Server, tmp_path: Path) -> None:
    """Found before anything else is asked over the new connection."""
    async with remembering(durable.url) as one:
        lease = await granted(one.store)
        await one.mark()
        durable.kill()
        shutil.rmtree(tmp_path / "appendonlydir")
        durable.start()

        assert name_of(await ask(one.store, leased(lease.epoch))) == "store-regressed"
        assert len(one.told) == 1


async def test_a_copy_from_before_is_a_loss(durable: Server, tmp_path: Path) -> None:
    """The former holder, whose lease the copy has, is refused as well as the last one."""
    async with remembering(durable.url) as one:
        former = await granted(one.store, "A")
        with going_back(durable, tmp_path) as keep:
            keep()
            last = await granted(one.store, "B", OTHER_SECRET, takeover=True)
            await one.mark()

        assert name_of(await ask(one.store, leased(former.epoch))) == "store-regressed"
        assert name_of(await ask(one.store, leased(last.epoch, OTHER_SECRET))) == "store-regressed"
        assert one.told[0].startswith("it has gone back to mark ")
        renewed = await granted(one.store, "C", OTHER_SECRET)
        assert renewed.epoch > last.epoch


FAST = ("an intent", "a ticket")
STEPS: dict[str, Callable[[Remembering, int], Any]] = {
    "a grant": lambda one, epoch: granted(one.store, "B", OTHER_SECRET, takeover=True),
    "an intent": lambda one, epoch: ended(one.store, keyed(leased(epoch)), "applied"),
    "a ticket": lambda one, epoch: admitted(one.store, leased(epoch)),
    "an advance": lambda one, epoch: one.store.advance(RESOURCE, None, "request"),
    "an epoch from elsewhere": lambda one, epoch: one.store.register(RESOURCE, epoch + 1, "B", watch=False),
}


@pytest.mark.parametrize(
    "step", [step if step in FAST else pytest.param(step, marks=pytest.mark.slow) for step in STEPS]
)
async def test_one_step_after_the_last_mark_is_missed(durable: Server, tmp_path: Path, step: str) -> None:
    """The last second of a store's life is no blind spot for whoever heard of it."""
    async with remembering(durable.url) as one, quiet(one):
        former = await granted(one.store, "A")
        with going_back(durable, tmp_path) as keep:
            keep()
            await STEPS[step](one, former.epoch)

        assert name_of(await ask(one.store, leased(former.epoch))) == "store-regressed"
        assert [why.partition(" of ")[0] for why in one.told] == ["it has forgotten 1"]


async def test_an_ending_after_the_last_mark_is_missed(durable: Server, tmp_path: Path) -> None:
    """Its caller was told what became of the write; a store that would call it unknown has lost that."""
    async with remembering(durable.url) as one:
        lease = await granted(one.store)
        first = await admitted(one.store, keyed(leased(lease.epoch)))
        await one.mark()
        async with quiet(one):
            with going_back(durable, tmp_path) as keep:
                keep()
                await settled(one.store, first, "applied")

            assert name_of(await ask(one.store, leased(lease.epoch))) == "store-regressed"
            assert one.told == ["it has forgotten 1 of 1 steps that it acknowledged in its last second"]


async def test_whoever_connects_first_waits_for_those_who_know(durable: Server, tmp_path: Path) -> None:
    """One of two gateways knows of the lost takeover, and is the last to come back."""
    async with (
        remembering(durable.url) as knows,
        remembering(durable.url, patience_s=0.7) as other,
        quiet(knows),
        quiet(other),
    ):
        former = await granted(other.store, "A")
        await other.mark()
        with going_back(durable, tmp_path) as keep:
            keep()
            await granted(knows.store, "B", OTHER_SECRET, takeover=True)

        assert name_of(await ask(other.store, leased(former.epoch))) == "store-regressed"
        assert (len(knows.told), other.told) == (1, [])


@pytest.mark.slow  # it waits for longer than it waits for others
async def test_whoever_began_without_the_store_waits_for_those_who_know(durable: Server, tmp_path: Path) -> None:
    """It remembers nothing that could be missing, and both come back at the same instant."""
    async with remembering(durable.url) as knows, quiet(knows):
        await admitted(knows.store, bare(42))
        durable.kill()
        shutil.rmtree(tmp_path / "appendonlydir")
        began = time.monotonic()
        begins = asyncio.ensure_future(opened_late(durable.url, patience_s=0.7))
        await until(lambda: time.monotonic() > began + 1.0)
        durable.start()
        store = await begins
        try:
            assert name_of(await ask(store, bare(41))) == "store-regressed"
            assert len(knows.told) == 1
        finally:
            await store.close()


async def opened_late(url: str, *, patience_s: float) -> FenceStore:
    incarnation = Incarnation(None, BootClock(), lambda _: None, None, patience_s)
    return await open_store(
        url, on_wake=lambda _: None, timeout_s=PATIENCE_S, clock=BootClock(), incarnation=incarnation
    )


async def test_a_truncated_file_is_a_loss(durable: Server, tmp_path: Path) -> None:
    """As a crash of the machine leaves it: the server starts, and says nothing of it."""
    async with remembering(durable.url) as one:
        former = await granted(one.store, "A")
        await one.mark()
        durable.kill()
        (file,) = (tmp_path / "appendonlydir").glob("*.incr.aof")
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])
        durable.start()

        assert name_of(await ask(one.store, leased(former.epoch))) == "store-regressed"
        assert len(one.told) == 1


async def test_a_memory_outlives_its_process(store_url: str, raw: Any) -> None:
    """All gateways and the store were restarted at once; a file knew what the store had."""
    async with remembering(store_url, "kept-1") as one:
        known = dict(one.incarnation.remembered)
    async with remembering(store_url, "kept-1", known) as same:
        assert same.told == []
    raw.flushall()

    async with remembering(store_url, "kept-1", known) as again:
        assert again.told == ["it knows nothing of this gateway: it is empty, or another one"]


async def test_who_hears_of_a_loss_sees_to_all_shards(store_url: str, raw: Any) -> None:
    """The one that found it may have died half way."""
    async with remembering(store_url) as one, quiet(one):
        before = one.incarnation.remembered["000"].incarnation
        about = {"incarnation": "b", "before": f"x {before}", "since": 1, "floor": 2, "why": "w", "by": "x"}
        raw.hset(store_record("000"), mapping=about)
        raw.client_kill_filter(_type="normal", skipme=True)

        assert name_of(await ask(one.store, bare(42))) == "store-regressed"
        assert raw.get(f"{resource_keys(RESOURCE)[6]}lost") == b"2 open"
        assert one.told == []


async def test_a_server_that_takes_no_writes_is_not_believed(store_url: str, raw: Any) -> None:
    """A replica that lags is no store that went back: writes fail until the address leads elsewhere."""
    async with remembering(store_url, timeout_s=0.6) as one, quiet(one):
        raw.hset(marks("000"), one.incarnation.name, "0 1")
        raw.replicaof("127.0.0.1", 1)
        try:
            raw.client_kill_filter(_type="normal", skipme=True)
            with pytest.raises(Exception, match=r"read only replica|MASTERDOWN|link with MASTER"):
                await one.store.look(RESOURCE)
            assert one.told == []
        finally:
            raw.replicaof("NO", "ONE")
        with redis.Redis.from_url(store_url) as client:
            assert client.hget(store_record("000"), "since") is None


async def test_a_copy_from_after_a_former_loss_is_a_loss(store_url: str, raw: Any) -> None:
    """It has an incarnation that somebody told of, and not the one that is remembered."""
    async with remembering(store_url) as one, quiet(one):
        for count in (1, 2):
            if count == 2:
                kept = raw.dump(store_record("000"))
            raw.delete(marks("000"))
            raw.client_kill_filter(_type="normal", skipme=True)
            await one.store.look(RESOURCE)
            assert len(one.told) == count
            await losses.accept(one.store, note="looked", by="operator")
            await one.mark()
        raw.restore(store_record("000"), 0, kept, replace=True)
        raw.client_kill_filter(_type="normal", skipme=True)
        await one.store.look(RESOURCE)

        assert one.told[2:] == ["it is another one than it was: it was emptied, or replaced"]


async def test_who_fails_without_a_mark_between_is_silent(store_url: str) -> None:
    """What fails beside the marks silences nobody: a loss is still noticed. It is told once."""
    silent = list[None]()
    async with remembering(store_url, "one") as one, quiet(one):
        one.incarnation.on_silent = lambda: silent.append(None)
        for _ in range(2):
            for _ in range(4):
                one.incarnation.failed()
            await one.mark()
        assert not one.incarnation.is_silent

        for _ in range(6):
            one.incarnation.failed()

    assert one.incarnation.is_silent and silent == [None]
