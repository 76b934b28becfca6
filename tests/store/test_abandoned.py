"""Tickets whose admission got no answer, and which the store only learns of later."""

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.store.fence import FenceStore
from gateway.store.views.intent_views import intents
from gateway.store.views.resource_views import tickets
from tests.store.fences import RESOURCE, TTL_S, admitted, bare, opened, rule, state_of
from tests.store.parked import begun, delivering, id_of, mail, parked, taken
from tests.store.server import Server
from tests.until import until


async def _nothing_in_flight(store: FenceStore) -> bool:
    return await tickets(store, RESOURCE) == ()


async def test_an_admission_that_arrives_after_it_was_abandoned_is_ended(store: FenceStore) -> None:
    """Its bytes were on the way: once the ticket's life is over it is ended again, never as unknown."""
    write = bare(42, of=rule(total_s=0.05))
    ticket = store.new_ticket(RESOURCE)
    await store.abandon(write, ticket)
    await store.admit(write, ticket, ttl_s=TTL_S, queued=False, behind=0)

    await until(lambda: _nothing_in_flight(store))
    assert (await intents(store, "unknown", None)).items == ()


async def test_a_ticket_abandoned_while_the_store_is_away_is_ended_when_it_is_back(
    store_server: Server, store_url: str
) -> None:
    """The caller is told that the store is away; the store's side goes on trying."""
    async with opened(store_url, timeout_s=0.3) as store:
        lost = await admitted(store, bare(42))
        store_server.pause()
        try:
            with pytest.raises(StoreUnavailable):
                await store.abandon(lost.write, lost.ticket)
        finally:
            store_server.resume()

        await until(lambda: _answers_that_nothing_is_in_flight(store))


async def test_a_delivery_abandoned_while_the_store_is_away_is_queued_again_when_it_is_back(
    store_server: Server, store_url: str
) -> None:
    """Long before its ticket's life is over, at which it would end as unknown, and never be sent."""
    async with opened(store_url, timeout_s=0.3) as store, delivering(store) as queue:
        await parked(store, mail("one"))
        await taken(queue)
        lost = await begun(queue, mail("one"))
        store_server.pause()
        # Nothing that is asked from here on reaches it when it goes on.
        store.link.servers[0].leave()
        try:
            with pytest.raises(StoreUnavailable):
                await queue.abandon(lost.write, lost.ticket)
        finally:
            store_server.resume()

        await until(lambda: _answers_that_nothing_is_in_flight(store), within_s=TTL_S / 2)
        assert await state_of(store, id_of(mail("one"))) == "queued"


async def _answers_that_nothing_is_in_flight(store: FenceStore) -> bool:
    try:
        return await _nothing_in_flight(store)
    except StoreUnavailable:
        return False
