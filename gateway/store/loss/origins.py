"""What each shard begins with: a text that whoever comes first leaves there, and that goes only with all else in it.

Scripts compare it with what their gateway has learned (losses.began_anew), in the step in which they decide. So a store
that was emptied under a living connection admits nothing, before anybody has missed a mark there.
"""

import asyncio
import secrets

from redis.asyncio.connection import AbstractConnection

from gateway.core.faults import StoreUnavailable
from gateway.store.answer import text
from gateway.store.keys import origin, shards
from gateway.store.links.first_words import ask_first, is_elsewhere, reply_of
from gateway.store.links.link import pack
from gateway.store.links.topology import Topology
from gateway.store.loss.recent import Recent

# In base64; it has to differ from what the store began with before, and is compared at every admission.
_BYTES = 6


async def learn(store: Topology, recent: Recent) -> bool:
    """Of all shards that this process knows nothing of; where there is nothing, it is left there. Returns whether it
    has learned any. What cannot be reached is left for the next time.
    """
    unknown = [shard for shard in shards() if shard not in recent.origins]
    if not unknown:
        return False
    new = _new()
    asked = (store.at(origin(shard)).send(pack(*_leave(shard, new))) for shard in unknown)
    replies = await asyncio.gather(*asked, return_exceptions=True)
    for shard, reply in zip(unknown, replies, strict=True):
        if isinstance(reply, StoreUnavailable):
            continue
        if isinstance(reply, BaseException):
            raise reply
        # Meanwhile it may have been learned anew.
        recent.origins.setdefault(shard, new if reply is None else text(reply))
    return True


async def learn_anew(connection: AbstractConnection, recent: Recent) -> None:
    """Of all shards of the server at the other end, once everybody is told that it has lost something."""
    new = _new()
    replies = await ask_first(connection, [_leave(shard, new) for shard in shards()])
    for shard, reply in zip(shards(), replies, strict=True):
        if not is_elsewhere(reply):
            found = reply_of(reply)
            recent.origins[shard] = new if found is None else text(found)


async def count_lost(connection: AbstractConnection, recent: Recent) -> int:
    """How many shards of the server at the other end are not those that this process has known."""
    known = list(recent.origins.items())
    replies = await ask_first(connection, [("GET", origin(shard)) for shard, _ in known])
    asked = zip(known, replies, strict=True)
    return sum(not is_elsewhere(reply) and reply_of(reply) != began.encode() for (_, began), reply in asked)


def _leave(shard: str, new: str) -> tuple[str, ...]:
    """Answered with what is there already."""
    return "SET", origin(shard), new, "NX", "GET"


def _new() -> str:
    return secrets.token_urlsafe(_BYTES)
