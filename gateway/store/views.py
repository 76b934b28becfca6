"""What operators see: read-only, paged, and never asked for a decision."""

import asyncio
import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from gateway.core.epoch import Epoch
from gateway.core.write import ResourceKey, TicketId
from gateway.store.fence import FenceStore
from gateway.store.keys import fence_pattern, resource_keys, resource_of, shards, unknown_record, unknown_writes
from gateway.store.link import Reply
from gateway.store.reply import FenceRecord

PAGE = 100
# Keys that a step of a scan looks at, and steps until a page is answered though it is not full: a prefix that hardly
# anything has must not hold the operator's call while millions of keys are passed.
_STEP = 1000
_STEPS = 100

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some of the items, and where the next page begins; None at the end."""

    items: tuple[Item, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Ticket:
    """A write in flight. `deadline_ms` is of the store's clock, since 1970; past it and a grace, it ends as unknown."""

    id: TicketId
    epoch: Epoch
    holder: str
    gateway: str
    upstream: str
    rule: str
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class UnknownWrite:
    """A write that may or may not have happened. Instants in milliseconds of the store's clock since 1970."""

    id: TicketId
    state: str
    upstream: str
    rule: str
    resource: ResourceKey
    epoch: Epoch
    holder: str
    created_at_ms: int
    updated_at_ms: int
    reason: str


async def tickets(store: FenceStore, resource: ResourceKey) -> tuple[Ticket, ...]:
    """The writes of a resource that are in flight, of the highest epoch and of older ones; the oldest epoch first."""
    _, current, older, *_ = resource_keys(resource)
    replies = await asyncio.gather(store.link.call("HGETALL", current), store.link.call("HGETALL", older))
    found = [_ticket(id, packed) for reply in replies for id, packed in _pairs(reply)]
    return tuple(sorted(found, key=lambda ticket: (ticket.epoch, ticket.deadline_ms)))


async def resources(store: FenceStore, prefix: str, cursor: str | None) -> Page[FenceRecord]:
    """Resources that begin with `prefix`, in no order, about a page of them; a page may be empty and not the last.

    ValueError for a cursor that was not handed out.
    """
    found: dict[ResourceKey, None] = {}
    at = str(int(cursor or "0"))
    for _ in range(_STEPS):
        reply = await store.link.call("SCAN", at, "MATCH", fence_pattern(prefix), "COUNT", _STEP)
        assert isinstance(reply, list)
        at, keys = _text(reply[0]), reply[1]
        assert isinstance(keys, list)
        found.update(dict.fromkeys(resource_of(_text(key)) for key in keys))
        if at == "0" or len(found) >= PAGE:
            break
    records = await asyncio.gather(*(store.look(resource) for resource in found))
    return Page(tuple(record for record in records if record is not None), None if at == "0" else at)


async def unknown_write(store: FenceStore, id: TicketId) -> UnknownWrite | None:
    """One write that ended unknown, also when it has been resolved since (for a day)."""
    record = {_text(name): _text(value) for name, value in _pairs(await store.link.call("HGETALL", unknown_record(id)))}
    if not record:
        return None
    return UnknownWrite(
        TicketId(record["id"]),
        record["state"],
        record["upstream"],
        record["rule"],
        ResourceKey(record["resource"]),
        Epoch(int(record["epoch"])),
        record["holder"],
        int(record["created_at"]),
        int(record["updated_at"]),
        record["reason"],
    )


async def unknown_intents(store: FenceStore, cursor: str | None) -> Page[UnknownWrite]:
    """Writes that ended unknown and are not resolved, newest first. ValueError for a cursor that was not handed out."""
    after = _position(cursor) if cursor else None
    shares = await asyncio.gather(*(_newest(store, shard, after) for shard in shards()))
    positions = sorted((position for share in shares for position in share), reverse=True)
    page = positions[:PAGE]
    records = await asyncio.gather(*(unknown_write(store, id) for _, id in page))
    more = f"{page[-1][0]}.{page[-1][1]}" if len(positions) > PAGE else None
    return Page(tuple(record for record in records if record is not None), more)


async def _newest(store: FenceStore, shard: str, after: tuple[int, TicketId] | None) -> list[tuple[int, TicketId]]:
    """One shard's newest, as (millisecond, id), before the position `after`. One more than a page: is there a next?"""
    key = unknown_writes(shard)
    newest = "+inf" if after is None else f"({after[0]}"
    older = store.link.call("ZRANGE", key, newest, "-inf", "BYSCORE", "REV", "LIMIT", 0, PAGE + 1, "WITHSCORES")
    if after is None:
        return _positions(await older)
    # Many may have ended in one millisecond: a sweep ends all of a resource's at once.
    same = store.link.call("ZRANGE", key, after[0], after[0], "BYSCORE", "WITHSCORES")
    both = await asyncio.gather(same, older)
    return [position for reply in both for position in _positions(reply) if position < after]


def _position(cursor: str) -> tuple[int, TicketId]:
    ms, _, id = cursor.partition(".")
    return int(ms), TicketId(id)


def _positions(reply: Reply) -> list[tuple[int, TicketId]]:
    return [(int(_text(score)), TicketId(_text(id))) for id, score in _pairs(reply)]


def _ticket(id: Reply, packed: Reply) -> Ticket:
    fields = json.loads(_text(packed))
    return Ticket(
        TicketId(_text(id)),
        Epoch(int(fields["epoch"])),
        fields["holder"],
        fields["gateway"],
        fields["upstream"],
        fields["rule"],
        int(fields["deadline"]),
    )


def _pairs(reply: Reply) -> list[tuple[Reply, Reply]]:
    """A flat list of names and values as pairs."""
    assert isinstance(reply, list)
    return list(zip(reply[::2], reply[1::2], strict=True))


def _text(reply: Reply) -> str:
    assert isinstance(reply, bytes)
    return reply.decode()
