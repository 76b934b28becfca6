"""Waiting for a resource over several gateways: in order, woken, and without a storm of questions."""

import asyncio
from dataclasses import replace

import redis

from gateway.core.decision import Refused
from gateway.core.write import Admitted, ResourceKey, Waiting
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.pauses import Pauses
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from gateway.store.fence import FenceStore
from gateway.store.pauses import PauseRecords
from tests.store.fences import RESOURCE, admitted, ask, bare, opened


async def test_a_newcomer_does_not_pass_a_waiting_gateway(store_url: str) -> None:
    """Another gateway waits: even when the resource is free, it is that one's turn."""
    async with opened(store_url) as one, opened(store_url) as two:
        first = await admitted(one, bare(42))
        assert isinstance(await ask(two, bare(42)), Waiting)
        await one.settle(first, "applied", "", None)

        assert isinstance(await ask(one, bare(42)), Waiting)
        assert isinstance(await ask(two, bare(42), queued=True), Admitted)


async def test_a_gateway_that_leaves_is_waited_for_no_longer(store_url: str) -> None:
    """Its place is given up, and the next one's turn comes at once."""
    async with opened(store_url) as one, opened(store_url) as two:
        first = await admitted(one, bare(42))
        assert isinstance(await ask(two, bare(42)), Waiting)
        await one.settle(first, "applied", "", None)
        await two.leave(RESOURCE)

        assert isinstance(await ask(one, bare(42)), Admitted)


async def test_an_observed_write_takes_no_place(store_url: str) -> None:
    """It is told that it would have to wait, and does not: nobody after it is kept waiting by it."""
    observed = replace(bare(42), rule=replace(bare(42).rule, mode="observe"))
    async with opened(store_url) as one, opened(store_url) as two:
        first = await admitted(one, observed)
        assert isinstance(await ask(two, observed), Waiting)
        await one.settle(first, "applied", "", None)

        assert isinstance(await ask(one, observed), Admitted)


async def test_whoever_waits_is_woken_by_the_settling(store_url: str) -> None:
    """The first of the waiters is told the resource; nobody had to ask for it."""
    woken: asyncio.Queue[ResourceKey | None] = asyncio.Queue()
    async with opened(store_url) as one, opened(store_url, woken.put_nowait) as two:
        # None says that the subscription stands: what came before may be lost.
        assert await woken.get() is None
        first = await admitted(one, bare(42))
        assert isinstance(await ask(two, bare(42)), Waiting)
        await one.settle(first, "applied", "", None)

        async with asyncio.timeout(20):
            assert await woken.get() == RESOURCE


async def test_a_newer_epoch_wakes_those_whom_it_overtakes(store_url: str) -> None:
    """They ask again and are told that they are stale, instead of waiting to the end of their patience."""
    woken: asyncio.Queue[ResourceKey | None] = asyncio.Queue()
    async with opened(store_url) as one, opened(store_url, woken.put_nowait) as two:
        assert await woken.get() is None
        await admitted(one, bare(42))
        assert isinstance(await ask(two, bare(42)), Waiting)
        await ask(one, bare(43, "B"))

        async with asyncio.timeout(20):
            assert await woken.get() == RESOURCE
        stale = await ask(two, bare(42), queued=True)
        assert isinstance(stale, Refused) and stale.decision.name == "stale-epoch"


async def test_sixty_four_waiters_over_two_gateways_cause_no_storm(store_url: str) -> None:
    """All writes get through one after the other, with at most six commands for each."""
    counts = {"calls": 0, "at once": 0, "most": 0, "written": 0}

    async def write(store: FenceStore, admission: Admission) -> None:
        got = await admission.admit(bare(42), lambda: False)
        assert not isinstance(got, Refused), got
        counts["at once"] += 1
        counts["most"] = max(counts["most"], counts["at once"])
        await asyncio.sleep(0)
        counts["at once"] -= 1
        counts["written"] += 1
        await store.settle(got[0], "applied", "", None)

    def counted(_name: str, _seconds: float) -> None:
        counts["calls"] += 1

    one_wakes, two_wakes, tasks, clock = Wakes(), Wakes(), Tasks(), BootClock()
    async with opened(store_url, one_wakes.on_wake) as one, opened(store_url, two_wakes.on_wake) as two:
        one.on_call = two.on_call = counted
        gateways = [
            (one, Admission(one, clock, one_wakes, tasks, Pauses(one, PauseRecords(one), clock, one_wakes))),
            (two, Admission(two, clock, two_wakes, tasks, Pauses(two, PauseRecords(two), clock, two_wakes))),
        ]
        await asyncio.gather(*(write(*gateways[n % 2]) for n in range(64)))
        await tasks.drain(5)

        assert (counts["written"], counts["most"]) == (64, 1)
        assert counts["calls"] <= 6 * 64, counts
        with redis.Redis.from_url(store_url) as client:
            assert client.keys("*:t:*") == []
