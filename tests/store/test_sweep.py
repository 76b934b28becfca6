"""Tickets of dead gateways: they end as unknown past deadline and grace, and what was waiting goes on."""

import asyncio

import pytest

from gateway.core.write import Admitted, Waiting
from gateway.store import views
from gateway.store.keys import SWEEPER
from gateway.store.sweep import sweep_once
from tests.store.fences import RESOURCE, admitted, ask, bare, opened, rule
from tests.until import until

DEAD = rule(total_s=0.05)


async def test_a_dead_gateways_ticket_ends_as_unknown(store_url: str) -> None:
    """Not before its deadline and the grace; then it is listed, and counts as a revision."""
    async with opened(store_url) as dead, opened(store_url) as alive:
        write = await admitted(dead, bare(42, of=rule(counts=True, total_s=0.05)), ttl_s=0.05)
        assert await sweep_once(alive) == 0

        async def swept() -> bool:
            await alive.link.call("DEL", SWEEPER)
            return await sweep_once(alive) == 1

        await until(swept)
        page = await views.unknown_intents(alive, None)

        assert [(item.id, item.resource, item.epoch, item.state) for item in page.items] == [
            (write.ticket, RESOURCE, 42, "unknown")
        ]
        assert await alive.revision(RESOURCE) == 1
        assert isinstance(await ask(alive, bare(42)), Admitted)


async def test_a_newcomer_ends_an_overdue_ticket_itself(store_url: str) -> None:
    """It does not have to wait for a sweeper."""
    async with opened(store_url) as dead, opened(store_url) as alive:
        await admitted(dead, bare(41, of=DEAD), ttl_s=0.05)
        assert isinstance(await ask(alive, bare(42, "B")), Waiting)

        async def is_admitted() -> bool:
            return isinstance(await ask(alive, bare(42, "B"), queued=True), Admitted)

        await until(is_admitted)


async def test_what_was_swept_and_becomes_known_is_resolved(store_url: str) -> None:
    """The gateway was only slow: its own evidence turns the unknown write into what it was."""
    async with opened(store_url) as slow, opened(store_url) as alive:
        write = await admitted(slow, bare(42, of=DEAD), ttl_s=0.05)

        async def swept() -> bool:
            await alive.link.call("DEL", SWEEPER)
            return await sweep_once(alive) == 1

        await until(swept)
        await slow.settle(write, "applied", "answered 200, late")

        assert (await views.unknown_intents(alive, None)).items == ()


async def test_one_gateway_sweeps_at_a_time(store_url: str) -> None:
    """The others do nothing until its turn is over."""
    async with opened(store_url) as one, opened(store_url) as two:
        await sweep_once(one)
        called: list[str] = []
        two.on_call = lambda name, _: called.append(name)

        assert await sweep_once(two) == 0
        assert called == []


async def test_a_store_clock_that_jumps_forward_ends_no_ticket_early(store_url: str) -> None:
    """Judged by the asking gateway's own clock too: an hour's jump leaves a live gateway's ticket alone."""
    async with opened(store_url) as one, opened(store_url) as two:
        await admitted(one, bare(41))
        two._clock.learn(two.expected_ms() - 3_600_000, two._clock.read(), two._clock.read())

        waiting = await ask(two, bare(42, "B"))

        assert isinstance(waiting, Waiting) and waiting.why == "older"


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_an_idle_resource_costs_at_most_200_bytes(store_url: str) -> None:
    """Measured over a million resources with names of 32 characters, each written under a lease that was released."""
    from gateway.core.token import digest_secret
    from gateway.core.write import ResourceKey

    count, secret = 1_000_000, digest_secret("x" * 32)
    async with opened(store_url, timeout_s=30) as store:

        async def used() -> int:
            reply = await store.link.call("INFO", "memory")
            assert isinstance(reply, bytes)
            return int(reply.split(b"used_memory:")[1].split(b"\r\n")[0])

        async def one(n: int) -> None:
            resource = ResourceKey(f"report/{n:025d}")
            lease = await store.grant(resource, "agent-a", secret, ttl_ms=60_000, takeover=False, watch=False)
            await store.release(resource, lease.epoch, secret)  # type: ignore[union-attr]

        before = await used()
        for start in range(0, count, 1000):
            await asyncio.gather(*(one(n) for n in range(start, start + 1000)))
        each = (await used() - before) / count

        assert each <= 200, each
