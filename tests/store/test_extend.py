"""Extending: a session's ticket lives on while a write of its token would be admitted, and no longer."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.epoch import Epoch
from gateway.core.rule import Fence
from gateway.core.write import Admitted, Extended, Lapsed, ResourceKey, Waiting
from gateway.store.fence import FenceStore
from gateway.store.intents import pause
from gateway.store.keys import resource_keys
from gateway.store.packed import unpack_ticket
from tests.store.fences import (
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    admitted,
    ask,
    bare,
    everything,
    granted,
    leased,
    name_of,
    opened,
    rule,
    settled,
)
from tests.store.overdue import make_overdue

LIFE_S = 5.0


def deadline_ms(raw: Any, one: Admitted) -> int:
    """The ticket's own and the one in the shard's list, which are one."""
    _, tickets, _, _, deadlines, *_ = resource_keys(RESOURCE)
    listed = raw.zscore(deadlines, f"{one.ticket} {RESOURCE}")
    assert listed == unpack_ticket(raw.hget(tickets, one.ticket)).deadline_ms
    return int(listed)


async def test_a_ticket_lives_as_long_as_it_is_told_from_now(store: FenceStore, raw: Any) -> None:
    """Longer or shorter than before, by the store's clock."""
    one = await admitted(store, bare(42), ttl_s=30.0)
    before = deadline_ms(raw, one)

    assert await store.extend(one, ttl_s=LIFE_S) == Extended()

    assert before - 26_000 < deadline_ms(raw, one) < before - 20_000


async def test_it_says_how_long_the_lease_lasts(store: FenceStore, raw: Any) -> None:
    """By the store's clock; where others grant the epochs, there is nothing to say."""
    lease = await granted(store)
    one = await admitted(store, leased(lease.epoch))
    raw.hset(resource_keys(RESOURCE)[0], "x", lease.expires_at_ms - 40_000)

    told = await store.extend(one, ttl_s=LIFE_S)

    assert isinstance(told, Extended) and told.lease_left_s is not None
    assert 0 < told.lease_left_s <= 20.0


async def test_an_overdue_ticket_that_nobody_has_judged_lives_on(store: FenceStore, raw: Any) -> None:
    """Nothing was admitted past it, and now nothing will be."""
    one = await admitted(store, bare(42))
    make_overdue(raw, RESOURCE, one.ticket)

    assert await store.extend(one, ttl_s=LIFE_S) == Extended()

    assert name_of(await ask(store, bare(43, "B"))) == "Waiting"


async def test_a_ticket_that_has_ended_is_not_made_again(store: FenceStore, raw: Any) -> None:
    """Swept while its gateway was silent, or settled: nothing is written."""
    swept = await admitted(store, bare(42))
    make_overdue(raw, RESOURCE, swept.ticket)
    await store.sweep(RESOURCE, swept.ticket)
    ended = await admitted(store, bare(42))
    await settled(store, ended, "applied")
    before = everything(raw)

    assert [await store.extend(one, ttl_s=LIFE_S) for one in (swept, ended)] == [Lapsed(), Lapsed()]
    assert everything(raw) == before


async def test_a_newer_epoch_ends_it_before_its_write_is_admitted(store: FenceStore) -> None:
    """The newcomer waits for this very ticket, whose life is not prolonged any more."""
    one = await admitted(store, bare(42))
    assert isinstance(await ask(store, bare(43, "B")), Waiting)

    assert name_of(await store.extend(one, ttl_s=LIFE_S)) == "stale-epoch"

    await settled(store, one, "applied")
    assert name_of(await ask(store, bare(43, "B"), queued=True)) == "Admitted"


async def test_what_would_refuse_a_write_refuses_to_extend(store: FenceStore, raw: Any) -> None:
    """A lease's end, its release, a pause, another holder, a token that is not its own; nothing is written."""
    lease = await granted(store)
    one = await admitted(store, leased(lease.epoch))
    told = {}
    for name, write in {
        "another secret": leased(lease.epoch, OTHER_SECRET),
        "another holder": leased(lease.epoch, SECRET, "B"),
        "an epoch of nobody": leased(Epoch(lease.epoch + 1)),
    }.items():
        before = everything(raw)
        told[name] = name_of(await store.extend(replace(one, write=write), ttl_s=LIFE_S))
        assert everything(raw) == before
    await store.release(RESOURCE, lease.epoch, SECRET)
    told["released"] = name_of(await store.extend(one, ttl_s=LIFE_S))
    await pause(store, RESOURCE, id="p", reason="", by="operator")
    told["paused"] = name_of(await store.extend(one, ttl_s=LIFE_S))

    assert told == {
        "another secret": "token-invalid",
        "another holder": "holder-mismatch",
        "an epoch of nobody": "token-invalid",
        "released": "lease-expired",
        "paused": "paused",
    }


@pytest.mark.parametrize("by", ["a newer write", "a grant", "a pause", "a release"])
async def test_whoever_extended_is_woken_when_it_has_to_ask_again(store_url: str, by: str) -> None:
    """At once, and not at the next turn of its own."""
    woken: asyncio.Queue[ResourceKey | None] = asyncio.Queue()
    async with opened(store_url) as other, opened(store_url, woken.put_nowait) as store:
        # None says that the subscription stands: what came before may be lost.
        assert await woken.get() is None
        lease = await granted(other)
        one = await admitted(store, leased(lease.epoch) if by != "a newer write" else bare(lease.epoch + 1, "A"))
        assert name_of(await store.extend(one, ttl_s=LIFE_S)) == "Extended"
        if by == "a newer write":
            await ask(other, bare(lease.epoch + 2, "B"))
        elif by == "a grant":
            await granted(other, "B", OTHER_SECRET, takeover=True)
        elif by == "a pause":
            await pause(other, RESOURCE, id="p", reason="", by="operator")
        else:
            await other.release(RESOURCE, lease.epoch, SECRET)

        async with asyncio.timeout(5):
            while (told := await woken.get()) is None:
                # Other subscriptions that stand by now.
                continue
        assert told == RESOURCE


async def test_sessions_of_one_epoch_live_side_by_side_where_their_rule_says_so(store: FenceStore, raw: Any) -> None:
    """Under `concurrency: parallel`; one's end moves the other's deadline by nothing."""
    parallel = rule(Fence(concurrency="parallel"))
    one, other = [await admitted(store, bare(42, of=parallel)) for _ in range(2)]
    await store.extend(other, ttl_s=LIFE_S)
    before = deadline_ms(raw, other)

    await settled(store, one, "applied")

    assert deadline_ms(raw, other) == before
    assert await store.extend(other, ttl_s=LIFE_S) == Extended()
