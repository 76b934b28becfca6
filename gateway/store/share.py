"""Room for what waits to be sent, in bytes: how much all of it may take, and how much of that one principal's.

The requests are in many shards, so that no script sees them all: they are counted beside. Room is taken before a write
is, and given back where it was not needed: however many come at once, no more is taken than there is. Every minute all
is counted anew (`parking.recount_parked`); what is just being taken at that instant is missed until the next time.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from gateway.core.caller import ANONYMOUS
from gateway.core.decision import Refused
from gateway.core.faults import StoreUnavailable
from gateway.store.answer import fields, number
from gateway.store.keys import PARKED_BY, PARKED_BYTES
from gateway.store.links.topology import Topology

# One principal has a quarter of all room at most: a few of them that run wild leave some to the others.
_PRINCIPALS = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Room that was asked for. `lacks`: whose room is used up, so that it has none; None where it has it."""

    bytes: int
    principal: str
    most: int
    lacks: Literal["all", "own"] | None = None

    @property
    def room(self) -> int:
        """The bytes that the write may take."""
        return self.bytes if self.lacks is None else 0


@dataclass(frozen=True, slots=True)
class Counted:
    """How many bytes are kept, in all and of each principal that has any."""

    all: int
    of: Mapping[str, int]


async def take_place(link: Topology, bytes: int, principal: str, most: int) -> Place:
    """Take room for one write, if `most` bytes in all leave it any. Raises StoreUnavailable."""
    place = Place(bytes, principal, most)
    all_bytes, own_bytes = await _add(link, place, bytes)
    if own_bytes > most // _PRINCIPALS:
        place = replace(place, lacks="own")
    elif all_bytes > most:
        place = replace(place, lacks="all")
    if place.lacks is not None:
        await _add(link, place, -bytes)
    return place


async def give_place_back(link: Topology, place: Place) -> None:
    """It was not needed. Where the store is away, it is counted anew within a minute."""
    if place.lacks is None:
        with contextlib.suppress(StoreUnavailable):
            await _add(link, place, -place.bytes)


async def tell_freed(link: Topology, freed: Mapping[str, int]) -> None:
    """So many bytes of each principal's are not kept any more. Raises StoreUnavailable."""
    for principal, bytes in freed.items():
        await _add(link, Place(bytes, principal, 0), -bytes)


async def counted_so_far(link: Topology) -> Counted:
    """What the counters say. Raises StoreUnavailable."""
    all_bytes, flat = await asyncio.gather(link.call("GET", PARKED_BYTES), link.call("HGETALL", PARKED_BY))
    return Counted(number(all_bytes or 0), {name: number(bytes) for name, bytes in fields(flat).items()})


async def put_right(link: Topology, before: Counted, found: Counted) -> int:
    """Have the counters say what was `found`, and what was taken since `before`; returns how many bytes in all that is.

    Raises StoreUnavailable.
    """
    now = await counted_so_far(link)
    all_bytes = found.all + max(0, now.all - before.all)
    await link.call("SET", PARKED_BYTES, all_bytes)
    for name in {*before.of, *now.of, *found.of}:
        bytes = found.of.get(name, 0) + max(0, now.of.get(name, 0) - before.of.get(name, 0))
        await (link.call("HSET", PARKED_BY, name, bytes) if bytes else link.call("HDEL", PARKED_BY, name))
    return all_bytes


def without_place(refused: Refused, place: Place) -> Refused:
    """The refusal of a write that had no room, where it is its principal's own that is used up."""
    if place.lacks != "own":
        return refused
    detail = (
        f"Not taken: what principal {place.principal} has waiting, and what of it has failed and is still kept, fills "
        f"the {place.most // _PRINCIPALS} bytes that one principal may have. Retry later with the same key."
    )
    return replace(refused, detail=detail)


async def _add(link: Topology, place: Place, bytes: int) -> tuple[int, int]:
    """How much is kept then, in all and of the principal's own; of nobody's in particular, nothing is counted."""
    everything = link.call("INCRBY", PARKED_BYTES, bytes)
    if place.principal in ("", ANONYMOUS):
        return number(await everything), 0
    own = link.call("HINCRBY", PARKED_BY, place.principal, bytes)
    all_bytes, own_bytes = await asyncio.gather(everything, own)
    return number(all_bytes), number(own_bytes)
