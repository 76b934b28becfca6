"""What operators see of resources and of the writes in flight: read-only, and never asked for a decision."""

import asyncio
import json
from dataclasses import dataclass, replace

from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.write import ResourceKey, TicketId
from gateway.store.answer import pairs, text
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys, shard_of, unfinished
from gateway.store.links.link import Reply
from gateway.store.packed import TICKET_MARK, unpack_ticket
from gateway.store.reply import FenceRecord
from gateway.store.views.page import PAGE, Page
from gateway.store.views.silence import heard, told
from gateway.store.views.walk import walk


@dataclass(frozen=True, slots=True)
class Ticket:
    """A write in flight. `deadline_ms` is of the store's clock, since 1970; past it and a grace, it ends as unknown.

    `intent` is None for a write without a key; `attempt` counts how often its intent was admitted. `unfinished`: it has
    ended as unknown, and its server may be at work on it until the deadline; newer epochs wait for that.
    """

    id: TicketId
    epoch: Epoch
    holder: str
    gateway: str
    upstream: str
    rule: str
    deadline_ms: int
    intent: IntentId | None = None
    attempt: int = 1
    unfinished: bool = False


async def tickets(store: FenceStore, resource: ResourceKey) -> tuple[Ticket, ...]:
    """The writes of a resource that are in flight, of the highest epoch and of older ones, and those that may be
    unfinished; the oldest epoch first."""
    _, current, older, *_ = resource_keys(resource)
    keys = current, older, unfinished(resource)
    replies = await asyncio.gather(*(store.link.call("HGETALL", key) for key in keys))
    *flying, left = ([read_ticket(TicketId(text(id)), packed) for id, packed in pairs(reply)] for reply in replies)
    found = [ticket for tickets in flying for ticket in tickets]
    # What is over goes when somebody comes.
    now_ms = store.expected_ms()
    found += (replace(ticket, unfinished=True) for ticket in left if ticket.deadline_ms > now_ms)
    return tuple(sorted(found, key=lambda ticket: (ticket.epoch, ticket.deadline_ms)))


async def ticket(store: FenceStore, resource: ResourceKey, id: TicketId) -> Ticket | None:
    """One write of a resource that is in flight."""
    _, current, older, *_ = resource_keys(resource)
    replies = await asyncio.gather(store.link.call("HGET", current, id), store.link.call("HGET", older, id))
    return next((read_ticket(id, packed) for packed in replies if packed is not None), None)


async def resources(store: FenceStore, prefix: str, cursor: str | None) -> Page[FenceRecord]:
    """Resources that begin with `prefix`, in no order, about a page of them; a page may be empty and not the last.

    Raises BadCursor.
    """
    stretch = await walk(store.link, prefix, cursor, PAGE)
    silent = dict(stretch.silent)
    records = await heard(((shard_of(resource), store.look(resource)) for resource in stretch.resources), silent)
    items = tuple(record for record in records if record is not None)
    return Page(items, stretch.next, told(store.link, silent))


def read_ticket(id: TicketId, packed: Reply) -> Ticket:
    """A ticket as it is kept."""
    assert isinstance(packed, bytes)
    if not packed.startswith(TICKET_MARK):
        return _former_ticket(id, packed)
    ticket = unpack_ticket(packed)
    return Ticket(
        id,
        Epoch(int(ticket.epoch)),
        ticket.holder,
        ticket.gateway,
        ticket.upstream,
        ticket.rule,
        ticket.deadline_ms,
        IntentId(ticket.intent) if ticket.intent else None,
        ticket.attempt,
    )


def _former_ticket(id: TicketId, packed: bytes) -> Ticket:
    """As gateways wrote it before tickets were packed; some may still run."""
    fields = json.loads(packed)
    return Ticket(
        id,
        Epoch(int(fields["epoch"])),
        fields["holder"],
        fields["gateway"],
        fields["upstream"],
        fields["rule"],
        int(fields["deadline"]),
        fields.get("intent"),
        fields.get("attempt", 1),
    )
