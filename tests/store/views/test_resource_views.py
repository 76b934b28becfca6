"""What operators see of resources and of the writes in flight."""

import pytest

from gateway.core.epoch import Epoch
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.reply import FenceRecord
from gateway.store.views.page import PAGE, BadCursor
from gateway.store.views.resource_views import resources, ticket, tickets
from tests.intending import SEVEN, begun, ended, intended
from tests.store.fences import RESOURCE, admitted, bare, granted


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


async def test_a_ticket_names_its_intent_and_its_attempt(store: FenceStore) -> None:
    """What was proved not applied is admitted again under the same intent; without a key there is none."""
    await ended(store, intended("k-1"), "not_applied")
    again = await begun(store, intended("k-1"))
    keyless = await begun(store, intended(None))

    found = {ticket.id: (ticket.intent, ticket.attempt) for ticket in await tickets(store, SEVEN)}
    one = await ticket(store, SEVEN, again.ticket)

    assert found == {again.ticket: (again.intent, 2), keyless.ticket: (None, 1)}
    assert one is not None
    assert (one.intent, one.gateway) == (again.intent, store.gateway)


async def test_a_ticket_of_an_older_epoch_is_found_too(store: FenceStore) -> None:
    """And one that has ended is not."""
    older = await begun(store, intended(None))
    await store.advance(SEVEN, None, "request")

    assert await ticket(store, SEVEN, older.ticket) is not None
    await store.settle(older, "applied", "answered 200", None)
    assert await ticket(store, SEVEN, older.ticket) is None


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


@pytest.mark.parametrize("cursor", ["next please", "-1", "9.5", "1.", str(2**64), "9" * 21])
async def test_a_cursor_that_was_not_handed_out_is_an_error(cursor: str, store: FenceStore) -> None:
    """The caller's mistake is told apart from a store that is away."""
    with pytest.raises(BadCursor):
        await resources(store, "", cursor)


async def _all_resources(store: FenceStore, prefix: str) -> list[FenceRecord]:
    page = await resources(store, prefix, None)
    found = list(page.items)
    while page.next is not None:
        page = await resources(store, prefix, page.next)
        found += page.items
    return found
