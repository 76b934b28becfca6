"""Applied intents are taken back: what is in flight, what is recorded, and what follows when it is known."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.compensation import Unavailable
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.outcome import Outcome
from gateway.core.rule import Fence
from gateway.core.write import Admitted, Replayed, Settled, Waiting
from gateway.store.compensations import Compensations
from gateway.store.fence import FenceStore
from gateway.store.intents import pause
from gateway.store.keys import resource_keys
from gateway.store.resets import reset
from tests.store.compensating import UNDO, UNDOABLE, applied, asked, begun, record, second_id
from tests.store.fences import (
    ANSWER,
    HELD,
    INTENT,
    OTHER_SECRET,
    RESOURCE,
    RETAIN_S,
    SECRET,
    admitted,
    ask,
    bare,
    ended,
    granted,
    keyed,
    opened,
    resolved,
    state_of,
)
from tests.store.lost import lose
from tests.store.overdue import make_overdue
from tests.store.parked import leased_mail, parked

KEY = f"{resource_keys(RESOURCE)[6]}c:{INTENT}"
HOLDING = replace(HELD, fence=Fence(concurrency="parallel", after_unknown="hold"))


async def end(store: FenceStore, one: Admitted, outcome: Outcome, reason: str = "a test") -> Settled:
    return await Compensations(store).settle_of(INTENT, one, outcome, reason, None)


@pytest.mark.parametrize(
    ("outcome", "state"), [("applied", "compensated"), ("not_applied", "applied"), ("unknown", "compensating")]
)
async def test_the_first_intent_follows(store: FenceStore, outcome: Outcome, state: str) -> None:
    """In the same step as its compensation ends; as long as nobody knows, it stays where it is."""
    first = await applied(store)
    one = await begun(store, first)
    assert await state_of(store) == "compensating"

    await end(store, one, outcome)

    assert (await state_of(store), await state_of(store, one.intent)) == (state, outcome)


async def test_a_repeat_of_a_lost_answer_has_the_same_ticket(store: FenceStore) -> None:
    """It is its own ticket that it finds, and no second attempt."""
    first = await applied(store)
    one = await begun(store, first)

    again = await asked(store, first, one.ticket)

    assert again == one
    assert (await record(store, one.intent)).attempts == 1


@pytest.mark.parametrize("outcome", [None, "unknown", "applied"])
async def test_there_is_one_compensation(store: FenceStore, outcome: Outcome | None) -> None:
    """While it is in flight, while nobody knows, and once it is done."""
    first = await applied(store)
    one = await begun(store, first)
    if outcome is not None:
        await end(store, one, outcome)

    again = await asked(store, first)

    assert isinstance(again, Refused)
    assert again.decision.name == "wrong-state"


async def test_what_was_proved_not_applied_may_be_tried_again(store: FenceStore) -> None:
    """The same intent, a further attempt, under the epoch that is the highest by then."""
    first = await applied(store)
    await end(store, await begun(store, first), "not_applied", "answered 409")
    assert (await record(store)).reason == "not compensated: answered 409"
    await store.advance(RESOURCE, Epoch(50), "r")

    one = await begun(store, first)

    assert (one.attempt, one.write.epoch, one.intent) == (2, 50, second_id(first))


async def test_it_waits_for_whatever_is_in_flight(store: FenceStore) -> None:
    """Under any epoch; an older ticket as well as one of the highest."""
    first = await applied(store)
    other = await admitted(store, bare(42, of=HELD))
    assert isinstance(await asked(store, first), Waiting)
    await store.advance(RESOURCE, None, "r")
    assert isinstance(await asked(store, first, queued=True), Waiting)

    await store.settle(other, "applied", "a test", None)

    assert isinstance(await asked(store, first, queued=True), Admitted)


async def test_it_waits_for_what_is_queued_under_a_lease_that_was_given_back(store: FenceStore) -> None:
    """As a newer lease's own writes do; an operator's floor ends what is queued, and lets it through."""
    first = await applied(store)
    lease = await granted(store, "A", SECRET)
    await parked(store, leased_mail("queued", lease.epoch))
    await store.release(RESOURCE, lease.epoch, SECRET)
    await granted(store, "B", OTHER_SECRET)

    assert await asked(store, first) == Waiting("older", 0.5)
    await store.advance(RESOURCE, None, "r")

    assert isinstance(await asked(store, first, queued=True), Admitted)


@pytest.mark.parametrize(
    ("after_ms", "accepted", "told"),
    [(60_000, False, "store-regressed"), (60_000, True, "wrong-state"), (-60_000, True, None)],
    ids=["not accepted", "accepted", "applied after the loss"],
)
async def test_what_was_applied_before_a_loss_is_not_taken_back(
    store: FenceStore, raw: Any, after_ms: int, accepted: bool, told: str | None
) -> None:
    """It may have been taken back since, and that lost: a refund would be paid twice."""
    first = await applied(store)
    lose(raw, store.expected_ms() + after_ms, accepted=accepted)

    reply = await asked(store, first)

    assert (reply.decision.name if isinstance(reply, Refused) else None) == told


async def test_it_is_held_back_by_unknown_writes_as_others_are(store: FenceStore, raw: Any) -> None:
    """What is known of the resource may not be true. The operator is told of all that hold it; nothing waits behind."""
    first = await applied(store)
    holding = [keyed(bare(42, of=HOLDING), digest=f"{name:-<22}") for name in ("one", "two")]
    sent = [await admitted(store, write) for write in holding]
    assert isinstance(await asked(store, first), Waiting)
    for one in sent:
        await store.settle(one, "unknown", "no answer", None)

    refused = await asked(store, first, queued=True)

    assert isinstance(refused, Refused) and (refused.decision.name, refused.decision.status) == ("outcome-unknown", 409)
    assert all(one.intent in refused.detail for one in sent)
    assert (refused.facts.intent, refused.facts.intent_state) == (sent[0].intent, "unknown")
    assert not raw.exists(resource_keys(RESOURCE)[3]) and await state_of(store) == "applied"
    for one in sent:
        await resolved(store, "not_applied", one.intent)
    assert isinstance(await asked(store, first), Admitted)


async def test_what_comes_after_it_waits_for_it(store: FenceStore) -> None:
    """A serial write, and a newer epoch: it is a ticket like any other."""
    first = await applied(store)
    one = await begun(store, first)
    assert isinstance(await ask(store, bare(42)), Waiting)
    assert isinstance(await ask(store, bare(43), queued=True), Waiting)

    await end(store, one, "applied")

    assert isinstance(await ask(store, bare(43), queued=True), Admitted)


async def test_a_pause_does_not_stop_it(store: FenceStore) -> None:
    """Who takes something back may have stopped all else for it."""
    first = await applied(store)
    await pause(store, RESOURCE, id="p", reason="stop", by="operator")

    assert isinstance(await asked(store, first), Admitted)


async def test_it_raises_no_epoch_and_claims_none(store: FenceStore, raw: Any) -> None:
    """The fence is as it was, whether the compensation is in flight or has ended."""
    first = await applied(store)
    before = raw.hgetall(resource_keys(RESOURCE)[0])

    one = await begun(store, first)
    assert raw.hgetall(resource_keys(RESOURCE)[0]) == before
    await end(store, one, "applied")

    assert raw.hgetall(resource_keys(RESOURCE)[0]) == before


async def test_it_goes_under_the_epoch_of_now_where_an_operator_has_forgotten_its_own(store: FenceStore) -> None:
    """An upstream that keeps the largest would refuse whoever writes now."""
    await applied(store)
    await reset(store, RESOURCE, note="a test ran away", by="operator")
    await ended(store, bare(5), "applied")

    assert (await begun(store, await record(store))).write.epoch == 5


async def test_a_gateway_that_dies_leaves_it_compensating(store: FenceStore, raw: Any) -> None:
    """Its ticket is swept as unknown; an operator's word ends both."""
    first = await applied(store)
    one = await begun(store, first)
    make_overdue(raw, RESOURCE, one.ticket)
    assert await store.sweep(RESOURCE, one.ticket) == 1
    assert (await state_of(store), await state_of(store, one.intent)) == ("compensating", "unknown")

    await resolved(store, "applied", one.intent)

    assert await state_of(store) == "compensated"


async def test_late_evidence_overrules_an_operators_word(store: FenceStore) -> None:
    """It was done after all: an incident, and the first intent is compensated."""
    first = await applied(store)
    one = await begun(store, first)
    await end(store, one, "unknown")
    await resolved(store, "not_applied", one.intent)
    assert await state_of(store) == "applied"

    settled = await end(store, one, "applied", "answered 204, late")

    assert settled.incident == "late-write"
    assert await state_of(store) == "compensated"


async def test_an_abandoned_one_leaves_the_intent_as_it_was(store: FenceStore) -> None:
    """Nothing was sent, whether or not the call had arrived."""
    first = await applied(store)
    one = await begun(store, first)

    await Compensations(store).abandon(one.write, one.ticket)

    assert await state_of(store) == "applied"
    assert isinstance(await asked(store, first), Admitted)


@pytest.mark.parametrize("taken_back", [False, True])
async def test_what_took_effect_is_replayed_and_never_sent_again(store: FenceStore, taken_back: bool) -> None:
    """While it is being compensated, and afterwards."""
    first = await applied(store)
    one = await begun(store, first)
    if taken_back:
        await end(store, one, "applied")

    reply = await ask(store, keyed(bare(42, of=HELD)))

    assert isinstance(reply, Replayed)
    assert reply.answer == ANSWER


async def test_the_first_attempts_own_evidence_changes_nothing_afterwards(store: FenceStore) -> None:
    """A settle call that comes twice finds it compensated and leaves it so."""
    write = await admitted(store, keyed(bare(42, of=HELD)))
    await store.settle(write, "applied", "a test", UNDOABLE)
    await end(store, await begun(store, await record(store)), "applied")

    settled = await store.settle(write, "applied", "a test", UNDOABLE)

    assert (settled.outcome, settled.incident, await state_of(store)) == ("applied", None, "compensated")


async def test_the_request_lives_as_long_as_the_record(store: FenceStore, raw: Any) -> None:
    """As long as its rule says from the end on, and without a limit while it is being compensated."""
    first = await applied(store)
    assert 0 <= RETAIN_S * 1000 - raw.pttl(KEY) < 60_000
    one = await begun(store, first)
    assert raw.pttl(KEY) == raw.pttl(f"{resource_keys(RESOURCE)[6]}i:{INTENT}") == -1

    await end(store, one, "applied")

    assert 0 <= RETAIN_S * 1000 - raw.pttl(KEY) < 60_000


@pytest.mark.parametrize(
    ("damage", "why"), [(None, "no such pointer"), ("expired", "it is no longer kept")], ids=["unavailable", "gone"]
)
async def test_without_a_request_there_is_nothing_to_send(
    store: FenceStore, raw: Any, damage: str | None, why: str
) -> None:
    """The refusal says why, and the intent stays applied."""
    first = await applied(store, UNDO if damage else Unavailable("no such pointer"))
    if damage:
        raw.delete(KEY)

    refused = await asked(store, first)

    assert isinstance(refused, Refused)
    assert why in refused.detail
    assert await state_of(store) == "applied"


async def test_an_intent_that_is_gone_is_no_such_intent(store: FenceStore, raw: Any) -> None:
    """Its time is over."""
    first = await applied(store)
    raw.flushall()

    refused = await asked(store, first)

    assert isinstance(refused, Refused)
    assert refused.decision.name == "no-such-intent"


async def test_a_failover_that_lost_it_still_ends_both(store: FenceStore, raw: Any) -> None:
    """Settling is an upsert: what is known of the compensation makes its record anew, and the first one follows."""
    first = await applied(store)
    keys = {key: raw.dump(key) for key in raw.keys("*")}
    one = await begun(store, first)
    raw.flushall()
    for key, dump in keys.items():
        raw.restore(key, 0, dump)

    await end(store, one, "applied")

    assert (await state_of(store), await state_of(store, one.intent)) == ("compensated", "applied")


@pytest.mark.parametrize(
    "key", ["tickets", "older", "waiters", "deadlines", "audit", "number", "compensating", "undo", "second"]
)
async def test_a_key_of_the_wrong_type_leaves_nothing_half_done(store_url: str, raw: Any, key: str) -> None:
    """The call fails, and every other key is as it was."""
    async with opened(store_url) as store:
        first = await applied(store)
        _, tickets, older, waiters, deadlines, audit, prefix = resource_keys(RESOURCE)
        found = {
            "tickets": tickets,
            "older": older,
            "waiters": waiters,
            "deadlines": deadlines,
            "audit": audit,
            "number": f"{prefix}n",
            "compensating": f"{prefix}s:compensating",
            "undo": KEY,
            "second": f"{prefix}i:{second_id(first)}",
        }[key]
        raw.delete(found)
        if key in ("number", "second"):
            raw.lpush(found, "x")
        else:
            raw.set(found, "x")
        before = {one: raw.dump(one) for one in raw.keys("*")}

        with pytest.raises(Exception, match="WRONGTYPE"):
            await asked(store, first)

        assert {one: raw.dump(one) for one in raw.keys("*")} == before
