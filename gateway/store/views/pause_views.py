"""What operators see of pauses: all of them, a resource's, one by its id."""

import asyncio
import heapq
import secrets
from itertools import chain

from gateway.core.pause import WidePause, stopping_parked
from gateway.core.record import IntentRecord
from gateway.core.write import ResourceKey
from gateway.store.answer import text
from gateway.store.fence import FenceStore
from gateway.store.intents import Pause, read_pause
from gateway.store.keys import PAUSES_SHARD, paused_resources, resource_keys, shard_of, shard_of_id
from gateway.store.pauses import find_wide_pause, wide_pauses
from gateway.store.views.newest import Entry, members, newest_page
from gateway.store.views.page import Page, Position

# The pause in a fence record.
_FIELD = "p"
# 64 random bits: of one resource only one pause is in force at a time.
_ID_BYTES = 8


def new_id(resource: ResourceKey) -> str:
    """The id of a pause that is about to begin: it says in which shard it is found."""
    return f"{shard_of(resource)}{secrets.token_hex(_ID_BYTES)}"


async def pauses(store: FenceStore, cursor: str | None) -> Page[Pause | WidePause]:
    """The pauses in force, wide ones and those of resources, the newest first. Raises BadCursor."""
    wide: dict[Position, WidePause] = {}

    async def read(shard: str, after: Position | None, count: int) -> list[Entry]:
        of_resources = await members(store, paused_resources(shard), after, count)
        if shard != PAUSES_SHARD:
            return of_resources
        wide.update({Position(pause.created_at_ms, 0, pause.id): pause for pause in await wide_pauses(store)})
        beside = (Entry(position) for position in wide if after is None or position < after)
        return heapq.nlargest(count, chain(of_resources, beside), key=lambda entry: entry.position)

    async def look(entry: Entry) -> Pause | WidePause | None:
        return wide.get(entry.position) or await pause_of(store, ResourceKey(entry.position.name))

    return await newest_page(store.link, read, look, cursor)


async def pause_of(store: FenceStore, resource: ResourceKey) -> Pause | None:
    """The pause of a resource."""
    packed = await store.link.call("HGET", resource_keys(resource)[0], _FIELD)
    return None if packed is None else read_pause(packed)


async def pause_over(store: FenceStore, record: IntentRecord) -> Pause | WidePause | None:
    """What keeps an intent that waits from being sent."""
    wide, own = await asyncio.gather(wide_pauses(store), pause_of(store, record.resource))
    return stopping_parked({pause.scope: pause for pause in wide}, record) or own


async def find_pause(store: FenceStore, id: str) -> Pause | WidePause | None:
    """The pause in force that has this id, which begins with its shard."""
    shard = shard_of_id(id)
    if shard is None:
        return None
    if shard == PAUSES_SHARD and (wide := await find_wide_pause(store, id)) is not None:
        return wide
    reply = await store.link.call("ZRANGE", paused_resources(shard), 0, -1)
    assert isinstance(reply, list)
    found = await asyncio.gather(*(pause_of(store, ResourceKey(text(name))) for name in reply))
    return next((pause for pause in found if pause is not None and pause.id == id), None)
