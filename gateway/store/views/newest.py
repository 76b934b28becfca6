"""The newest of what is kept shard by shard, merged, without reading all of any shard."""

import heapq
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import chain

from gateway.store.answer import pairs, text
from gateway.store.fence import FenceStore
from gateway.store.keys import shards
from gateway.store.links.link import Reply
from gateway.store.links.topology import Topology
from gateway.store.views.page import PAGE, Item, Page, Position, position
from gateway.store.views.silence import Silent, heard, told

# How many times more is asked of a shard whose entries were used up: most pages are spread over many shards, some are
# all of one busy resource.
_GROWTH = 8
# An entry whose record has gone leaves room for another; a list of many such must not hold the operator's call.
_ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a shard. `fields` is what the store has under it; None where the position's name says all. The shard
    is filled in by `newest`.
    """

    position: Position
    fields: Reply = None
    shard: str = ""


# Of one shard, at most so many entries that are older than the position, the newest first. Fewer: there are no more.
Read = Callable[[str, Position | None, int], Awaitable[list[Entry]]]
# What an entry leads to; None if that has gone.
Look = Callable[[Entry], Awaitable[Item | None]]


async def newest(read: Read, after: Position | None, count: int, silent: Silent) -> list[Entry]:
    """Of all shards the `count` newest entries that are older than `after`, the newest first; those of shards that do
    not answer are missing, and the shards are noted in `silent`.

    Each shard is asked for its newest one. Only those that reach into the result are asked for more, all at once, until
    none is left that might have another.
    """
    found: list[Entry] = []
    asked, begins = 1, [(shard, after) for shard in shards() if shard not in silent]
    while begins:
        replies = await heard(((shard, read(shard, begin, asked)) for shard, begin in begins), silent)
        answers = [
            [Entry(one.position, one.fields, shard) for one in reply or ()]
            for (shard, _), reply in zip(begins, replies, strict=True)
        ]
        found = heapq.nlargest(count, chain(found, *answers), key=lambda entry: entry.position)
        begins = [
            (shard, answer[-1].position)
            for (shard, _), answer in zip(begins, answers, strict=True)
            if len(answer) == asked and (len(found) < count or answer[-1].position > found[-1].position)
        ]
        asked = min(_GROWTH * asked, count)
    return found


async def newest_page(store: Topology, read: Read, look: Look[Item], cursor: str | None) -> Page[Item]:
    """A page of what the newest entries lead to. Entries whose record has gone are passed over. Raises BadCursor."""
    after = position(cursor)
    found: list[Item] = []
    silent: Silent = {}
    for _ in range(_ROUNDS):
        entries = await newest(read, after, PAGE + 1, silent)
        items = await heard(((entry.shard, look(entry)) for entry in entries[:PAGE]), silent)
        for entry, item in zip(entries, items, strict=False):
            after = entry.position
            if item is not None:
                found.append(item)
            if len(found) == PAGE:
                break
        if not entries or after == entries[-1].position:
            return Page(tuple(found), None, told(store, silent))
        if len(found) == PAGE:
            break
    assert after is not None
    return Page(tuple(found), after.cursor, told(store, silent))


async def members(store: FenceStore, key: str, after: Position | None, count: int) -> list[Entry]:
    """What `Read` asks, of a sorted set by milliseconds. Members of one millisecond are in the order of their names."""
    newest_ms = "+inf" if after is None else after.ms
    asked = count
    while True:
        command = ("ZRANGE", key, newest_ms, "-inf", "BYSCORE", "REV", "LIMIT", 0, asked, "WITHSCORES")
        reply = pairs(await store.link.call(*command))
        places = (Position(int(text(score)), 0, _name(member)) for member, score in reply)
        found = [Entry(place) for place in places if after is None or place < after]
        if len(found) >= count or len(reply) < asked:
            return found[:count]
        # Those of the millisecond at which the page before ended took the room: a sweep ends many at once.
        asked *= _GROWTH


def _name(member: Reply) -> str:
    """A member that no gateway wrote leads to no record, and so to no item."""
    assert isinstance(member, bytes)
    return member.decode("utf-8", "replace")
