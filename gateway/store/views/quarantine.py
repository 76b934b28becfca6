"""What operators see of the quarantine, and take out of it; and how much is in it."""

import asyncio
import contextlib
import json
from collections import Counter
from dataclasses import dataclass

from gateway.core.epoch import Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.kept_request import KeptRequest
from gateway.core.late import Quarantined
from gateway.core.write import ResourceKey
from gateway.store.answer import number, text
from gateway.store.fence import FenceStore
from gateway.store.kept_requests import inflate_request
from gateway.store.keys import KEPT_BYTES, kept_request, kept_requests, shard_keys, shard_of, shard_of_id, shards
from gateway.store.links.link import Reply
from gateway.store.script import KEEPING_PARTS, Script
from gateway.store.views.newest import Entry, members, newest_page
from gateway.store.views.page import Page, Position

DROP = Script("drop", KEEPING_PARTS)
RECOUNT = Script("recount", KEEPING_PARTS)

PURPOSE = "quarantine"
_FIELDS = ("for", "about", "holder", "at", "expires")
# In one step of the store, which takes a millisecond or two: nobody else is served meanwhile.
_COUNTED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Sought:
    """Which late results are wanted: of a resource, of rules with a name; all, where nothing is said."""

    resource: ResourceKey | None = None
    rule: str | None = None

    def matches(self, found: Quarantined) -> bool:
        return self.resource in (None, found.resource) and self.rule in (None, found.rule)


async def late_results(store: FenceStore, sought: Sought, cursor: str | None) -> Page[Quarantined]:
    """What is in quarantine, without the requests themselves, the newest first. Raises BadCursor."""
    only = None if sought.resource is None else shard_of(sought.resource)

    async def read(shard: str, after: Position | None, count: int) -> list[Entry]:
        if only not in (None, shard):
            return []
        return await members(store, kept_requests(shard, PURPOSE), after, count)

    async def look(entry: Entry) -> Quarantined | None:
        shard = shard_of_id(entry.position.name)
        if shard is None:
            return None
        reply = await store.link.call("HMGET", kept_request(shard, entry.position.name), *_FIELDS)
        found = _quarantined(entry.position.name, reply)
        # Its time may be over, and its entry not pruned yet.
        return found if found is not None and sought.matches(found) else None

    return await newest_page(store.link, read, look, cursor)


async def late_result(store: FenceStore, id: str) -> tuple[Quarantined, KeptRequest] | None:
    """One late result with its request; None where nothing in quarantine has this id."""
    shard = shard_of_id(id)
    if shard is None:
        return None
    reply = await store.link.call("HMGET", kept_request(shard, id), *_FIELDS, "request")
    found = _quarantined(id, reply)
    if found is None:
        return None
    assert isinstance(reply, list) and isinstance(reply[-1], bytes)
    return found, await asyncio.to_thread(inflate_request, reply[-1])


async def drop(store: FenceStore, found: Quarantined, *, note: str, by: str) -> None:
    """Take a late result out of quarantine for good. One that has gone meanwhile is gone."""
    answer = await store.run(DROP, shard_keys(shard_of(found.resource)), found.id, note, by)
    # What is kept is counted anew every minute.
    with contextlib.suppress(StoreUnavailable):
        await store.link.call("DECRBY", KEPT_BYTES, number(answer.rest[0]))


async def recount(store: FenceStore) -> int:
    """How many bytes are in quarantine, counted anew: what expired was not taken off. Raises StoreUnavailable."""
    bytes = (await counted(store, PURPOSE)).total()
    await store.link.call("SET", KEPT_BYTES, bytes)
    return bytes


async def counted(store: FenceStore, purpose: str) -> Counter[str]:
    """How many bytes of each principal are kept for a purpose. Raises StoreUnavailable."""
    lengths = await asyncio.gather(*(store.link.call("ZCARD", kept_requests(shard, purpose)) for shard in shards()))
    bytes: Counter[str] = Counter()
    for shard, length in zip(shards(), lengths, strict=True):
        if number(length) > 0:
            bytes += await _counted_in(store, shard, purpose)
    return bytes


async def _counted_in(store: FenceStore, shard: str, purpose: str) -> Counter[str]:
    bytes: Counter[str] = Counter()
    passed, word = 0, "more"
    while word == "more":
        answer = await store.run(RECOUNT, shard_keys(shard), purpose, str(passed), str(_COUNTED_AT_ONCE))
        word, (counted, *flat) = answer.word, answer.rest
        passed += number(counted)
        bytes.update(dict(zip(map(text, flat[::2]), map(number, flat[1::2]), strict=True)))
    return bytes


def _quarantined(id: str, reply: Reply) -> Quarantined | None:
    assert isinstance(reply, list)
    purpose, about, holder, at, expires, *_ = reply
    if purpose != PURPOSE.encode():
        return None
    told = json.loads(text(about))
    return Quarantined(
        id,
        told["decision"],
        ResourceKey(told["resource"]),
        Epoch(int(told["epoch"])),
        Epoch(int(told["highest_epoch"])) if told["highest_epoch"] else None,
        text(holder) or None,
        told["principal"],
        told["tenant"],
        told["upstream"],
        told["rule"],
        told["intent"] or None,
        told["method"],
        told["target"],
        told["size"] if told["size"] >= 0 else None,
        number(at),
        number(expires),
    )
