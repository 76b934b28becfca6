"""Whose turn it is among gateways, and who is woken for it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from gateway.core.epoch import Epoch
from gateway.core.rule import Fence
from gateway.core.write import Admitted, ResourceKey, Waiting
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from tests.store.fences import OTHER_SECRET, RESOURCE, SECRET, admitted, ask, bare, granted, name_of, opened, rule
from tests.store.overdue import make_overdue

PARALLEL = rule(Fence(concurrency="parallel"))

Woken = asyncio.Queue[ResourceKey | None]


@contextlib.asynccontextmanager
async def gateway(url: str) -> AsyncIterator[tuple[FenceStore, Woken]]:
    """A gateway that listens, and what woke it since."""
    woken: Woken = asyncio.Queue()
    async with opened(url, woken.put_nowait) as store:
        assert await woken.get() is None
        yield store, woken


async def test_gateways_take_turns(store_url: str) -> None:
    """A gateway with more writes behind the one that got through goes to the end of the line."""
    async with opened(store_url) as one, opened(store_url) as two:
        gateways = {"one": one, "two": two}
        in_flight = await admitted(one, bare(42))
        for store in gateways.values():
            assert name_of(await ask(store, bare(42))) == "Waiting"
        turns = []
        for _ in range(4):
            await one.settle(in_flight, "applied", "answered 200", None)
            for name, store in gateways.items():
                reply = await ask(store, bare(42), queued=True, behind=5)
                if isinstance(reply, Admitted):
                    in_flight = reply
                    turns.append(name)
                    break

        assert turns == ["one", "two", "one", "two"]


async def test_a_newcomer_is_behind_its_own_gateways_waiters(store: FenceStore) -> None:
    """Only the first of a gateway's waiters asks as one that is queued."""
    in_flight = await admitted(store, bare(42))
    await ask(store, bare(42))
    await store.settle(in_flight, "applied", "answered 200", None)

    assert name_of(await ask(store, bare(42))) == "Waiting"
    assert name_of(await ask(store, bare(42), queued=True)) == "Admitted"


async def test_a_silent_gateway_loses_its_place(store_url: str, raw: Any) -> None:
    """It has not asked for more than a second: whoever is alive passes."""
    async with opened(store_url) as one, opened(store_url) as two:
        in_flight = await admitted(one, bare(42))
        await ask(two, bare(42))
        await one.settle(in_flight, "applied", "answered 200", None)
        waiters = resource_keys(RESOURCE)[3]
        arrival, _, seen = raw.hget(waiters, two.gateway).decode().partition(":")
        raw.hset(waiters, two.gateway, f"{arrival}:{int(seen) - 1500}")

        assert name_of(await ask(one, bare(42))) == "Admitted"


async def test_settling_wakes_only_the_gateway_that_came_first(store_url: str) -> None:
    """The second one sleeps on until the first has had its turn."""
    async with (
        opened(store_url) as one,
        gateway(store_url) as (two, woken_two),
        gateway(store_url) as (three, woken_three),
    ):
        in_flight = await admitted(one, bare(42))
        await ask(two, bare(42))
        await ask(three, bare(42))

        await one.settle(in_flight, "applied", "answered 200", None)
        assert await woken_two.get() == RESOURCE
        assert woken_three.empty()

        reply = await ask(two, bare(42), queued=True)
        assert isinstance(reply, Admitted)
        await two.settle(reply, "applied", "answered 200", None)
        assert await woken_three.get() == RESOURCE


async def test_a_waiter_that_is_refused_gives_its_place_up(store_url: str) -> None:
    """The next one is woken, and is not held up by one that will not come again."""
    async with gateway(store_url) as (one, _), gateway(store_url) as (two, woken):
        in_flight = await admitted(one, bare(42))
        await ask(one, bare(42))
        await ask(two, bare(42))
        await one.settle(in_flight, "applied", "answered 200", None)

        assert name_of(await ask(one, bare(42, "B"), queued=True)) == "holder-mismatch"

        assert await woken.get() == RESOURCE
        assert name_of(await ask(two, bare(42), queued=True)) == "Admitted"


async def test_the_end_of_the_last_older_write_wakes_all_who_wait_for_it(store_url: str) -> None:
    """Writers of the newer epoch and lease calls alike."""
    async with gateway(store_url) as (one, woken_one), gateway(store_url) as (two, woken_two):
        older = [await admitted(one, bare(41, of=PARALLEL)) for _ in range(2)]
        assert await two.register(RESOURCE, Epoch(42), "B", watch=True) == 2
        assert name_of(await ask(one, bare(42, "B", PARALLEL))) == "Waiting"

        await one.settle(older[0], "applied", "answered 200", None)
        assert woken_one.empty() and woken_two.empty()
        await one.settle(older[1], "applied", "answered 200", None)

        assert await woken_one.get() == RESOURCE
        assert await woken_two.get() == RESOURCE


async def test_a_parallel_gateway_is_woken_for_the_write_behind(store_url: str) -> None:
    """Under `parallel` the next one need not wait for the first to end."""
    async with gateway(store_url) as (one, woken):
        older = await admitted(one, bare(41, of=PARALLEL))
        assert name_of(await ask(one, bare(42, "B", PARALLEL))) == "Waiting"
        await one.settle(older, "applied", "answered 200", None)
        assert await woken.get() == RESOURCE

        assert name_of(await ask(one, bare(42, "B", PARALLEL), queued=True, behind=1)) == "Admitted"

        assert await woken.get() == RESOURCE


async def test_a_release_wakes_who_watches_once(store_url: str) -> None:
    """A lease call that waits is woken when the lease ends; then it has to watch again."""
    async with gateway(store_url) as (store, woken):
        lease = await granted(store)
        held = await store.grant(RESOURCE, "B", OTHER_SECRET, ttl_ms=1000, takeover=False, watch=True)
        assert name_of(held) == "lease-held"

        await store.release(RESOURCE, lease.epoch, SECRET)
        assert await woken.get() == RESOURCE

        await granted(store, "C", OTHER_SECRET)
        await store.ping()
        assert woken.empty()


async def test_an_overdue_ticket_in_the_way_ends(store: FenceStore, raw: Any) -> None:
    """Whoever waits for it ends it as unknown and passes, without waiting for the sweeper."""
    dead = await admitted(store, bare(41))
    assert isinstance(await ask(store, bare(42, "B")), Waiting)
    make_overdue(raw, RESOURCE, dead.ticket)

    assert name_of(await ask(store, bare(42, "B"), queued=True)) == "Admitted"
    record = await store.recall(dead.ticket)
    assert record is not None and record.state == "unknown"
