"""What does not answer when all shards are asked: it is told beside what does, and never left out in silence."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

from gateway.core.faults import StoreUnavailable
from gateway.store.keys import SHARDS, origin
from gateway.store.links.topology import Topology

# By shard, why it does not answer.
Silent = dict[str, StoreUnavailable]

Answered = TypeVar("Answered")

# Servers that are away at one time, of which people are told; each has shards by the hundred.
_TOLD = 3


async def heard(asked: Iterable[tuple[str, Awaitable[Answered]]], silent: Silent) -> list[Answered | None]:
    """The answer of each shard; None of those that did not give one, which are noted in `silent`."""
    questions = list(asked)
    replies = await asyncio.gather(*(question for _, question in questions), return_exceptions=True)
    found: list[Answered | None] = []
    for (shard, _), reply in zip(questions, replies, strict=True):
        if isinstance(reply, StoreUnavailable):
            silent[shard] = reply
            found.append(None)
        elif isinstance(reply, BaseException):
            raise reply
        else:
            found.append(reply)
    return found


def told(store: Topology, silent: Silent) -> str | None:
    """In one sentence what is missing; None where nothing is. Raises StoreUnavailable where no shard answered."""
    if len(silent) == SHARDS:
        raise next(iter(silent.values()))
    if not silent:
        return None
    whys = dict.fromkeys(why(store, shard, error) for shard, error in silent.items())
    more = f", and {len(whys) - _TOLD} more reasons" if len(whys) > _TOLD else ""
    return f"{len(silent)} of {SHARDS} shards do not answer: {'; '.join(list(whys)[:_TOLD])}{more}"


def why(store: Topology, shard: str, error: StoreUnavailable) -> str:
    """With the server's name, where there are several."""
    name = store.at(origin(shard)).name
    return f"{name}: {error}" if name else str(error)
