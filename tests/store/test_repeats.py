"""A call whose answer was lost may be repeated: each script recognises its own request."""

import asyncio

import pytest
import redis

from gateway.core.faults import StoreUnavailable
from gateway.core.write import Admitted, Waiting
from gateway.store.keys import resource_keys
from tests.store.fences import RESOURCE, TTL_S, admitted, ask, bare, opened, rule


async def test_an_admission_is_not_its_own_duplicate(store_url: str) -> None:
    """The same ticket again is the same admission: not busy with itself, one ticket, one place."""
    async with opened(store_url) as store:
        ticket = store.new_ticket(RESOURCE)
        replies = [await store.admit(bare(42), ticket, ttl_s=TTL_S, queued=False, behind=0) for _ in range(3)]

        assert all(isinstance(reply, Admitted) for reply in replies)
        with redis.Redis.from_url(store_url) as client:
            assert client.hlen(resource_keys(RESOURCE)[1]) == 1


async def test_an_admission_is_repeated_even_after_it_was_overtaken(store_url: str) -> None:
    """The ticket is in flight, and the newer write waits for it: its own gateway may still send."""
    async with opened(store_url) as store:
        ticket = store.new_ticket(RESOURCE)
        await store.admit(bare(41), ticket, ttl_s=TTL_S, queued=False, behind=0)
        assert isinstance(await ask(store, bare(42, "B")), Waiting)

        assert isinstance(await store.admit(bare(41), ticket, ttl_s=TTL_S, queued=False, behind=0), Admitted)


async def test_a_settled_write_counts_once(store_url: str) -> None:
    """Settling again changes neither the count nor the record."""
    async with opened(store_url) as store:
        write = await admitted(store, bare(42, of=rule(counts=True)))
        settled = [await store.settle(write, "applied", "", None) for _ in range(3)]

        assert [one.revision for one in settled] == [1, 1, 1]


async def test_a_settle_restores_what_a_failover_lost(store_url: str) -> None:
    """The admission is gone with its store: the epoch is raised to the write's own, so that no older one gets in."""
    async with opened(store_url) as store:
        write = await admitted(store, bare(42))
        with redis.Redis.from_url(store_url) as client:
            client.flushall()
        await store.settle(write, "applied", "", None)
        older = await ask(store, bare(41))

        assert not isinstance(older, Admitted | Waiting)
        assert older.facts.highest_epoch == 42


async def test_an_abandoned_admission_leaves_nothing_in_flight(store_url: str) -> None:
    """The admit call's answer was lost; whether it arrived or not, the next write gets through."""
    async with opened(store_url) as store:
        arrived, never = store.new_ticket(RESOURCE), store.new_ticket(RESOURCE)
        await store.admit(bare(42), arrived, ttl_s=TTL_S, queued=False, behind=0)
        await store.abandon(bare(42), arrived)
        await store.abandon(bare(42), never)

        assert isinstance(await ask(store, bare(42)), Admitted)


async def test_scripts_survive_that_the_store_forgets_them(store_url: str) -> None:
    """SCRIPT FLUSH in a loop under load: no caller sees an error for it."""
    flushing = True

    async def flush() -> None:
        async with opened(store_url) as other:
            while flushing:
                await other.link.call("SCRIPT", "FLUSH")

    async with opened(store_url) as store:
        task = asyncio.ensure_future(flush())
        for _ in range(300):
            await store.settle(await admitted(store, bare(42)), "applied", "", None)
        flushing = False
        await task


async def test_two_hundred_callers_that_leave_never_shift_a_reply(store_url: str) -> None:
    """Each reply goes to the call that it answers, also when half of the callers were cancelled before it came."""
    async with opened(store_url) as store:

        async def echo(n: int) -> bytes:
            reply = await store.link.call("ECHO", f"call-{n}")
            assert isinstance(reply, bytes)
            return reply

        tasks = [asyncio.ensure_future(echo(n)) for n in range(200)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        answered = await asyncio.gather(*tasks, return_exceptions=True)

        assert answered[1::2] == [f"call-{n}".encode() for n in range(1, 200, 2)]
        assert await echo(1000) == b"call-1000"


async def test_a_key_of_another_type_leaves_nothing_half_done(store_url: str) -> None:
    """Lua does not roll back: everything that is written is read before, and fails there."""
    keys = resource_keys(RESOURCE)
    async with opened(store_url) as store:
        with redis.Redis.from_url(store_url) as client:
            for spoilt in keys[1:5]:
                client.flushall()
                await store.settle(await admitted(store, bare(41)), "applied", "", None)
                client.set(spoilt, "not what it should be")
                before = client.hgetall(keys[0])
                with pytest.raises(StoreUnavailable):
                    await ask(store, bare(42, "B"))
                assert client.hgetall(keys[0]) == before
