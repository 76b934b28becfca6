"""Settling: what an outcome moves, what it gives back, and tickets that are no longer there."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.outcome import Outcome
from gateway.core.rule import Fence
from gateway.core.write import Admitted
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.views.audit_views import Sought, events
from gateway.store.views.intent_views import intents
from gateway.store.views.resource_views import tickets
from tests.store.fences import (
    ANSWER,
    HELD,
    INTENT,
    RESOURCE,
    RETRIED,
    admitted,
    ask,
    bare,
    ended,
    everything,
    granted,
    keyed,
    leased,
    name_of,
    rule,
    settled,
    state_of,
    unknown_is,
)
from tests.store.overdue import make_overdue

STRICT = rule(Fence(order="strict"))
CONTIGUOUS = rule(Fence(sequence="contiguous"))
COUNTED = rule(counts=True)
WRITE = keyed(bare(42, of=HELD))
PARALLEL_WRITE = keyed(bare(42, of=unknown_is("hold", rule(Fence(concurrency="parallel")))))
NATIVE = keyed(bare(42, of=RETRIED))


async def test_a_write_proved_not_applied_gives_its_place_back(store: FenceStore) -> None:
    """Sequence, the strict epoch's one write and the revision are as before the attempt."""
    for of, sequence in ((STRICT, None), (CONTIGUOUS, 1), (COUNTED, None)):
        write = bare(42, of=of, sequence=sequence)
        await store.settle(await admitted(store, write), "not_applied", "nothing was sent", None)

        again = await admitted(store, write)
        assert again.revision in (None, 0)
        await store.settle(again, "not_applied", "nothing was sent", None)


async def test_a_place_that_was_passed_is_not_given_back(store: FenceStore) -> None:
    """Only the last place of a sequence is free again."""
    of = rule(Fence(concurrency="parallel", sequence="increasing"))
    first = await admitted(store, bare(42, of=of, sequence=1))
    await admitted(store, bare(42, of=of, sequence=2))

    await store.settle(first, "not_applied", "nothing was sent", None)

    assert name_of(await ask(store, bare(42, of=of, sequence=1))) == "out-of-sequence"


async def test_an_epoch_that_a_later_write_used_is_not_given_back(store: FenceStore) -> None:
    """A strict write that failed leaves the epoch used, if another rule's write was admitted meanwhile."""
    strict = await admitted(store, bare(42, of=rule(Fence(order="strict", concurrency="parallel"))))
    await admitted(store, bare(42, of=rule(Fence(concurrency="parallel"))))

    await store.settle(strict, "not_applied", "nothing was sent", None)

    assert name_of(await ask(store, bare(42, of=STRICT))) == "stale-epoch"


async def test_the_revision_counts_what_was_or_may_have_been_applied(store: FenceStore) -> None:
    """Applied and unknown count one each, not_applied none; a repeated settle counts nothing twice."""
    for outcome, expected in (("applied", 1), ("not_applied", 1), ("unknown", 2)):
        ticket = await admitted(store, bare(42, of=COUNTED))
        for _ in range(2):
            assert (await store.settle(ticket, outcome, "a test", None)).revision == expected
    assert await store.revision(RESOURCE) == 2


async def test_an_unknown_write_gets_a_record(store: FenceStore) -> None:
    """The record is found by the ticket's id and listed; settled again with what is known by now, it is resolved."""
    ticket = await admitted(store, bare(42, "B"))
    await store.settle(ticket, "unknown", "the connection was reset", None)

    record = await store.recall(ticket.ticket)
    assert record is not None
    assert (record.state, record.resource, record.epoch, record.holder) == ("unknown", RESOURCE, 42, "B")
    assert (record.upstream, record.rule, record.reason) == ("reports", "replace", "the connection was reset")
    assert (await intents(store, "unknown", None)).items == (record,)

    await store.settle(ticket, "applied", "a late answer", None)

    resolved = await store.recall(ticket.ticket)
    assert resolved is not None
    assert (resolved.state, resolved.reason) == ("applied", "a late answer")
    assert (await intents(store, "unknown", None)).items == ()


async def test_a_swept_ticket_is_settled_by_what_its_gateway_knows(store: FenceStore, raw: Any) -> None:
    """Swept as unknown while its gateway was paused, then proved not applied: the record says so."""
    ticket = await admitted(store, bare(42))
    make_overdue(raw, RESOURCE, ticket.ticket)
    assert await store.sweep(RESOURCE, ticket.ticket) == 1

    await store.settle(ticket, "not_applied", "the deadline passed before the first byte", None)

    record = await store.recall(ticket.ticket)
    assert record is not None
    assert record.state == "not_applied"


async def test_settling_restores_what_a_failover_lost(store: FenceStore, raw: Any) -> None:
    """The store has forgotten the admission: settling raises the highest epoch, and its sequence is used."""
    ticket = await admitted(store, bare(42, of=CONTIGUOUS, sequence=1))
    raw.flushall()

    await store.settle(ticket, "applied", "answered 200", None)

    assert name_of(await ask(store, bare(41))) == "stale-epoch"
    assert name_of(await ask(store, bare(42, of=STRICT))) == "stale-epoch"
    assert name_of(await ask(store, bare(42, of=CONTIGUOUS, sequence=1))) == "out-of-sequence"


async def test_a_lost_write_that_named_no_holder_leaves_none(store: FenceStore, raw: Any) -> None:
    """Its lease is lost with it: the epoch is like one that an operator advanced to, and nobody has claimed it."""
    lease = await granted(store, "B")
    one = await admitted(store, leased(lease.epoch))
    raw.flushall()

    await store.settle(one, "applied", "answered 200", None)

    assert isinstance(await ask(store, bare(lease.epoch, "C")), Admitted)


async def test_an_unknown_write_that_a_failover_lost_is_recorded(store: FenceStore, raw: Any) -> None:
    """G5 holds although the ticket is gone."""
    ticket = await admitted(store, bare(42))
    raw.flushall()

    await store.settle(ticket, "unknown", "timed out", None)

    assert [record.id for record in (await intents(store, "unknown", None)).items] == [ticket.ticket]


async def test_abandoning_a_write_that_never_arrived_moves_nothing(store: FenceStore, raw: Any) -> None:
    """An admission that got no answer may not have happened: its epoch is not recorded by ending it."""
    await store.abandon(bare(42), store.new_ticket(RESOURCE))

    assert raw.keys("*:f:*") == []


async def test_abandoning_ends_a_ticket_whose_answer_was_lost(store: FenceStore) -> None:
    """The resource is free at once, and the write counts as not applied."""
    lost = await admitted(store, bare(42, of=STRICT))

    await store.abandon(lost.write, lost.ticket)

    assert await tickets(store, RESOURCE) == ()
    assert isinstance(await ask(store, bare(42, of=STRICT)), Admitted)


async def test_nothing_is_left_of_a_settled_write_but_the_fence(store: FenceStore, raw: Any) -> None:
    """Tickets, deadlines and waiters vanish with the last of them; the trail has its events."""
    first = await admitted(store, bare(42))
    await ask(store, bare(42))
    await store.settle(first, "applied", "answered 200", None)
    second = await ask(store, bare(42), queued=True)
    assert isinstance(second, Admitted)
    await store.settle(second, "applied", "answered 200", None)

    fence, *_, trail, shard = resource_keys(RESOURCE)
    assert {key.decode() for key in raw.keys("*")} == {fence, trail, f"{shard}n"}


async def test_an_unknown_write_of_a_lease_names_its_holder(store: FenceStore) -> None:
    """The token need not: the ticket knows whose it is."""
    lease = await granted(store, "B")
    one = await ended(store, leased(lease.epoch), "unknown")

    record = await store.recall(one.intent)

    assert record is not None and record.holder == "B"


async def steps(store: FenceStore) -> list[tuple[str, str]]:
    """The intent's, the oldest first."""
    trail = (await events(store, Sought(intent=INTENT), None)).items
    return [(event.before, event.after) for event in reversed(trail)]


@pytest.mark.parametrize("outcome", ["applied", "not_applied", "unknown"])
async def test_settling_restores_an_intent_that_a_failover_lost(store: FenceStore, raw: Any, outcome: Outcome) -> None:
    """Its record is as if nothing had been lost, and the trail has its admission."""
    one = await admitted(store, WRITE)
    raw.flushall()

    told = await settled(store, one, outcome, ANSWER if outcome == "applied" else None)

    assert (told.outcome, await state_of(store)) == (outcome, outcome)
    record = await store.recall(INTENT)
    assert record is not None
    assert (record.key, record.attempts, record.holder) == ("mail-7", 1, "A")
    assert await steps(store) == [("", "in_flight"), ("in_flight", outcome)]
    assert name_of(await ask(store, keyed(bare(41)))) == "stale-epoch"
    repeated = {"applied": "Replayed", "not_applied": "Admitted", "unknown": "outcome-unknown"}
    assert name_of(await ask(store, WRITE)) == repeated[outcome]


@pytest.mark.parametrize(("outcome", "concluded"), [("not_applied", "unknown"), ("applied", "applied")])
async def test_a_lost_retry_in_doubt_is_restored_with_its_doubt(
    store: FenceStore, raw: Any, outcome: Outcome, concluded: Outcome
) -> None:
    """The store has forgotten the first attempt too; the gateway that made the second has not."""
    await ended(store, NATIVE, "unknown")
    again = await admitted(store, NATIVE)
    raw.flushall()

    assert (await settled(store, again, outcome)).outcome == concluded

    record = await store.recall(INTENT)
    assert record is not None and (record.state, record.attempts) == (concluded, 2)


async def test_a_restored_intent_counts_as_a_revision_once(store: FenceStore, raw: Any) -> None:
    """Its record tells a repeat from a loss."""
    one = await admitted(store, keyed(bare(42, of=COUNTED)))
    raw.flushall()

    assert [(await settled(store, one, "applied")).revision for _ in range(2)] == [1, 1]


@pytest.mark.parametrize(
    ("beside", "outcome", "state"),
    [
        pytest.param(None, "applied", "applied", id="applied, while another is in flight"),
        pytest.param(None, "unknown", "unknown", id="unknown, while another is in flight"),
        pytest.param(None, "not_applied", "not_applied", id="not applied, while another is in flight"),
        pytest.param("applied", "not_applied", "applied", id="not applied, after another was applied"),
        pytest.param("unknown", "not_applied", "unknown", id="not applied, after another ended unknown"),
    ],
)
async def test_a_lost_attempt_whose_key_was_given_away(
    store: FenceStore, raw: Any, beside: Outcome | None, outcome: Outcome, state: str
) -> None:
    """A key is never freed by a refusal while another attempt, or the lost one itself, may have been executed."""
    lost = replace(await admitted(store, WRITE), attempt=2)
    raw.flushall()
    other = await admitted(store, WRITE)
    if beside is not None:
        await settled(store, other, beside)
    await settled(store, lost, outcome)
    if beside is None:
        await settled(store, other, "not_applied")

    assert await state_of(store) == state


@pytest.mark.parametrize("by", ["sweep", "settle as unknown", "settle as applied"])
async def test_a_ticket_whose_intent_has_another_attempt_ends_without_it(store: FenceStore, raw: Any, by: str) -> None:
    """Somebody deleted the record, and the key was given away: the other attempt's record is not this one's."""
    first = await admitted(store, PARALLEL_WRITE)
    raw.delete(f"{resource_keys(RESOURCE)[6]}i:{INTENT}")
    second = await admitted(store, PARALLEL_WRITE)
    if by == "sweep":
        make_overdue(raw, RESOURCE, first.ticket)
        assert await store.sweep(RESOURCE, first.ticket) == 1
    else:
        await settled(store, first, "applied" if by.endswith("applied") else "unknown")

    assert [ticket.id for ticket in await tickets(store, RESOURCE)] == [second.ticket]
    assert await state_of(store) == "in_flight"
    told = await settled(store, second, "not_applied")
    assert told.outcome == ("applied" if by.endswith("applied") else "not_applied")


@pytest.mark.parametrize("in_doubt", [False, True])
async def test_a_swept_write_counts_as_a_revision_once(store: FenceStore, raw: Any, in_doubt: bool) -> None:
    """It may have been applied; a retry in doubt is the same write, also where a failover lost it."""
    of = unknown_is("retry", COUNTED, native_s=3600.0)
    if in_doubt:
        await ended(store, keyed(bare(42, of=of)), "unknown")
    one = await admitted(store, keyed(bare(42, of=of)))
    make_overdue(raw, RESOURCE, one.ticket)
    await store.sweep(RESOURCE, one.ticket)
    assert await store.revision(RESOURCE) == 1

    raw.flushall()
    assert (await settled(store, one, "applied")).revision == (0 if in_doubt else 1)


async def test_abandoning_an_intent_that_never_arrived_leaves_no_record(store: FenceStore, raw: Any) -> None:
    """Nothing was there."""
    await store.abandon(WRITE, store.new_ticket(RESOURCE))

    assert everything(raw) == {}


@pytest.mark.parametrize(
    ("write", "state"),
    [pytest.param(WRITE, "not_applied", id="the first"), pytest.param(NATIVE, "unknown", id="a retry in doubt")],
)
async def test_abandoning_an_attempt_whose_answer_was_lost(store: FenceStore, write: Any, state: str) -> None:
    """Nothing was sent under it: the key is as free as it was before."""
    if state == "unknown":
        await ended(store, write, "unknown")
    lost = await admitted(store, write)

    await store.abandon(lost.write, lost.ticket)

    assert await state_of(store) == state
    assert (await store.recall(INTENT)) is not None


async def test_an_abandoned_attempt_that_was_swept_is_not_applied(store: FenceStore, raw: Any) -> None:
    """The store was away for longer than the ticket lived."""
    lost = await admitted(store, WRITE)
    make_overdue(raw, RESOURCE, lost.ticket)
    await store.sweep(RESOURCE, lost.ticket)

    await store.abandon(lost.write, lost.ticket)

    assert await state_of(store) == "not_applied"


@pytest.mark.parametrize("outcome", [None, "applied", "unknown"])
async def test_abandoning_says_nothing_of_another_attempt(store: FenceStore, raw: Any, outcome: Outcome | None) -> None:
    """The caller has come again, and its second call was admitted."""
    one = await admitted(store, WRITE)
    if outcome is not None:
        await settled(store, one, outcome)
    before = everything(raw)

    await store.abandon(WRITE, store.new_ticket(RESOURCE))

    assert everything(raw) == before


async def test_a_place_is_given_back_under_a_key_too(store: FenceStore) -> None:
    """Proved not applied, the same intent takes the same place again."""
    write = keyed(bare(42, of=unknown_is("hold", rule(Fence(sequence="contiguous"))), sequence=1))
    await ended(store, write, "not_applied")

    assert (await admitted(store, write)).attempt == 2


async def test_every_step_is_one_event(store: FenceStore, raw: Any) -> None:
    """With its number, the attempt's epoch and ticket, the request's digest, the reason and the gateway."""
    one = await ended(store, WRITE, "applied", ANSWER, "answered 201")

    admission, end = reversed((await events(store, Sought(intent=INTENT), None)).items)

    assert (admission.number, end.number) == (1, 2)
    assert (admission.before, admission.after, end.before, end.after) == ("", "in_flight", "in_flight", "applied")
    assert (admission.reason, end.reason) == ("admitted", "answered 201")
    for event in (admission, end):
        assert (event.ticket, event.epoch, event.holder, event.by) == (one.ticket, "42", "A", store.gateway)
        assert (event.resource, event.upstream, event.rule) == (RESOURCE, "reports", "replace")
        assert event.input == b"\x00one thing".hex()


async def test_a_write_without_a_key_has_its_events_too(store: FenceStore) -> None:
    """Under its ticket's id, without a digest."""
    one = await ended(store, bare(42), "not_applied")

    trail = (await events(store, Sought(intent=one.intent), None)).items

    assert [(event.before, event.after, event.input) for event in reversed(trail)] == [
        ("", "in_flight", ""),
        ("in_flight", "not_applied", ""),
    ]
