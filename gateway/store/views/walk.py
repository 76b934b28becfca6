"""A way through all fence records, server by server, some at a time: no key lists them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gateway.core.epoch import parse_u64
from gateway.core.faults import StoreUnavailable
from gateway.core.write import ResourceKey
from gateway.store.answer import text
from gateway.store.keys import fence_pattern, origin, resource_of, shards
from gateway.store.links.link import Link
from gateway.store.links.topology import Topology
from gateway.store.views.page import BadCursor
from gateway.store.views.silence import Silent

# Keys of one step, and steps of one call: the store is asked for others meanwhile, and nobody waits for longer.
_STEP = 1000
_STEPS = 100


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was come by, in no order, and where the way goes on; None at its end. `silent`: what was passed over."""

    resources: tuple[ResourceKey, ...]
    next: str | None
    silent: Mapping[str, StoreUnavailable]


async def walk(store: Topology, prefix: str, cursor: str | None, enough: int) -> Stretch:
    """Resources whose names begin with `prefix`: about `enough`, or none of a stretch that has no such. A server that
    does not answer is passed over. Raises BadCursor.
    """
    servers = store.servers
    found: dict[ResourceKey, None] = {}
    silent: Silent = {}
    place: _Place | None = _read_place(cursor, len(servers))
    for _ in range(_STEPS):
        if place is None or len(found) >= enough:
            break
        server = servers[place.server]
        try:
            at, keys = await _step(server, place.at, prefix)
        except StoreUnavailable as away:
            at = "0"
            silent.update((shard, away) for shard in shards() if store.at(origin(shard)) is server)
        else:
            found.update(dict.fromkeys(keys))
        place = place.next(at, len(servers))
    return Stretch(tuple(found), place and place.cursor, silent)


async def _step(server: Link, at: str, prefix: str) -> tuple[str, list[ResourceKey]]:
    reply = await server.call("SCAN", at, "MATCH", fence_pattern(prefix), "COUNT", _STEP)
    assert isinstance(reply, list)
    following, keys = reply
    assert isinstance(keys, list)
    return text(following), [resource_of(text(key)) for key in keys]


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
