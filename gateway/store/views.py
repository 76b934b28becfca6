"""What operators see of resources and of the writes in flight: read-only, and never asked for a decision."""

import asyncio
import json
from dataclasses import dataclass
from typing import NamedTuple

from gateway.core.epoch import Epoch, parse_u64
from gateway.core.intent import IntentId
from gateway.core.write import ResourceKey, TicketId
from gateway.store.answer import text
from gateway.store.fence import FenceStore
from gateway.store.keys import fence_pattern, resource_keys, resource_of
from gateway.store.link import Reply
from gateway.store.newest import pairs
from gateway.store.packed import TICKET_MARK, unpack_ticket
from gateway.store.page import PAGE, BadCursor, Page
from gateway.store.reply import FenceRecord

# Keys that a step of a scan looks at, and steps until a page is answered though it is not full: a prefix that hardly
# anything has must not hold the operator's call while millions of keys are passed.
_STEP = 1000
_STEPS = 100


@dataclass(frozen=True, slots=True)
class Ticket:
    """A write in flight. `deadline_ms` is of the store's clock, since 1970; past it and a grace, it ends as unknown.

    `intent` is None for a write without a key; `attempt` counts how often its intent was admitted.
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


async def tickets(store: FenceStore, resource: ResourceKey) -> tuple[Ticket, ...]:
    """The writes of a resource that are in flight, of the highest epoch and of older ones; the oldest epoch first."""
    _, current, older, *_ = resource_keys(resource)
    replies = await asyncio.gather(store.link.call("HGETALL", current), store.link.call("HGETALL", older))
    found = [read_ticket(TicketId(text(id)), packed) for reply in replies for id, packed in pairs(reply)]
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
    servers = store.link.servers
    found: dict[ResourceKey, None] = {}
    place: _Place | None = _read_place(cursor, len(servers))
    for _ in range(_STEPS):
        if place is None or len(found) >= PAGE:
            break
        reply = await servers[place.server].call("SCAN", place.at, "MATCH", fence_pattern(prefix), "COUNT", _STEP)
        assert isinstance(reply, list)
        keys = reply[1]
        assert isinstance(keys, list)
        found.update(dict.fromkeys(resource_of(text(key)) for key in keys))
        place = place.next(text(reply[0]), len(servers))
    records = await asyncio.gather(*(store.look(resource) for resource in found))
    return Page(tuple(record for record in records if record is not None), place and place.cursor)


class _Place(NamedTuple):
    """Where a scan goes on: at which of the servers, and where there."""

    server: int
    at: str

    @property
    def cursor(self) -> str:
        return f"{self.server}.{self.at}" if self.server else self.at

    def next(self, at: str, servers: int) -> "_Place | None":
        """None after the last server's end."""
        if at != "0":
            return _Place(self.server, at)
        return _Place(self.server + 1, "0") if self.server + 1 < servers else None


def _read_place(cursor: str | None, servers: int) -> _Place:
    server, _, at = (cursor or "0").rpartition(".")
    number = parse_u64(server or "0")
    if number is None or number >= servers or parse_u64(at) is None:
        raise BadCursor
    return _Place(number, at)


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
