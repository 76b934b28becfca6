"""What is queued, and who comes after: a successor, an ended lease, an operator's floor."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import Again, Conclusion, Dropped, GivenUp
from gateway.core.write import Admitted, Waiting
from gateway.store.fence import FenceStore
from gateway.store.keys import kept_request, resource_keys, shard_of
from gateway.store.parking import retry
from tests.store.fences import (
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    admitted,
    ask,
    bare,
    granted,
    name_of,
    state_of,
)
from tests.store.parked import (
    LONG_AGO_MS,
    TERMS,
    begin,
    begun,
    delivered,
    delivering,
    id_of,
    leased_mail,
    mail,
    make_due,
    parked,
    queued,
    taken,
)

ONE, TWO = mail("one"), mail("two")


async def test_a_newer_epoch_supersedes_what_is_queued(store: FenceStore, raw: Any) -> None:
    """It is never sent, its request goes, its key is free."""
    await parked(store, ONE)
    await admitted(store, bare(43, "B"))
    async with delivering(store) as queue:
        dropped = await queue.take(RESOURCE)

        assert isinstance(dropped, Dropped) and dropped.record.state == "superseded"
        assert await queue.take(RESOURCE) is None
    assert not raw.exists(kept_request(shard_of(RESOURCE), id_of(ONE)))
    assert (await parked(store, mail("one", 43, holder="B"))).epoch == 43


async def test_what_was_taken_and_is_overtaken_gets_no_ticket(store: FenceStore) -> None:
    """Between the two, somebody came."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        await taken(queue)
        await store.register(RESOURCE, bare(43).epoch, "B", watch=False)

        assert name_of(await begin(queue, ONE)) == "stale-epoch"
    assert await state_of(store, id_of(ONE)) == "superseded"


async def test_a_successor_takes_over_what_is_queued(store: FenceStore, raw: Any) -> None:
    """By repeating it under its own epoch: it goes to the end of the queue, and is sent once."""
    await parked(store, ONE)
    await parked(store, TWO)

    record = await parked(store, mail("one", 43, holder="B"))

    assert (record.epoch, record.holder, record.state) == (43, "B", "queued")
    assert await queued(store, raw) == [id_of(TWO), id_of(ONE)]
    async with delivering(store) as queue:
        assert isinstance(await queue.take(RESOURCE), Dropped)
        await delivered(queue, mail("one", 43, holder="B"), "applied")


async def test_a_lease_that_ran_out_still_delivers(store: FenceStore, raw: Any) -> None:
    """Only the epoch counts: nobody has overtaken it."""
    lease = await granted(store)
    mail_one = leased_mail("one", lease.epoch)
    await parked(store, mail_one)
    raw.hset(resource_keys(RESOURCE)[0], "x", LONG_AGO_MS)

    async with delivering(store) as queue:
        await delivered(queue, mail_one, "applied")


async def test_what_was_queued_under_a_released_lease_comes_before_the_successor(store: FenceStore) -> None:
    """It counts as an older write in flight: the lease says so, the newcomer waits, and then it writes."""
    lease = await granted(store)
    old = leased_mail("one", lease.epoch)
    await parked(store, old)
    await store.release(RESOURCE, lease.epoch, SECRET)
    newer = await granted(store, "B", OTHER_SECRET)
    mine = replace(leased_mail("two", newer.epoch, secret=OTHER_SECRET), intent=None)
    mine = replace(mine, rule=replace(mine.rule, parks=None, intent=replace(TERMS, mode="off")))

    assert newer.in_flight == 1
    assert isinstance(await ask(store, mine), Waiting)
    async with delivering(store) as queue:
        one = await taken(queue)
        attempt = await begun(queue, old)
        assert isinstance(await ask(store, mine), Waiting)
        await queue.end(one, attempt, Conclusion("applied", "answered 200", None, GivenUp()))
    assert isinstance(await ask(store, mine, queued=True), Admitted)


async def test_what_failed_under_a_released_lease_is_not_sent_again_behind_a_successor(
    store: FenceStore, raw: Any
) -> None:
    """It failed before the successor came, who did not wait for it and may have written since."""
    lease = await granted(store)
    old = leased_mail("one", lease.epoch)
    record = await parked(store, old)
    async with delivering(store) as queue:
        await delivered(queue, old, "not_applied", GivenUp())
    await store.release(RESOURCE, lease.epoch, SECRET)
    await granted(store, "B", OTHER_SECRET)

    told = await retry(store, record, note="again", by="operator")

    assert isinstance(told, Refused) and told.decision.name == "wrong-state"
    assert "newer" in told.detail
    assert await queued(store, raw) == []


async def test_a_loop_of_grants_before_a_queue_that_stands_still_fills_nothing(store: FenceStore, raw: Any) -> None:
    """So many given back epochs are remembered, and no more: every write reads them."""
    fence = resource_keys(RESOURCE)[0]
    lease = await granted(store)
    await parked(store, leased_mail("one", lease.epoch))
    await store.release(RESOURCE, lease.epoch, SECRET)
    raw.hset(fence, "g", f"{lease.epoch - 1} " * 2000)
    before = raw.hget(fence, "g")

    second = await granted(store, "B", OTHER_SECRET)
    assert raw.hget(fence, "g") == before
    raw.hset(fence, "g", before[:14])
    await store.release(RESOURCE, second.epoch, OTHER_SECRET)
    await granted(store, "C", SECRET)
    assert raw.hget(fence, "g").split() == [b"%d" % (lease.epoch - 1), b"%d" % second.epoch]


async def test_what_was_queued_under_a_lease_that_was_taken_over_is_superseded(store: FenceStore) -> None:
    """Its holder did not let go."""
    lease = await granted(store)
    await parked(store, leased_mail("one", lease.epoch))
    newer = await granted(store, "B", OTHER_SECRET, takeover=True)

    assert newer.in_flight == 0
    async with delivering(store) as queue:
        assert isinstance(await queue.take(RESOURCE), Dropped)


async def test_an_operators_advance_ends_what_is_queued(store: FenceStore) -> None:
    """Also what was queued under a lease that was given back."""
    lease = await granted(store)
    await parked(store, leased_mail("one", lease.epoch))
    await store.advance(RESOURCE, None, "request")

    async with delivering(store) as queue:
        assert isinstance(await queue.take(RESOURCE), Dropped)


async def test_an_operators_floor_ends_also_what_was_released(store: FenceStore) -> None:
    """A successor had come before: nothing of either epoch is sent below the floor."""
    lease = await granted(store)
    await parked(store, leased_mail("one", lease.epoch))
    await store.release(RESOURCE, lease.epoch, SECRET)
    newer = await granted(store, "B", OTHER_SECRET)
    await parked(store, leased_mail("two", newer.epoch, secret=OTHER_SECRET))
    await store.advance(RESOURCE, None, "request")

    async with delivering(store) as queue:
        dropped = [await queue.take(RESOURCE) for _ in range(2)]

    assert [one.record.state for one in dropped if isinstance(one, Dropped)] == ["superseded"] * 2


@pytest.mark.parametrize(("then", "state"), [(Again(0.0), "queued"), (GivenUp(), "failed")], ids=["again", "given up"])
async def test_a_successor_that_repeats_what_is_on_its_way_has_it_next(
    then: Again | GivenUp, state: str, store: FenceStore, raw: Any
) -> None:
    """The delivery is its own epoch's; where nothing was done, the intent is the successor's."""
    await parked(store, ONE)
    mine = mail("one", 43, holder="B")
    async with delivering(store) as queue:
        one = await taken(queue)
        attempt = await begun(queue, ONE)
        seen = await parked(store, mine)
        await queue.end(one, attempt, Conclusion("not_applied", "answered 429", None, then))
        record = await store.recall(id_of(ONE))

        assert (seen.state, seen.epoch) == ("in_flight", 42)
        assert record is not None and (record.state, record.epoch, record.holder) == (state, 43, "B")
        if state == "queued":
            make_due(raw)
            await delivered(queue, mine, "applied")
