"""Tickets whose gateway died end as unknown, so that nobody waits for them for ever (G5)."""

import asyncio

from gateway.core.faults import StoreUnavailable
from gateway.core.write import ResourceKey, TicketId
from gateway.store.fence import FenceStore
from gateway.store.keys import SWEEPER, deadlines, shards
from gateway.store.link import Reply

# Of all gateways that sweep every second one does; a little less, so that the same one may do it again.
_TURN_MS = 900
# As in scripts/parts/epoch.lua, where each ticket is judged again.
_GRACE_MS = 1000
# Of one shard in one turn; the rest a second later.
_AT_ONCE = 100


async def sweep_once(store: FenceStore) -> int:
    """End the overdue tickets of all shards; returns how many. Raises StoreUnavailable.

    Call it every second: it returns 0 at once where another gateway has swept less than a second ago.
    """
    if await store.link.call("SET", SWEEPER, store.gateway, "NX", "PX", _TURN_MS) is None:
        return 0
    until_ms = store.expected_ms() - _GRACE_MS
    found = await asyncio.gather(*(_overdue(store, shard, until_ms) for shard in shards()))
    ended, failed = 0, None
    for members in found:
        for ticket, resource in members:
            try:
                ended += await store.sweep(resource, ticket)
            except StoreUnavailable as error:
                # One record that cannot be read must not keep the others waiting.
                failed = error
    if failed is not None:
        raise failed
    return ended


async def _overdue(store: FenceStore, shard: str, until_ms: int) -> list[tuple[TicketId, ResourceKey]]:
    reply = await store.link.call("ZRANGE", deadlines(shard), "-inf", until_ms, "BYSCORE", "LIMIT", 0, _AT_ONCE)
    assert isinstance(reply, list)
    return [found for member in reply if (found := _ticket_and_resource(member)) is not None]


def _ticket_and_resource(member: Reply) -> tuple[TicketId, ResourceKey] | None:
    """None for a member that no gateway wrote."""
    assert isinstance(member, bytes)
    try:
        ticket, _, resource = member.decode().partition(" ")
    except UnicodeDecodeError:
        return None
    return TicketId(ticket), ResourceKey(resource)
