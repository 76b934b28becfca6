"""A call whose answer was lost may be repeated: each script recognises its own request."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import redis

from gateway.core.epoch import Epoch
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.write import Admitted, Settled, Waiting, Write
from gateway.store.answer import Answer
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolution, Resolve, pause, resolve, resume
from gateway.store.keys import audit_trail, resource_keys, shard_of
from gateway.store.reply import FenceRecord
from tests.store.fences import (
    ANSWER,
    RESOURCE,
    RETRIED,
    SECRET,
    TTL_S,
    admitted,
    ask,
    bare,
    ended,
    everything,
    keyed,
    leased,
    opened,
    resolved,
    rule,
    settled,
)


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


async def again(store: FenceStore, raw: Any, call: Callable[[], Awaitable[object]]) -> object:
    """Calls twice; the second time answers as the first did, and leaves everything as it is. Returns the answer."""
    first = await call()
    after = everything(raw)
    assert _told(await call()) == _told(first)
    assert everything(raw) == after
    return first


def _told(reply: object) -> object:
    """The answer, but for the store's clock."""
    return replace(reply, now_ms=0) if isinstance(reply, FenceRecord | Answer) else reply


@pytest.mark.parametrize("outcome", ["applied", "not_applied", "unknown"])
@pytest.mark.parametrize(
    "write",
    [
        pytest.param(bare(42, of=rule(counts=True)), id="without a key"),
        pytest.param(keyed(bare(42, of=rule(counts=True))), id="with a key"),
    ],
)
async def test_a_write_is_admitted_and_settled_once(
    store: FenceStore, raw: Any, write: Write, outcome: Outcome
) -> None:
    """However often both are repeated: one ticket, one count, two events."""
    ticket = store.new_ticket(RESOURCE)

    one = await again(store, raw, lambda: store.admit(write, ticket, ttl_s=TTL_S, queued=False, behind=0))
    assert isinstance(one, Admitted)
    await again(store, raw, lambda: settled(store, one, outcome, ANSWER if outcome == "applied" else None))

    assert raw.xlen(audit_trail(shard_of(RESOURCE))) == 2


async def test_a_retry_in_doubt_is_admitted_once(store: FenceStore, raw: Any) -> None:
    """Its repeat is told its number, and that there is a doubt."""
    write = keyed(bare(42, of=RETRIED))
    await ended(store, write, "unknown")
    ticket = store.new_ticket(RESOURCE)

    one = await again(store, raw, lambda: store.admit(write, ticket, ttl_s=TTL_S, queued=False, behind=0))

    assert isinstance(one, Admitted)
    assert (one.attempt, one.in_doubt) == (2, True)


@pytest.mark.parametrize("resolution", ["applied", "not_applied"])
@pytest.mark.parametrize("outcome", ["applied", "not_applied", "unknown"])
async def test_late_evidence_is_told_once(
    store: FenceStore, raw: Any, resolution: Resolution, outcome: Outcome
) -> None:
    """An incident is told again to whoever lost the answer, and is in the trail once."""
    one = await ended(store, keyed(bare(42)), "unknown")
    await resolved(store, resolution)

    await again(store, raw, lambda: settled(store, one, outcome))


@pytest.mark.parametrize("second", [None, "applied", "not_applied", "unknown"])
async def test_evidence_of_an_earlier_attempt_is_told_once(store: FenceStore, raw: Any, second: Outcome | None) -> None:
    """Also when the later attempt ends between the call and its repeat."""
    first = await ended(store, keyed(bare(42)), "unknown")
    await resolved(store, "not_applied")
    later = await admitted(store, keyed(bare(42)))
    if second is not None:
        await settled(store, later, second)

    told = await again(store, raw, lambda: settled(store, first, "applied", ANSWER))
    await again(store, raw, lambda: settled(store, later, second or "applied"))

    assert isinstance(told, Settled)
    assert (await settled(store, first, "applied", ANSWER)).incident == told.incident


@pytest.mark.parametrize("outcome", ["applied", "not_applied", "unknown"])
async def test_a_lost_intent_is_restored_once(store: FenceStore, raw: Any, outcome: Outcome) -> None:
    """The repeat finds the record."""
    one = await admitted(store, keyed(bare(42, of=rule(counts=True))))
    raw.flushall()

    await again(store, raw, lambda: settled(store, one, outcome))


async def test_calls_of_owners_and_operators_are_made_once(store: FenceStore, raw: Any) -> None:
    """Each knows its own request by the secret, the epoch, or the request's id."""
    lease = await again(
        store, raw, lambda: store.grant(RESOURCE, "A", SECRET, ttl_ms=60_000, takeover=False, watch=False)
    )
    assert isinstance(lease, Lease)
    one = await ended(store, keyed(leased(lease.epoch)), "unknown")
    record = await store.recall(one.intent)
    assert record is not None
    resolution = Resolve("duplicated", "operator", "seen twice", "operator")
    begun = await pause(store, RESOURCE, id="p", reason="", by="operator")
    for call in (
        lambda: store.release(RESOURCE, lease.epoch, SECRET),
        lambda: store.register(RESOURCE, Epoch(lease.epoch + 1), "B", watch=False),
        lambda: store.advance(RESOURCE, None, "request"),
        lambda: resolve(store, record, resolution),
        lambda: pause(store, RESOURCE, id="p", reason="", by="operator"),
        lambda: resume(store, begun),
        lambda: store.look(RESOURCE),
        lambda: store.recall(one.intent),
        lambda: store.peek(bare(1)),
        lambda: store.leave(RESOURCE),
        lambda: store.abandon(keyed(bare(42)), one.ticket),
    ):
        await again(store, raw, call)
