"""What an operator's word changes of a loss, and what it leaves in the trail."""

from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import Conclusion
from gateway.core.intent import IntentId
from gateway.core.lease import Lease
from gateway.store.fence import FenceStore
from gateway.store.keys import in_state, shard_of
from gateway.store.loss import losses
from gateway.store.parking import retry
from gateway.store.views import audit_views
from gateway.store.views.audit_views import Sought
from tests.store.fences import RESOURCE, SECRET, ask, bare, everything, keyed, leased, name_of, resolved, state_of
from tests.store.lost import LOST, all_landed, lose, put_back
from tests.store.parked import APPROVED, QUEUED, THEN, begun, delivering, id_of, mail, parked, refused, taken


async def test_an_accepted_loss_ends_leases_from_before_it_and_nothing_else(
    store: FenceStore, raw: Any, lease: Lease
) -> None:
    """Nothing older than the loss writes again; epochs from elsewhere and new intents do."""
    assert await losses.accept(store, note="looked at the mailbox", by="operator") == 0

    assert name_of(await ask(store, leased(lease.epoch))) == "lease-expired"
    assert name_of(await store.renew(RESOURCE, lease.epoch, SECRET)) == "lease-lost"
    all_landed(store)
    assert name_of(await ask(store, keyed(bare(lease.epoch + 9)), ttl_s=0.0)) == "Admitted"
    assert raw.get(LOST) == b"%d accepted" % (lease.epoch + 1)
    assert 366 < raw.ttl(LOST) / 86_400 <= 367


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


async def test_what_waits_behind_entries_of_nothing_is_not_passed_over(store: FenceStore, raw: Any) -> None:
    """More of them than one step looks at: none of what waited is sent after it."""
    await parked(store, mail("queued"))
    listed = in_state(shard_of(RESOURCE), "queued")
    raw.zadd(listed, {f"{shard_of(RESOURCE)}gone{number}": 1 for number in range(250)})
    lose(raw, store.expected_ms() + 1)

    assert await losses.accept(store, note="looked", by="operator") == 1

    assert await state_of(store, id_of(mail("queued"))) == "unknown"
    assert raw.zcard(listed) == 0


async def test_its_own_gateway_still_knows_what_became_of_it(store: FenceStore, raw: Any) -> None:
    """The store fell back to when it was queued; the answer of the delivery that it forgot ends it all the same."""
    one = mail("queued")
    record = await parked(store, one)
    before = everything(raw)
    async with delivering(store) as queue:
        head = await taken(queue)
        admitted = await begun(queue, one)
        put_back(raw, before)
        lose(raw, store.expected_ms() + 1)
        await losses.accept(store, note="looked", by="operator")
        assert await state_of(store, record.id) == "unknown"

        await queue.end(head, admitted, Conclusion("applied", "answered 200", None, THEN))

    assert await state_of(store, record.id) == "applied"
    assert await refused(store, one) == "replayed"


async def test_what_waited_is_not_sent_again_whatever_is_said_of_it(store: FenceStore, raw: Any) -> None:
    """G1: it was queued under an epoch that ended with the loss, and whose successor may be what was lost."""
    await parked(store, mail("queued"))
    lose(raw, store.expected_ms() + 1)
    await losses.accept(store, note="looked", by="operator")
    await resolved(store, "not_applied", IntentId(id_of(mail("queued"))))
    record = await store.recall(id_of(mail("queued")))
    assert record is not None

    told = await retry(store, record, note="again", by="operator")

    assert isinstance(told, Refused)
    assert told.decision.name == "wrong-state" and "from before the store lost" in told.detail


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
