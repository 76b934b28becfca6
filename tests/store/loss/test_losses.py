"""What scripts refuse after the store has lost acknowledged work."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import Conclusion, GivenUp
from gateway.core.intent import IntentId
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.parking import Decide, decide, retry
from tests.store.compensating import UNDOABLE, applied, asked, record
from tests.store.fences import (
    HELD,
    OTHER_SECRET,
    RESOURCE,
    RETRIED,
    SECRET,
    admitted,
    ask,
    bare,
    ended,
    granted,
    keyed,
    leased,
    name_of,
    state_of,
)
from tests.store.lost import LOST, all_landed, lose
from tests.store.parked import APPROVED, DeliveriesOf, begun, delivering, id_of, mail, parked, refused, taken

Call = Callable[[FenceStore, Lease], Awaitable[object]]
OF_A_LEASE: dict[str, Call] = {
    "admit": lambda store, lease: ask(store, leased(lease.epoch)),
    "peek": lambda store, lease: store.peek(leased(lease.epoch)),
    "admit an epoch from elsewhere": lambda store, lease: ask(store, bare(lease.epoch + 9)),
    "peek at an epoch from elsewhere": lambda store, lease: store.peek(bare(lease.epoch + 9)),
    "register": lambda store, lease: store.register(RESOURCE, bare(lease.epoch + 9).epoch, "B", watch=False),
}


@pytest.mark.parametrize("call", OF_A_LEASE)
async def test_nobody_writes_by_what_was_granted_before(store: FenceStore, raw: Any, lease: Lease, call: str) -> None:
    """Who has the resource now may not be who had it last. Nothing is moved by the asking."""
    before = raw.hgetall(resource_keys(RESOURCE)[0])

    assert name_of(await OF_A_LEASE[call](store, lease)) == "store-regressed"
    assert raw.hgetall(resource_keys(RESOURCE)[0]) == before


async def test_a_session_from_before_is_cut(store: FenceStore, raw: Any) -> None:
    """It lasts only as long as a write of its token would be admitted."""
    before = await granted(store)
    session = await admitted(store, leased(before.epoch))
    lose(raw, before.epoch + 1)

    assert name_of(await store.extend(session, ttl_s=5.0)) == "store-regressed"


async def test_a_lease_from_before_cannot_be_renewed_and_holds_nobody_up(store: FenceStore, lease: Lease) -> None:
    """It has ended with the loss, whatever the record says of its term."""
    assert await store.lookup(RESOURCE) is None
    assert name_of(await store.renew(RESOURCE, lease.epoch, SECRET)) == "lease-lost"

    following = await granted(store, "B", OTHER_SECRET)

    assert following.epoch > lease.epoch
    assert name_of(await store.renew(RESOURCE, following.epoch, OTHER_SECRET)) == "Lease"


async def test_a_lease_granted_afterwards_reaches_the_floor(store: FenceStore, raw: Any) -> None:
    """The floor is a second ahead of the clock: whoever granted what was lost may have had another clock."""
    ahead = store.expected_ms() + 60_000
    lose(raw, ahead)

    assert (await granted(store)).epoch == ahead
    assert (await granted(store, "B", OTHER_SECRET, takeover=True)).epoch == ahead + 1


async def test_a_new_lease_writes_once_nothing_forgotten_is_in_flight(store: FenceStore, lease: Lease) -> None:
    """Tickets were lost as well: their requests may be on their way for as long as a ticket lives (G3)."""
    new = await granted(store, "B", OTHER_SECRET)
    write = leased(new.epoch, OTHER_SECRET)

    assert name_of(await ask(store, write, ttl_s=30.0)) == "Waiting"
    assert name_of(await ask(store, write, ttl_s=0.0)) == "Waiting"
    all_landed(store)
    assert name_of(await ask(store, write, ttl_s=0.0, queued=True)) == "Admitted"


TOLD: dict[str, tuple[Call, str]] = {
    "a lease from before": (
        lambda store, lease: ask(store, leased(lease.epoch)),
        "and the lease of epoch {} on report/7 has ended with it. Acquire a new lease: without a key it writes once "
        "the upstream's `timeouts.total` has passed.",
    ),
    "a key": (
        lambda store, lease: ask(store, keyed(leased(lease.epoch))),
        "and nobody can tell whether this intent was done before. Wait until an operator accepts the loss, then "
        "repeat it with the same key and a new lease.",
    ),
    "an epoch from elsewhere": (
        lambda store, lease: ask(store, bare(lease.epoch + 9)),
        "and nobody can tell which epoch rules report/7. Wait until an operator accepts the loss, then repeat it "
        "unchanged.",
    ),
}


@pytest.mark.parametrize("case", TOLD)
async def test_each_is_told_what_helps_it(store: FenceStore, lease: Lease, case: str) -> None:
    """A new lease writes without a key; what was done under a key, and who is newest elsewhere, nobody knows."""
    call, told = TOLD[case]

    refused = await call(store, lease)

    assert isinstance(refused, Refused)
    start = "Not forwarded: the store has lost what it had acknowledged, "
    assert refused.detail == start + told.format(lease.epoch)


@pytest.mark.parametrize("has_passed", [False, True], ids=["may be in flight", "cannot be in flight"])
async def test_what_is_forgotten_counts_as_in_flight(store: FenceStore, raw: Any, *, has_passed: bool) -> None:
    """For as long as a write may last, a lease or an epoch is not told that nothing older is in flight (G3)."""
    store.writes_last(lambda: 30.0)
    lose(raw, store.expected_ms() - (30_500 if has_passed else 0), accepted=True)

    lease = await granted(store)
    again = await granted(store)
    renewed = await store.renew(RESOURCE, lease.epoch, SECRET)
    registered = await store.register(RESOURCE, lease.epoch, "A", watch=False)

    assert isinstance(renewed, Lease)
    assert [lease.drained, again.drained, renewed.drained, registered == 0] == [has_passed] * 4


@pytest.mark.parametrize(("lasts_s", "told"), [(30.0, "Waiting"), (9.0, "Admitted")])
async def test_a_short_write_waits_for_a_longer_one_that_was_forgotten(
    store: FenceStore, raw: Any, lasts_s: float, told: str
) -> None:
    """What is in flight may be another upstream's, whose writes last longer than this one's (G3)."""
    store.writes_last(lambda: lasts_s)
    lose(raw, store.expected_ms() - 10_000, accepted=True)
    write = leased((await granted(store)).epoch)

    assert name_of(await ask(store, write, ttl_s=3.0)) == told


@pytest.mark.parametrize(("lasts_s", "told"), [(60.0, "Waiting"), (9.0, "Admitted")])
async def test_taking_back_waits_for_a_write_that_was_forgotten(
    store: FenceStore, raw: Any, lasts_s: float, told: str
) -> None:
    """It was in flight beside what is taken back, and may land after it (G3)."""
    first = await admitted(store, keyed(bare(42, of=HELD)))
    store.writes_last(lambda: lasts_s)
    lose(raw, store.expected_ms() - 40_000, accepted=True)
    await store.settle(first, "applied", "a test", UNDOABLE)

    assert name_of(await asked(store, await record(store))) == told


async def test_a_new_intent_waits_for_an_operator(store: FenceStore, lease: Lease) -> None:
    """Nobody knows whether it took effect before (G4); without a key there is nothing to be done twice."""
    new = await granted(store, "B", OTHER_SECRET)
    write = leased(new.epoch, OTHER_SECRET)

    assert name_of(await ask(store, keyed(write), ttl_s=0.0)) == "store-regressed"
    assert await state_of(store) is None
    assert await refused(store, mail("one")) == "store-regressed"


KNOWN: dict[str, tuple[Outcome, str]] = {
    "applied": ("applied", "Replayed"),
    "unknown": ("unknown", "outcome-unknown"),
    "not applied, and perhaps tried again since": ("not_applied", "store-regressed"),
}


@pytest.mark.parametrize("case", KNOWN)
async def test_what_is_known_of_an_intent_still_counts(store: FenceStore, raw: Any, case: str) -> None:
    """What the store has kept did happen. A key that was free may have been used."""
    outcome, told = KNOWN[case]
    before = await granted(store)
    await ended(store, keyed(leased(before.epoch)), outcome)
    lose(raw, before.epoch + 1)
    new = await granted(store, "B", OTHER_SECRET)

    assert name_of(await ask(store, keyed(leased(new.epoch, OTHER_SECRET)), ttl_s=0.0)) == told


async def test_an_upstream_that_refuses_the_second_itself_is_asked_again(store: FenceStore, raw: Any) -> None:
    """The attempt is known, and the upstream's own key makes it harmless."""
    before = await granted(store)
    first = replace(leased(before.epoch), rule=replace(RETRIED, authority="lease"))
    await ended(store, keyed(first), "unknown")
    lose(raw, before.epoch + 1)
    new = await granted(store, "B", OTHER_SECRET)
    again = replace(first, epoch=new.epoch, secret_digest=OTHER_SECRET)

    all_landed(store)
    assert name_of(await ask(store, keyed(again), ttl_s=0.0)) == "Admitted"


async def test_a_text_that_cannot_be_read_stops_everything(store: FenceStore, raw: Any) -> None:
    """Whoever wrote it meant to stop something."""
    before = await granted(store)
    raw.set(LOST, "soon")

    assert name_of(await ask(store, leased(before.epoch))) == "store-regressed"


async def test_what_was_queued_is_not_sent(store: FenceStore, raw: Any) -> None:
    """It may have been sent since, and that lost. It stays queued until an operator has looked."""
    await parked(store, mail("one"))
    lose(raw, store.expected_ms())
    async with delivering(store) as queue:
        one = await taken(queue)
        reply = await queue.admit(mail("one"), store.new_ticket(RESOURCE), ttl_s=30.0, queued=False, behind=0)

    assert name_of(reply) == "store-regressed"
    assert one.record.state == "queued"
    assert await state_of(store, id_of(mail("one"))) == "queued"


async def test_nothing_is_decided_that_may_have_been_decided_before(store: FenceStore, raw: Any) -> None:
    """An approval, another try and a compensation wait; the operator is told what ends it."""
    waits = await parked(store, mail("one", of=APPROVED))
    done = await applied(store)
    failed = await parked(store, mail("two"))
    raw.set(LOST, f"{store.expected_ms()} open")
    verdict = Decide("approve", "operator", None, "as ordered", waits.parking and waits.parking.digest)

    approved = await decide(store, waits, verdict)
    taken_back = await asked(store, done)
    raw.delete(LOST)
    async with delivering(store) as queue:
        await _fail(store, queue, failed.id)
    raw.set(LOST, f"{store.expected_ms()} open")
    again = await retry(store, failed, note="once more", by="operator")

    assert [name_of(one) for one in (approved, taken_back, again)] == ["store-regressed"] * 3


async def _fail(store: FenceStore, queue: DeliveriesOf, id: IntentId) -> None:
    one = await taken(queue)
    got = await begun(queue, mail("two"))
    await queue.end(one, got, Conclusion("not_applied", "422", None, GivenUp()))
    assert await state_of(store, id) == "failed"
