"""The sweeper: tickets of dead gateways end, those of living ones do not."""

from typing import Any

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.rule import Fence
from gateway.core.write import ResourceKey, TicketId, Write
from gateway.store.fence import FenceStore
from gateway.store.keys import SWEEPER, deadlines, resource_keys
from gateway.store.sweep import sweep_once
from gateway.store.views import tickets, unknown_intents
from tests.store.fences import RESOURCE, admitted, ask, bare, name_of, opened, rule
from tests.store.overdue import make_overdue

PARALLEL = rule(Fence(concurrency="parallel"))


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

    assert {record.id for record in (await unknown_intents(store, None)).items} == {ticket.ticket for ticket in dead}
    assert [ticket.id for ticket in await tickets(store, RESOURCE)] == [alive.ticket]


async def test_a_sweep_frees_who_waits(store: FenceStore, raw: Any) -> None:
    """The older write's gateway died: the newer epoch gets in."""
    dead = await admitted(store, bare(41))
    assert name_of(await ask(store, bare(42, "B"))) == "Waiting"
    make_overdue(raw, RESOURCE, dead.ticket)

    await sweep_once(store)

    assert name_of(await ask(store, bare(42, "B"), queued=True)) == "Admitted"


async def test_one_gateway_sweeps_at_a_time(store: FenceStore, store_url: str, raw: Any) -> None:
    """The others have nothing to do, for a second."""
    ticket = await admitted(store, bare(42))
    async with opened(store_url) as another:
        await sweep_once(another)
        make_overdue(raw, RESOURCE, ticket.ticket)

        assert await sweep_once(store) == 0
        assert 0 < raw.pttl(SWEEPER) < 1000


async def test_a_clock_that_jumped_ends_no_living_ticket(store: FenceStore, raw: Any) -> None:
    """The store's clock is far ahead of what every gateway expects: tickets are judged by the expectation.

    Seen from the tickets, a deadline that is past by the store's clock but not by the gateway's expectation.
    """
    ticket = await admitted(store, bare(42), ttl_s=0.001)
    now_ms = store.expected_ms()
    store.expected_ms = lambda: now_ms - 3_600_000

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

    assert [write.id for write in (await unknown_intents(store, None)).items] == [dead.ticket]
