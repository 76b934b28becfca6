"""Records of leases that ended long ago are collected, and whoever had one is refused as before."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import GivenUp
from gateway.core.rule import Authority, Fence
from gateway.core.write import ResourceKey
from gateway.store.collect import collect
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.parking import retry
from tests.store.compensating import UNDOABLE, begun, record
from tests.store.fences import (
    HELD,
    LEASE_MS,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    admitted,
    ask,
    bare,
    ended,
    granted,
    keyed,
    leased,
    name_of,
    opened,
    rule,
    settled,
    state_of,
)
from tests.store.losing import remembering
from tests.store.overdue import make_overdue
from tests.store.parked import APPROVED, delivered, delivering, id_of, leased_mail, parked, queued

FENCE, TICKETS, OLDER, WAITERS, _, _, SHARD = resource_keys(RESOURCE)
DAY_MS = 24 * 3_600_000


@dataclass(frozen=True)
class Old:
    """The record of a lease that was granted so long ago."""

    epoch: int


def made_old(raw: Any, now_ms: int, ago_ms: int = DAY_MS + 1000, *, ended_ago_ms: int = 1000) -> Old:
    old = Old(now_ms - ago_ms)
    raw.hset(FENCE, mapping={"v": 1, "e": old.epoch, "h": "A", "s": SECRET, "x": now_ms - ended_ago_ms, "l": LEASE_MS})
    return old


async def go(store: FenceStore, prefix: str = "", *, looks: bool = False) -> tuple[int, int]:
    """Once through all: how many were looked at, and have gone."""
    looked_at = gone = 0
    cursor = None
    while True:
        found = await collect(store, prefix, cursor, looks=looks)
        looked_at, gone, cursor = looked_at + found.looked_at, gone + found.collected, found.next
        assert found.incomplete is None
        if cursor is None:
            return looked_at, gone


async def test_a_lease_of_long_ago_goes(store: FenceStore, raw: Any) -> None:
    """Nothing is left of the resource; where an operator only looks, all of it."""
    made_old(raw, store.expected_ms())

    assert await go(store, looks=True) == (1, 1)
    assert raw.exists(FENCE) == 1
    assert await go(store, "order/") == (0, 0)
    assert await go(store, "report/") == (1, 1)
    assert raw.keys() == []
    assert await go(store) == (0, 0)


STAYS: dict[str, dict[str, object]] = {
    "counted revisions": {"n": 3},
    "a pause": {"p": "{}"},
    "what holds it": {"u": "1 "},
    "what is delivered of a lease that was given back": {"g": "7 "},
    "what was reset": {"r": "9"},
}


@pytest.mark.parametrize("what", STAYS)
async def test_what_is_nowhere_else_stays(what: str, store: FenceStore, raw: Any) -> None:
    """As long as anybody may ask for it."""
    made_old(raw, store.expected_ms())
    raw.hset(FENCE, mapping=STAYS[what])

    assert await go(store) == (1, 0)


BESIDE = {"a ticket": TICKETS, "an older ticket": OLDER, "a waiter": WAITERS}


@pytest.mark.parametrize("what", BESIDE)
async def test_what_is_in_use_stays(what: str, store: FenceStore, raw: Any) -> None:
    """Whatever its age."""
    made_old(raw, store.expected_ms())
    raw.hset(BESIDE[what], "x", "x")

    assert await go(store) == (1, 0)


@pytest.mark.parametrize(
    ("ago_ms", "ended_ago_ms"),
    [(DAY_MS - 60_000, 1000), (7 * DAY_MS, -60_000)],
    ids=["granted within a day", "renewed until now"],
)
async def test_a_lease_that_may_be_alive_stays(ago_ms: int, ended_ago_ms: int, store: FenceStore, raw: Any) -> None:
    """And one that ended a moment ago, whose token somebody may still send."""
    made_old(raw, store.expected_ms(), ago_ms, ended_ago_ms=ended_ago_ms)

    assert await go(store) == (1, 0)


async def test_epochs_from_elsewhere_stay(store: FenceStore, raw: Any) -> None:
    """They know no clock: the highest one is the only thing that refuses an older one."""
    await store.settle(await admitted(store, bare(42)), "applied", "a test", None)

    assert await go(store) == (1, 0)


async def test_what_is_queued_under_it_stays(store: FenceStore, raw: Any) -> None:
    """It is delivered as long as no newer epoch rules."""
    lease = await granted(store)
    await parked(store, leased_mail("one", lease.epoch))
    made_old(raw, store.expected_ms())

    assert await go(store) == (1, 0)


async def test_what_waits_for_an_approval_under_it_stays(store: FenceStore, raw: Any) -> None:
    """Once approved it is delivered, as the last of its epoch."""
    lease = await granted(store)
    await parked(store, replace(leased_mail("one", lease.epoch), rule=replace(APPROVED, authority="lease")))
    made_old(raw, store.expected_ms())

    assert await go(store) == (1, 0)


@pytest.mark.parametrize(
    ("ago_ms", "state", "gone"),
    [(0, "accepted", 0), (0, "open", 0), (2 * DAY_MS, "open", 0), (2 * DAY_MS, "accepted", 1)],
    ids=["lately", "lately and not accepted", "long ago and not accepted", "long ago"],
)
async def test_nothing_goes_while_leases_from_before_a_loss_may_live(
    store: FenceStore, raw: Any, ago_ms: int, state: str, gone: int
) -> None:
    """They have ended by its floor, which is kept for longer."""
    made_old(raw, store.expected_ms(), 3 * DAY_MS)
    raw.set(f"{SHARD}lost", f"{store.expected_ms() - ago_ms} {state}")

    assert await go(store) == (1, gone)


async def test_what_failed_under_a_collected_lease_is_not_sent_again(store: FenceStore, raw: Any) -> None:
    """G1: whether a newer lease was granted after it, nobody knows any more. Whoever has one now repeats the write."""
    lease = await granted(store)
    write = leased_mail("one", lease.epoch)
    await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    failed = await store.recall(id_of(write))
    assert failed is not None and failed.state == "failed"
    made_old(raw, store.expected_ms())
    assert await go(store) == (1, 1)

    told = await retry(store, failed, note="again", by="operator")

    assert isinstance(told, Refused) and told.decision.name == "wrong-state"
    assert "newer ones are no longer known" in told.detail
    assert await queued(store, raw) == []


async def test_what_takes_back_an_intent_of_a_collected_lease_is_in_flight_to_the_next(
    store: FenceStore, raw: Any
) -> None:
    """G3: the record is gone, and whoever comes finds the ticket."""
    lease = await granted(store)
    of = replace(HELD, authority="lease")
    await ended(store, keyed(replace(leased(lease.epoch), rule=of)), "applied", UNDOABLE)
    made_old(raw, store.expected_ms())
    assert await go(store) == (1, 1)

    undoing = await begun(store, await record(store))
    newer = await granted(store, "B", OTHER_SECRET)
    mine = leased(newer.epoch, OTHER_SECRET)

    assert (newer.in_flight, newer.drained) == (1, False)
    assert name_of(await ask(store, mine)) == "Waiting"
    await settled(store, undoing, "applied")
    assert name_of(await ask(store, mine, queued=True)) == "Admitted"


async def test_what_takes_back_an_intent_of_a_collected_lease_brings_its_epoch_not_back(
    store: FenceStore, raw: Any
) -> None:
    """G1: a newer lease may have been granted after it. What failed under it is not sent again then, either."""
    lease = await granted(store)
    of = replace(HELD, authority="lease")
    await ended(store, keyed(replace(leased(lease.epoch), rule=of)), "applied", UNDOABLE)
    write = leased_mail("one", lease.epoch)
    await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    failed = await store.recall(id_of(write))
    assert failed is not None
    made_old(raw, store.expected_ms())
    assert await go(store) == (1, 1)

    undoing = await begun(store, await record(store))
    await settled(store, undoing, "applied")

    assert await store.look(RESOURCE) is None
    assert (await record(store)).state == "compensated"
    assert isinstance(await retry(store, failed, note="again", by="operator"), Refused)
    newer = await granted(store, "B", OTHER_SECRET)
    assert (newer.epoch > lease.epoch, newer.drained) == (True, True)


async def test_an_outcome_that_comes_after_its_lease_was_collected_brings_its_epoch_not_back(
    store: FenceStore, raw: Any
) -> None:
    """G1, G5: it is recorded; a newer lease may have been granted, and what failed before that is not sent again."""
    now_ms = store.expected_ms()
    renewed = made_old(raw, now_ms, 2 * DAY_MS, ended_ago_ms=-LEASE_MS)
    write = leased_mail("one", renewed.epoch)
    await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    failed = await store.recall(id_of(write))
    assert failed is not None
    late = await admitted(store, keyed(replace(leased(renewed.epoch), rule=replace(HELD, authority="lease"))))
    make_overdue(raw, RESOURCE, late.ticket)
    await store.sweep(RESOURCE, late.ticket)
    made_old(raw, now_ms)
    assert await go(store) == (1, 1)

    await settled(store, late, "applied")

    assert (await state_of(store), await store.look(RESOURCE)) == ("applied", None)
    told = await retry(store, failed, note="again", by="operator")
    assert isinstance(told, Refused) and "newer ones are no longer known" in told.detail


@pytest.mark.parametrize("authority", ["lease", "header"])
async def test_an_outcome_brings_an_epoch_back_that_can_only_be_lost(
    store: FenceStore, raw: Any, authority: Authority
) -> None:
    """G1: of a lease of today, and of an old number from elsewhere."""
    write = leased((await granted(store)).epoch) if authority == "lease" else bare(42)
    one = await admitted(store, write)
    raw.delete(FENCE, TICKETS)

    await settled(store, one, "applied")

    found = await store.look(RESOURCE)
    assert found is not None and found.epoch == write.epoch


async def test_whoever_had_it_is_refused_as_before_and_the_next_lease_is_larger(store_url: str, raw: Any) -> None:
    """Also at a gateway that has seen the epoch, and would miss it."""
    async with remembering(store_url) as one, opened(store_url) as another:
        old = made_old(raw, one.store.expected_ms())
        assert name_of(await ask(one.store, leased(old.epoch))) == "lease-expired"
        raw.hset(FENCE, "h", "B")
        assert name_of(await ask(one.store, leased(old.epoch - 1))) == "stale-epoch"
        assert await go(another) == (1, 1)

        assert name_of(await ask(one.store, leased(old.epoch))) == "token-invalid"
        assert name_of(await one.store.peek(leased(old.epoch))) == "token-invalid"
        assert (await granted(one.store, "B", OTHER_SECRET)).epoch > old.epoch
        assert one.told == []


async def test_what_was_collected_right_behind_a_mark_is_not_missed(store_url: str, raw: Any) -> None:
    """A gateway has heard of an old lease's epoch, and of a place under it, in the last second; it connects anew."""
    async with remembering(store_url) as one:
        await one.mark_no_more()
        await one.mark()
        old = made_old(raw, one.store.expected_ms(), ended_ago_ms=-LEASE_MS)
        strict = replace(leased(old.epoch), rule=replace(rule(Fence(order="strict")), authority="lease"))
        await ended(one.store, strict, "applied")
        assert name_of(await ask(one.store, leased(old.epoch - 1))) == "stale-epoch"
        made_old(raw, one.store.expected_ms())
        assert await go(one.store) == (1, 1)

        raw.client_kill_filter(_type="normal", skipme=True)
        await one.store.look(RESOURCE)

        assert one.told == []


async def test_all_of_a_large_store_is_gone_through(store: FenceStore, raw: Any) -> None:
    """Some at a time; each goes once."""
    now_ms = store.expected_ms()
    pipe = raw.pipeline(transaction=False)
    for number in range(1200):
        fence = resource_keys(ResourceKey(f"report/{number}"))[0]
        pipe.hset(fence, mapping={"v": 1, "e": now_ms - 2 * DAY_MS, "h": "A", "s": SECRET, "x": 0})
    pipe.execute()
    first = await collect(store, "", None, looks=False)

    assert first.next is not None
    assert (await go(store))[1] + first.collected == 1200
    assert raw.dbsize() == 0
