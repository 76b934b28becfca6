"""What operators see."""

from typing import Any

import pytest

from gateway.core.epoch import Epoch
from gateway.core.rule import Fence
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.reply import FenceRecord
from gateway.store.views import PAGE, UnknownWrite, resources, tickets, unknown_intents, unknown_write
from tests.store.fences import RESOURCE, SECRET, admitted, bare, granted, leased, rule
from tests.store.overdue import make_overdue

PARALLEL = rule(Fence(concurrency="parallel"))


async def test_a_resource_shows_epoch_holder_lease_and_what_is_in_flight(store: FenceStore) -> None:
    """Older writes are counted apart, and listed first."""
    await admitted(store, bare(41))
    lease = await granted(store, "B")

    record = await store.look(RESOURCE)
    assert record is not None
    assert (record.epoch, record.holder, record.lease) == (lease.epoch, "B", lease)
    assert (record.in_flight, record.older_in_flight) == (0, 1)
    assert [
        (ticket.epoch, ticket.holder, ticket.upstream, ticket.rule) for ticket in await tickets(store, RESOURCE)
    ] == [(41, "A", "reports", "replace")]


async def test_a_resource_that_was_never_seen_is_none(store: FenceStore) -> None:
    """It has no lease, and its count of revisions is zero."""
    assert await store.look(RESOURCE) is None
    assert await store.lookup(RESOURCE) is None
    assert await store.revision(RESOURCE) == 0


async def test_resources_are_listed_by_prefix(store: FenceStore) -> None:
    """The prefix is text, not a pattern; pages follow each other to the end."""
    names = {ResourceKey(f"report/{number}") for number in range(2 * PAGE + 50)}
    for name in (*names, ResourceKey("reports"), ResourceKey("report*"), ResourceKey("other")):
        await store.register(name, Epoch(1), "A", watch=False)

    assert {record.resource for record in await _all_resources(store, "report/")} == names
    assert [record.resource for record in await _all_resources(store, "report*")] == ["report*"]


async def test_unknown_writes_are_listed_newest_first(store: FenceStore, raw: Any) -> None:
    """Page after page, those that ended in one millisecond included, each once."""
    made = [await admitted(store, bare(42, of=PARALLEL)) for _ in range(PAGE + 20)]
    for ticket in made:
        make_overdue(raw, RESOURCE, ticket.ticket)
    await store.sweep(RESOURCE, made[0].ticket)
    later = await admitted(store, bare(42, of=PARALLEL))
    await store.settle(later, "unknown", "timed out")

    listed = await _all_unknown(store)

    assert len(listed) == PAGE + 21
    assert {record.id for record in listed} == {ticket.ticket for ticket in (*made, later)}
    instants = [record.created_at_ms for record in listed]
    assert instants == sorted(instants, reverse=True)


async def test_a_cursor_that_was_not_handed_out_is_an_error(store: FenceStore) -> None:
    """The caller's mistake is told apart from a store that is away."""
    with pytest.raises(ValueError, match="invalid"):
        await resources(store, "", "next please")
    with pytest.raises(ValueError, match="invalid"):
        await unknown_intents(store, "next please")


async def test_a_write_that_did_not_end_unknown_has_no_record(store: FenceStore) -> None:
    """Applied writes leave nothing but the fence."""
    lease = await granted(store)
    ticket = await admitted(store, leased(lease.epoch, SECRET))
    await store.settle(ticket, "applied", "answered 200")

    assert await unknown_write(store, ticket.ticket) is None


async def _all_resources(store: FenceStore, prefix: str) -> list[FenceRecord]:
    page = await resources(store, prefix, None)
    found = list(page.items)
    while page.next is not None:
        page = await resources(store, prefix, page.next)
        found += page.items
    return found


async def _all_unknown(store: FenceStore) -> list[UnknownWrite]:
    page = await unknown_intents(store, None)
    found = list(page.items)
    while page.next is not None:
        page = await unknown_intents(store, page.next)
        found += page.items
    return found
