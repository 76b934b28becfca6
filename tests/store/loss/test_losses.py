"""What scripts refuse after the store has lost acknowledged work, and what an operator's word changes of it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import STALE_EPOCH, Refused
from gateway.core.delivery import Conclusion, GivenUp
from gateway.core.intent import IntentId
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.write import Admitted
from gateway.store.deliveries import Deliveries
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys, store_record
from gateway.store.loss import losses
from gateway.store.parking import Decide, decide, retry
from gateway.store.views import audit_views
from gateway.store.views.audit_views import Sought
from tests.store.compensating import applied, asked
from tests.store.fences import (
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
    opened,
    settled,
    state_of,
)
from tests.store.losing import remembering
from tests.store.parked import APPROVED, QUEUED, delivering, id_of, mail, parked, refused, taken

LOST = f"{resource_keys(RESOURCE)[6]}lost"
KEYED = f"{'another':-<22}"


def lose(raw: Any, floor: int, *, accepted: bool = False) -> None:
    """The store has told that it lost work, as `regress.lua` does."""
    raw.set(LOST, f"{floor} {'accepted' if accepted else 'open'}")
    about = {"incarnation": "b", "began": 1, "since": floor - 1000, "floor": floor, "why": "a test", "by": "one"}
    raw.hset(store_record("000"), mapping=about)


@pytest.fixture
async def lease(store: FenceStore, raw: Any) -> Lease:
    """Of the time before the loss."""
    before = await granted(store)
    lose(raw, before.epoch + 1)
    return before


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
    store.write_lasts_s = lambda: 30.0
    lose(raw, store.expected_ms() - (30_500 if has_passed else 0), accepted=True)

    lease = await granted(store)
    again = await granted(store)
    renewed = await store.renew(RESOURCE, lease.epoch, SECRET)
    registered = await store.register(RESOURCE, lease.epoch, "A", watch=False)

    assert isinstance(renewed, Lease)
    assert [lease.drained, again.drained, renewed.drained, registered == 0] == [has_passed] * 4


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


async def _fail(store: FenceStore, queue: Deliveries, id: IntentId) -> None:
    one = await taken(queue)
    got = await queue.admit(mail("two"), store.new_ticket(RESOURCE), ttl_s=30.0, queued=False, behind=0)
    assert isinstance(got, Admitted)
    await queue.end(one, got, Conclusion("not_applied", "422", None, GivenUp()))
    assert await state_of(store, id) == "failed"


async def test_an_accepted_loss_ends_leases_from_before_it_and_nothing_else(
    store: FenceStore, raw: Any, lease: Lease
) -> None:
    """Nothing older than the loss writes again; epochs from elsewhere and new intents do."""
    assert await losses.accept(store, note="looked at the mailbox", by="operator") == 0

    assert name_of(await ask(store, leased(lease.epoch))) == "lease-expired"
    assert name_of(await store.renew(RESOURCE, lease.epoch, SECRET)) == "lease-lost"
    assert name_of(await ask(store, keyed(bare(lease.epoch + 9)), ttl_s=0.0)) == "Admitted"
    assert raw.get(LOST) == b"%d accepted" % (lease.epoch + 1)
    assert 86_400 < raw.ttl(LOST) <= 90_000


async def test_what_waited_is_unknown_once_the_loss_is_accepted(store: FenceStore, raw: Any) -> None:
    """It may have been sent since. It leaves its queue, holds its key, and is resolved as any unknown one."""
    await parked(store, mail("queued"))
    await parked(store, mail("awaited", of=APPROVED))
    lose(raw, store.expected_ms() + 1)

    assert await losses.accept(store, note="looked", by="operator") == 2

    states = [await state_of(store, id_of(mail(name))) for name in ("queued", "awaited")]
    assert states == ["unknown", "unknown"]
    async with delivering(store) as queue:
        assert await queue.take(RESOURCE) is None
    assert await refused(store, mail("queued")) == "outcome-unknown"
    record = await store.recall(id_of(mail("queued")))
    assert record is not None
    assert record.reason == "the store lost what became of it"


async def test_more_than_a_batch_becomes_unknown(store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some at a time, so that other writes of the store do not wait for all of them."""
    monkeypatch.setattr(losses, "_INTENTS_AT_ONCE", 2)
    for number in range(5):
        await parked(store, mail(f"m{number}", of=QUEUED if number % 2 else APPROVED))
    lose(raw, store.expected_ms() + 1)

    assert await losses.accept(store, note="looked", by="operator") == 5


async def test_what_was_lost_and_accepted_is_in_the_trail(store: FenceStore, raw: Any) -> None:
    """Who found it, why, who accepted it, and what that one had to say."""
    lose(raw, store.expected_ms())
    await losses.accept(store, note="looked at the mailbox", by="operator")

    (event,) = (await audit_views.events(store, Sought(), None)).items
    (state,) = [state for state in await losses.states(store) if state.loss is not None]
    assert (event.before, event.after, event.by) == ("regressed", "accepted", "operator")
    assert event.reason == "looked at the mailbox"
    assert state.loss is not None
    assert (state.is_regressed, state.loss.why, state.loss.by) == (False, "a test", "one")
    assert (state.loss.accepted_by, state.loss.note) == ("operator", "looked at the mailbox")


async def test_there_is_nothing_to_accept_twice(store: FenceStore, raw: Any) -> None:
    """A sane store has nothing to be accepted, nor one whose loss was."""
    assert await losses.accept(store, note="x", by="operator") is None
    lose(raw, store.expected_ms())
    assert await losses.accept(store, note="x", by="operator") == 0
    assert await losses.accept(store, note="x", by="operator") is None
    assert await losses.regressed(store) is None


# What one gateway has seen by itself, without any mark.


async def test_a_record_behind_what_was_seen_admits_nothing_older(store: FenceStore, raw: Any) -> None:
    """The takeover that this gateway has heard of is lost; it does not let the former holder in again."""
    former = await granted(store)
    kept = raw.dump(resource_keys(RESOURCE)[0])
    last = await granted(store, "B", OTHER_SECRET, takeover=True)
    raw.restore(resource_keys(RESOURCE)[0], 0, kept, replace=True)

    assert name_of(await ask(store, leased(former.epoch))) == "store-regressed"
    assert name_of(await store.peek(leased(former.epoch))) == "store-regressed"
    assert name_of(await ask(store, leased(last.epoch, OTHER_SECRET))) == "store-regressed"
    new = await granted(store, "C", OTHER_SECRET)
    assert new.epoch > last.epoch
    assert name_of(await ask(store, leased(new.epoch, OTHER_SECRET))) == "Admitted"


async def test_a_refusal_is_heard_too(store_url: str, raw: Any) -> None:
    """Another gateway granted the takeover; this one has refused somebody for it, and remembers why."""
    async with opened(store_url) as one, opened(store_url) as other:
        former = await granted(one)
        kept = raw.dump(resource_keys(RESOURCE)[0])
        await granted(other, "B", OTHER_SECRET, takeover=True)
        assert name_of(await ask(one, leased(former.epoch))) == "stale-epoch"
        raw.restore(resource_keys(RESOURCE)[0], 0, kept, replace=True)

        assert name_of(await ask(one, leased(former.epoch))) == "store-regressed"


async def test_epochs_from_elsewhere_that_were_seen(store: FenceStore, raw: Any) -> None:
    """The newest that was seen is admitted and repairs the record; an older one is not."""
    await settled(store, await admitted(store, bare(43, "B")), "applied")
    raw.delete(resource_keys(RESOURCE)[0])

    assert name_of(await ask(store, bare(42))) == "store-regressed"
    assert name_of(await store.peek(bare(42))) == "store-regressed"
    await settled(store, await admitted(store, bare(43, "B")), "applied")
    assert name_of(await ask(store, bare(42))) == "stale-epoch"


async def test_once_a_loss_is_accepted_an_older_epoch_is_only_stale(store_url: str, raw: Any) -> None:
    """Whoever was overtaken stays so, by what the gateway has seen; the newest repairs the record."""
    async with remembering(store_url) as one:
        store = one.store
        await settled(store, await admitted(store, bare(60, "H")), "applied")
        one.incarnation.recent.forget(1)
        one.incarnation.recent.origins.clear()
        raw.flushall()
        lose(raw, store.expected_ms())
        assert name_of(await ask(store, bare(55, "H"))) == "store-regressed"
        assert name_of(await store.peek(bare(55, "H"))) == "store-regressed"
        await losses.accept(store, note="looked", by="operator")

        stale = await ask(store, bare(55, "H"))
        assert name_of(await store.peek(bare(55, "H"))) == "stale-epoch"
        assert isinstance(stale, Refused)
        assert (stale.decision, stale.facts.highest_epoch, stale.facts.holder) == (STALE_EPOCH, 60, None)
        assert stale.detail.startswith("Not forwarded: epoch 60 rules report/7, and epoch 55 is not newer.")
        assert name_of(await ask(store, bare(61, "H"), ttl_s=0.0)) == "Admitted"


async def test_a_token_of_nothing_is_no_sign_of_a_loss(store_url: str) -> None:
    """What the store has never had it cannot have lost."""
    async with remembering(store_url) as one:
        assert name_of(await ask(one.store, leased(7))) == "token-invalid"

        assert list(one.incarnation.recent.proofs(0.0)) == []


async def test_a_token_that_was_never_good_stays_invalid(store: FenceStore) -> None:
    """Only a record that is behind what was seen makes it another matter."""
    lease = await granted(store)

    assert name_of(await ask(store, leased(lease.epoch, OTHER_SECRET))) == "token-invalid"
    assert name_of(await ask(store, leased(lease.epoch + 5, OTHER_SECRET))) == "token-invalid"


async def test_a_queued_write_of_an_overtaken_epoch_is_not_delivered(store: FenceStore, raw: Any) -> None:
    """The store has forgotten who overtook it; this gateway has not."""
    await parked(store, mail("one"))
    kept = raw.dump(resource_keys(RESOURCE)[0])
    await store.register(RESOURCE, bare(50).epoch, "B", watch=False)
    raw.restore(resource_keys(RESOURCE)[0], 0, kept, replace=True)
    async with delivering(store) as queue:
        await taken(queue)
        reply = await queue.admit(mail("one"), store.new_ticket(RESOURCE), ttl_s=30.0, queued=False, behind=0)

    assert name_of(reply) == "store-regressed"
