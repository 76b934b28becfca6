"""What operators see of intents: those of a state, and those in flight."""

from dataclasses import dataclass
from typing import Literal, get_args

from gateway.core.intent import IntentId
from gateway.core.record import IntentRecord
from gateway.core.write import ResourceKey, TicketId
from gateway.store.answer import pairs, text
from gateway.store.fence import FenceStore
from gateway.store.keys import deadlines, in_state, shard_keys, shard_of_id
from gateway.store.reply import record_of
from gateway.store.script import Script
from gateway.store.views import resource_views
from gateway.store.views.newest import Entry, members, newest_page
from gateway.store.views.page import Page, Position
from gateway.store.views.resource_views import Ticket

GLANCE = Script("glance")

# Those whose records the store lists; what is in flight is found by its ticket.
Listed = Literal[
    "unknown", "applied", "not_applied", "awaiting_approval", "queued", "denied", "expired", "superseded", "failed",
    "compensating", "compensated",
]  # fmt: skip
LISTED: tuple[Listed, ...] = get_args(Listed)

# Of one step through a shard's tickets.
_STEP = 1000


@dataclass(frozen=True, slots=True)
class Flight:
    """A write in flight: its ticket, and its intent's record, which a write without a key does not have yet."""

    ticket: Ticket
    resource: ResourceKey
    record: IntentRecord | None


async def intents(store: FenceStore, state: Listed, cursor: str | None) -> Page[IntentRecord]:
    """Intents that are in a state, without their answers; who came to it last is first. Raises BadCursor."""

    async def read(shard: str, after: Position | None, count: int) -> list[Entry]:
        return await members(store, in_state(shard, state), after, count)

    async def look(entry: Entry) -> IntentRecord | None:
        record = await _glance(store, IntentId(entry.position.name))
        # It may have left the state a moment ago, or its time may be over and its entry not pruned yet.
        return record if record is not None and record.state == state else None

    return await newest_page(store.link, read, look, cursor)


async def in_flight(store: FenceStore, cursor: str | None) -> Page[Flight]:
    """Writes in flight, those with the latest deadline first. Raises BadCursor."""

    async def read(shard: str, after: Position | None, count: int) -> list[Entry]:
        return await members(store, deadlines(shard), after, count)

    async def look(entry: Entry) -> Flight | None:
        return await _flight(store, entry.position.name)

    return await newest_page(store.link, read, look, cursor)


async def flight(store: FenceStore, id: str) -> Flight | None:
    """The write in flight that has this ticket, which is the id of a write without a key."""
    shard = shard_of_id(id)
    if shard is None:
        return None
    at = ""
    while at != "0":
        # No id has a character that a pattern would take for a wildcard.
        reply = await store.link.call("ZSCAN", deadlines(shard), at or "0", "MATCH", f"{id} *", "COUNT", _STEP)
        assert isinstance(reply, list)
        found = pairs(reply[1])
        if found:
            return await _flight(store, text(found[0][0]))
        at = text(reply[0])
    return None


async def _glance(store: FenceStore, id: IntentId) -> IntentRecord | None:
    shard = shard_of_id(id)
    if shard is None:
        return None
    answer = await store.run(GLANCE, shard_keys(shard), id)
    return record_of(answer.rest) if answer.word == "recalled" else None


async def _flight(store: FenceStore, member: str) -> Flight | None:
    """None if it has ended meanwhile."""
    id, _, name = member.partition(" ")
    resource = ResourceKey(name)
    ticket = await resource_views.ticket(store, resource, TicketId(id))
    if ticket is None:
        return None
    record = await _glance(store, ticket.intent) if ticket.intent is not None else None
    if record is not None and record.state != "in_flight":
        return None
    return Flight(ticket, resource, record)
