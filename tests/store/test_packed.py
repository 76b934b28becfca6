"""Tickets and events as Python reads them."""

from typing import Any

from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, resource_keys, shard_of
from gateway.store.packed import TICKET_MARK, unpack_event, unpack_ticket
from tests.intending import begun, intended

LONG = ResourceKey("report/" + "\N{EURO SIGN}" * 30_000)


async def test_every_field_of_any_length_comes_back(store: FenceStore, raw: Any) -> None:
    """Also where a text is longer than two bytes of a length can say."""
    one = await begun(store, intended("k-1", LONG))

    ((_, packed),) = raw.hgetall(resource_keys(LONG)[1]).items()
    ((_, fields),) = raw.xrange(audit_trail(shard_of(LONG)))
    ticket, event = unpack_ticket(packed), unpack_event(fields[b"e"])

    assert packed.startswith(TICKET_MARK)
    assert (ticket.intent, ticket.attempt, ticket.gateway) == (one.intent, 1, store.gateway)
    assert (ticket.epoch, ticket.holder, ticket.upstream, ticket.rule) == ("41", "agent-a", "reports", "write")
    assert (event.number, event.before, event.after, event.reason) == (1, "", "in_flight", "admitted")
    assert (event.resource, event.ticket, event.intent) == (LONG, one.ticket, one.intent)
    assert (event.fingerprint.hex(), event.by, event.principal) == ("01ff", store.gateway, "")
