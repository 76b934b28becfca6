"""The sweeper: tickets of dead gateways end, those of living ones do not; what is to be asked about is found."""

from typing import Any

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.rule import Fence
from gateway.core.write import ResourceKey, TicketId, Write
from gateway.store.fence import FenceStore
from gateway.store.keys import SWEEPER, deadlines, questions, resource_keys, shard_of
from gateway.store.sweep import Due, sweep, take_turn
from gateway.store.views.intent_views import intents
from gateway.store.views.resource_views import tickets
from tests.store.asked import asked_rule, id_of, in_doubt, keyed, make_due
from tests.store.fences import RESOURCE, admitted, ask, bare, name_of, opened, rule
from tests.store.overdue import make_overdue

PARALLEL = rule(Fence(concurrency="parallel"))


async def due(store: FenceStore) -> Due:
    """What a turn finds that is this gateway's."""
    found = await take_turn(store)
    assert found is not None
    return found


async def sweep_once(store: FenceStore) -> int:
    return await sweep(store, (await due(store)).tickets)


async def unknown(store: FenceStore) -> set[str]:
    return {record.id for record in (await intents(store, "unknown", None)).items}


async def test_overdue_tickets_end_as_unknown(store: FenceStore, raw: Any) -> None:
    """All of them, over all shards; the living ones stay, and whoever waited goes on."""
    dead = [
        await admitted(store, Write(PARALLEL, ResourceKey(f"report/{number}"), bare(42).epoch, "A", None))
        for number in range(20)
    ]
    for ticket in dead:
        make_overdue(raw, ticket.write.resource, ticket.ticket)
    alive = await admitted(store, bare(42, of=PARALLEL))

    assert await sweep_once(store) == 20

    assert await unknown(store) == {ticket.ticket for ticket in dead}
    assert [ticket.id for ticket in await tickets(store, RESOURCE)] == [alive.ticket]


async def test_a_sweep_frees_who_waits(store: FenceStore, raw: Any) -> None:
    """The older write's gateway died: the newer epoch gets in."""
    dead = await admitted(store, bare(41))
    assert name_of(await ask(store, bare(42, "B"))) == "Waiting"
    make_overdue(raw, RESOURCE, dead.ticket)

    await sweep_once(store)

    assert name_of(await ask(store, bare(42, "B"), queued=True)) == "Admitted"


async def test_one_gateway_has_the_turn(store: FenceStore, store_url: str, raw: Any) -> None:
    """The others are told that it is not theirs, for a second, whatever is due."""
    ticket = await admitted(store, bare(42))
    async with opened(store_url) as another:
        assert await take_turn(another) == Due((), ())
        make_overdue(raw, RESOURCE, ticket.ticket)

        assert await take_turn(store) is None
        assert 0 < raw.pttl(SWEEPER) < 1000


async def test_a_clock_that_jumped_ends_no_living_ticket(store: FenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store's clock is far ahead of what every gateway expects: tickets are judged by the expectation.

    Seen from the tickets, a deadline that is past by the store's clock but not by the gateway's expectation.
    """
    ticket = await admitted(store, bare(42), ttl_s=0.001)
    now_ms = store.expected_ms()
    monkeypatch.setattr(store, "expected_ms", lambda: now_ms - 3_600_000)

    assert await store.sweep(RESOURCE, ticket.ticket) == 0
    assert await sweep_once(store) == 0


async def test_a_deadline_without_a_ticket_goes(store: FenceStore, raw: Any) -> None:
    """A failover lost the ticket and kept its deadline: the sweeper must not meet it for ever."""
    deadlines = resource_keys(RESOURCE)[4]
    raw.zadd(deadlines, {f"{TicketId('000x1')} {RESOURCE}": 1})

    assert await sweep_once(store) == 0

    assert raw.zcard(deadlines) == 0


async def test_one_bad_record_keeps_no_other_waiting(store: FenceStore, raw: Any) -> None:
    """A key of another type, or an entry that no gateway wrote: the other tickets end all the same."""
    dead = await admitted(store, bare(42))
    spoilt = await admitted(store, Write(PARALLEL, ResourceKey("spoilt"), bare(42).epoch, "A", None))
    for ticket in (dead, spoilt):
        make_overdue(raw, ticket.write.resource, ticket.ticket)
    raw.set(resource_keys(ResourceKey("spoilt"))[0], "not a record")
    raw.zadd(deadlines("000"), {b"\xff\xfe": 1})

    with pytest.raises(StoreUnavailable):
        await sweep_once(store)

    assert await unknown(store) == {dead.ticket}


async def test_intents_are_found_when_their_question_is_due(store: FenceStore, raw: Any) -> None:
    """Over all shards; but not one whose next question is still to come, nor one that is never asked about."""
    overdue = [keyed("a", resource=ResourceKey(f"report/{number}")) for number in range(20)]
    for write in overdue:
        await in_doubt(store, write)
        make_due(raw, id_of(write))
    await in_doubt(store, keyed("early", asked_rule(ask_after_s=60.0)))
    await in_doubt(store, bare(41, "agent-a", of=PARALLEL))

    assert set((await due(store)).intents) == {id_of(write) for write in overdue}


async def test_entries_that_no_gateway_wrote_are_no_questions(store: FenceStore, raw: Any) -> None:
    """No id, or one of another shard."""
    await in_doubt(store, keyed("a"))
    make_due(raw, id_of(keyed("a")))
    raw.zadd(questions(shard_of(RESOURCE)), {b"\xff\xfe": 1, "": 1, "fffa": 1})
    raw.zadd(questions("000"), {id_of(keyed("a")): 1})

    assert (await due(store)).intents == (id_of(keyed("a")),)
