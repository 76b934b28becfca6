"""What operators see of pauses: all of them, a resource's, one by its id."""

import asyncio
import secrets

from gateway.core.write import ResourceKey
from gateway.store.answer import text
from gateway.store.fence import FenceStore
from gateway.store.intents import Pause, read_pause
from gateway.store.keys import paused_resources, resource_keys, shard_of, shard_of_id
from gateway.store.newest import Entry, members, newest_page
from gateway.store.page import Page, Position

# The pause in a fence record.
_FIELD = "p"
# 64 random bits: of one resource only one pause is in force at a time.
_ID_BYTES = 8


def new_id(resource: ResourceKey) -> str:
    """The id of a pause that is about to begin: it says in which shard it is found."""
    return f"{shard_of(resource)}{secrets.token_hex(_ID_BYTES)}"


async def pauses(store: FenceStore, cursor: str | None) -> Page[Pause]:
    """The pauses in force, the newest first. Raises BadCursor."""

    async def read(shard: str, after: Position | None, count: int) -> list[Entry]:
        return await members(store, paused_resources(shard), after, count)

    async def look(entry: Entry) -> Pause | None:
        return await pause_of(store, ResourceKey(entry.position.name))

    return await newest_page(read, look, cursor)


async def pause_of(store: FenceStore, resource: ResourceKey) -> Pause | None:
    """The pause of a resource."""
    packed = await store.link.call("HGET", resource_keys(resource)[0], _FIELD)
    return None if packed is None else read_pause(text(packed).encode())


async def find_pause(store: FenceStore, id: str) -> Pause | None:
    """The pause in force that has this id, which begins with its shard."""
    shard = shard_of_id(id)
    if shard is None:
        return None
    reply = await store.link.call("ZRANGE", paused_resources(shard), 0, -1)
    assert isinstance(reply, list)
    found = await asyncio.gather(*(pause_of(store, ResourceKey(text(name))) for name in reply))
    return next((pause for pause in found if pause is not None and pause.id == id), None)
