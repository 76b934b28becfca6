"""Settling: what an outcome moves, what it gives back, and tickets that are no longer there."""

from typing import Any

from gateway.core.rule import Fence
from gateway.core.write import Admitted
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.intent_views import intents
from gateway.store.views import tickets
from tests.store.fences import RESOURCE, admitted, ask, bare, name_of, rule
from tests.store.overdue import make_overdue

STRICT = rule(Fence(order="strict"))
CONTIGUOUS = rule(Fence(sequence="contiguous"))
COUNTED = rule(counts=True)


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
