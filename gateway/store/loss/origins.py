"""What each shard begins with: a text that whoever comes first leaves there, and that goes only with all else in it.

Scripts compare it with what their gateway has learned (losses.began_anew), in the step in which they decide. So a store
that was emptied under a living connection admits nothing, before anybody has missed a mark there. A gateway that began
while a server was away learns its shards' with the first mark, or with what it first asks of one before that.
"""

import asyncio
import secrets
from collections.abc import Sequence

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ClusterDownError, ReadOnlyError, ResponseError

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
    new, is_any = _new(), False
    asked = (store.at(origin(shard)).send(pack(*_leave(shard, new))) for shard in unknown)
    replies = await asyncio.gather(*asked, return_exceptions=True)
    for shard, reply in zip(unknown, replies, strict=True):
        if isinstance(reply, StoreUnavailable):
            continue
        if isinstance(reply, BaseException):
            raise reply
        # Meanwhile it may have been learned anew.
        recent.origins.setdefault(shard, new if reply is None else text(reply))
        is_any = True
    return is_any


async def learn_one(store: Topology, recent: Recent, shard: str) -> str:
    """Of one shard, before it is asked for a decision. Raises StoreUnavailable."""
    new = _new()
    reply = await store.at(origin(shard)).send(pack(*_leave(shard, new)))
    return recent.origins.setdefault(shard, new if reply is None else text(reply))


async def learn_here(connection: AbstractConnection, recent: Recent, known: Sequence[str]) -> None:
    """Of the shards of the server at the other end that this process knows nothing of. `known`: some of its others.

    Raises the server's error where it takes no writes yet, also if there is nothing to learn. One that has no room for
    them takes lookups: what it does not say is asked for later.
    """
    unknown = [shard for shard in shards() if shard not in recent.origins]
    asked, new = [*known[:1], *unknown], _new()
    replies = await ask_first(connection, [_leave(shard, new) for shard in asked])
    for shard, reply in zip(asked, replies, strict=True):
        if isinstance(reply, ClusterDownError | ReadOnlyError):
            raise reply
        if not isinstance(reply, ResponseError):
            recent.origins.setdefault(shard, new if reply is None else text(reply))


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
