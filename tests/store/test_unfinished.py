"""Writes that ended as unknown while their server may be at work on them: newer epochs wait until their deadline (G3),
their own epoch goes on.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.rule import Fence
from gateway.core.write import Admitted, Waiting, Write
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolution, Resolve, resolve
from gateway.store.keys import unfinished
from gateway.store.resets import reset
from gateway.store.views.resource_views import tickets
from tests.store.compensating import applied, asked
from tests.store.fences import (
    ANSWER,
    HELD,
    LEASE_MS,
    OTHER_SECRET,
    PLAIN,
    RESOURCE,
    RETRIED,
    SECRET,
    admitted,
    ask,
    bare,
    keyed,
    leased,
    name_of,
    opened,
    rule,
)
from tests.store.overdue import make_overdue
from tests.store.parked import begin, delivering, mail, parked, taken

DAY_MS = 86_400_000


async def broken_off(store: FenceStore, write: Write, outcome: Outcome = "unknown") -> Admitted:
    """Its connection was lost, and nobody knows what its server does."""
    one = await admitted(store, write)
    await store.settle(one, outcome, "the upstream closed the connection", None, unfinished=True)
    return one


async def newcomer(store: FenceStore, epoch: int = 42) -> str:
    return name_of(await ask(store, bare(epoch, "B")))


async def test_a_newer_epoch_waits_until_the_deadline(store: FenceStore, raw: Any) -> None:
    """And is told when to ask again; then nothing is left of it."""
    one = await broken_off(store, bare(41))

    first = await ask(store, bare(42, "B"))
    again = await ask(store, bare(42, "B"), queued=True)
    make_overdue(raw, RESOURCE, one.ticket)

    assert isinstance(first, Waiting)
    assert isinstance(again, Waiting)
    assert first.why == again.why == "older"
    assert first.recheck_s <= 0.5
    assert name_of(await ask(store, bare(42, "B"), queued=True)) == "Admitted"
    assert raw.exists(unfinished(RESOURCE)) == 0


@pytest.mark.parametrize("fence", [Fence(), Fence(concurrency="parallel")], ids=["serial", "parallel"])
async def test_its_own_epoch_goes_on(store: FenceStore, fence: Fence) -> None:
    """Its holder was told that nobody knows; another gateway may ask for it."""
    await broken_off(store, bare(41, of=rule(fence)))

    assert name_of(await ask(store, bare(41, of=rule(fence)))) == "Admitted"


async def test_of_its_own_epoch_a_repeat_is_judged_by_its_record(store: FenceStore) -> None:
    """No answer is awaited any more. Where the API itself refuses the second, it is sent again."""
    await broken_off(store, keyed(bare(41, of=HELD)))
    await broken_off(store, keyed(bare(41, of=RETRIED), digest=f"{'another':-<22}"))

    assert name_of(await ask(store, keyed(bare(41, of=HELD)))) == "outcome-unknown"
    assert name_of(await ask(store, keyed(bare(41, of=RETRIED), digest=f"{'another':-<22}"))) == "Admitted"


@pytest.mark.parametrize("outcome", ["applied", "not_applied"])
async def test_what_is_known_is_finished(store: FenceStore, outcome: Outcome) -> None:
    """Whatever the gateway says besides."""
    await broken_off(store, bare(41), outcome)

    assert await newcomer(store) == "Admitted"


async def test_an_answer_of_the_api_itself_finishes_it(store: FenceStore) -> None:
    """A whole 500: unknown, and over."""
    one = await admitted(store, bare(41))
    await store.settle(one, "unknown", "answered 500", None)

    assert await newcomer(store) == "Admitted"


async def test_a_late_answer_finishes_it(store: FenceStore) -> None:
    one = await broken_off(store, keyed(bare(41, of=HELD)))
    assert name_of(await ask(store, bare(42, "B"))) == "Waiting"

    await store.settle(one, "applied", "answered 200, late", ANSWER)

    assert name_of(await ask(store, bare(42, "B"), queued=True)) == "Admitted"


@pytest.mark.parametrize(
    ("outcome", "by", "then"),
    [
        ("applied", "operator", "Admitted"),
        ("not_applied", "operator", "Admitted"),
        ("applied", "query", "Admitted"),
        ("not_applied", "query", "Waiting"),
    ],
)
async def test_who_resolves_it_may_finish_it(store: FenceStore, outcome: Resolution, by: Any, then: str) -> None:
    """That an upstream does not know of it yet says nothing of what it is at work on."""
    one = await broken_off(store, keyed(bare(41, of=HELD)))
    record = await store.recall(one.intent)
    assert record is not None

    await resolve(store, record, Resolve(outcome, by, "seen", "somebody"))

    assert await newcomer(store) == then


async def test_a_no_counts_only_behind_its_deadline(store: FenceStore) -> None:
    """As long after it as it would behind an end that the wire showed."""
    asked_about = replace(HELD, intent=replace(HELD.intent, no_after_s=10.0))
    plain = await admitted(store, keyed(bare(41, of=asked_about)))
    await store.settle(plain, "unknown", "answered 500", None)
    other = await broken_off(store, keyed(bare(41, of=asked_about), digest=f"{'another':-<22}"))

    found, late = await store.recall(plain.intent), await store.recall(other.intent)

    assert found is not None
    assert late is not None
    assert found.no_after_s == 10.0
    assert 30.0 < late.no_after_s <= 40.0


async def test_leases_tell_of_it(store: FenceStore, raw: Any) -> None:
    """Who takes over is told that older writes are in flight, and so is who looks."""
    first = await store.grant(RESOURCE, "A", SECRET, ttl_ms=LEASE_MS, takeover=False, watch=False)
    assert isinstance(first, Lease)
    one = await broken_off(store, leased(first.epoch))

    async def told(how: Callable[[], Awaitable[Any]]) -> int:
        return int((await how()).in_flight)

    taken = await store.grant(RESOURCE, "B", OTHER_SECRET, ttl_ms=LEASE_MS, takeover=True, watch=False)
    assert isinstance(taken, Lease)
    assert taken.in_flight == 1
    assert await told(lambda: store.renew(RESOURCE, taken.epoch, OTHER_SECRET)) == 1
    seen = await store.look(RESOURCE)
    assert seen is not None
    assert (seen.in_flight, seen.older_in_flight) == (0, 1)
    [shown] = await tickets(store, RESOURCE)
    assert (shown.id, shown.unfinished) == (one.ticket, True)

    make_overdue(raw, RESOURCE, one.ticket)

    assert await told(lambda: store.renew(RESOURCE, taken.epoch, OTHER_SECRET)) == 0
    assert await tickets(store, RESOURCE) == ()


async def test_a_registered_epoch_tells_of_it(store: FenceStore) -> None:
    await broken_off(store, bare(41))

    assert await store.register(RESOURCE, Epoch(42), "B", watch=False) == 1


async def test_no_epoch_is_forgotten_meanwhile(store: FenceStore, raw: Any) -> None:
    """The next one would begin below it."""
    one = await broken_off(store, bare(41))

    refused = await reset(store, RESOURCE, note="a test", by="operator")
    make_overdue(raw, RESOURCE, one.ticket)

    assert name_of(refused) != "Epoch"
    assert await reset(store, RESOURCE, note="a test", by="operator") == Epoch(41)


async def test_what_takes_another_intent_back_waits_for_it(store: FenceStore, raw: Any) -> None:
    """Of its own epoch too: it waits until nothing of the resource is in flight."""
    first = await applied(store)
    one = await broken_off(store, bare(42))

    assert name_of(await asked(store, first)) == "Waiting"
    make_overdue(raw, RESOURCE, one.ticket)
    assert name_of(await asked(store, first, queued=True)) == "Admitted"


async def test_what_is_left_of_it_goes_by_itself(store: FenceStore, raw: Any) -> None:
    """Though nobody comes any more; and no sooner where the store's clock jumps forward by less than a day."""
    await broken_off(store, bare(41))

    assert DAY_MS - 60_000 < raw.pttl(unfinished(RESOURCE)) <= DAY_MS
    assert PLAIN.upstream.timeouts.total_s * 1000 < DAY_MS


async def test_what_was_queued_under_a_newer_epoch_waits_for_it(store: FenceStore, raw: Any) -> None:
    """A delivery is a newer write like any other."""
    one = await broken_off(store, bare(41))
    write = mail("a")
    await parked(store, write)

    async with delivering(store) as queue:
        await taken(queue)
        waiting = await begin(queue, write)
        make_overdue(raw, RESOURCE, one.ticket)
        then = await begin(queue, write, waited=True)

    assert name_of(waiting) == "Waiting"
    assert name_of(then) == "Admitted"


async def test_its_own_holder_under_a_new_lease_waits_for_it(store: FenceStore) -> None:
    """Whoever gives its lease back and takes another one is a newer epoch."""
    first = await store.grant(RESOURCE, "A", SECRET, ttl_ms=LEASE_MS, takeover=False, watch=False)
    assert isinstance(first, Lease)
    await broken_off(store, leased(first.epoch))
    released = await store.release(RESOURCE, first.epoch, SECRET)
    assert not isinstance(released, Refused)

    again = await store.grant(RESOURCE, "A", OTHER_SECRET, ttl_ms=LEASE_MS, takeover=False, watch=False)

    assert isinstance(again, Lease)
    assert again.in_flight == 1
    assert name_of(await ask(store, leased(again.epoch, OTHER_SECRET))) == "Waiting"


async def test_of_many_the_last_is_waited_for(store: FenceStore, raw: Any) -> None:
    """And each write of the resource reads a few of them only."""
    parallel = rule(Fence(concurrency="parallel"))
    for ttl_s in (*[30.0] * 16, 3600.0, *[30.0] * 10):
        one = await admitted(store, bare(41, of=parallel), ttl_s=ttl_s)
        await store.settle(one, "unknown", "a proxy answered 502", None, unfinished=True)

    left = raw.hkeys(unfinished(RESOURCE))
    [more] = [shown for shown in await tickets(store, RESOURCE) if shown.id == "more"]
    assert len(left) == 17
    assert more.deadline_ms > store.expected_ms() + 3_000_000
    for id in left:
        assert await newcomer(store) == "Waiting"
        make_overdue(raw, RESOURCE, id.decode())
    assert name_of(await ask(store, bare(42, "B"), queued=True)) == "Admitted"


async def test_two_gateways_see_the_same(store_url: str, store: FenceStore) -> None:
    await broken_off(store, bare(41))

    async with opened(store_url) as other:
        assert await newcomer(other) == "Waiting"
