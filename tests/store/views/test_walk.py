"""A way through all fence records that a server at a time may be missing from."""

from typing import Any, cast

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys, shards
from gateway.store.links.topology import Topology
from gateway.store.views.page import BadCursor
from gateway.store.views.walk import Stretch, walk

NAMES = [f"report/{number}" for number in range(7)]


class _Server:
    """Some names, two a step; none where it is away."""

    def __init__(self, names: list[str], *, away: bool = False) -> None:
        self._keys = [resource_keys(ResourceKey(name))[0].encode() for name in names]
        self._away = away

    async def call(self, *words: Any) -> Any:
        if self._away:
            raise StoreUnavailable("away")
        at = int(words[1])
        following = at + 2 if at + 2 < len(self._keys) else 0
        return [str(following).encode(), self._keys[at : at + 2]]


class _Servers:
    """Shards are at the first one."""

    def __init__(self, *servers: _Server) -> None:
        self.servers = servers

    def at(self, key: str) -> _Server:
        return self.servers[0]


async def through(servers: _Servers, enough: int) -> tuple[list[str], list[Stretch]]:
    stretches: list[Stretch] = []
    cursor = None
    while not stretches or cursor is not None:
        stretches.append(await walk(cast(Topology, servers), "", cursor, enough))
        cursor = stretches[-1].next
    return [name for stretch in stretches for name in stretch.resources], stretches


@pytest.mark.parametrize(("enough", "stretches"), [(1, 4), (3, 2), (100, 1)])
async def test_each_record_is_come_by_once(enough: int, stretches: int) -> None:
    """Server by server; a stretch ends when it has enough."""
    servers = _Servers(_Server(NAMES[:4]), _Server(NAMES[4:]))

    found, made = await through(servers, enough)

    assert (found, len(made)) == (NAMES, stretches)
    assert all(not stretch.silent for stretch in made)


async def test_a_server_that_is_away_is_passed_over_and_named() -> None:
    """By its shards; the way goes on behind it."""
    found, made = await through(_Servers(_Server(NAMES[:4], away=True), _Server(NAMES[4:])), 100)

    assert found == NAMES[4:]
    assert list(made[0].silent) == shards()


@pytest.mark.parametrize("cursor", ["x", "2.0", "-1", "0.x", "1.1.1"])
async def test_a_cursor_of_nobody_is_refused(cursor: str) -> None:
    """Before anything is asked."""
    servers = _Servers(_Server(NAMES, away=True), _Server(NAMES, away=True))

    with pytest.raises(BadCursor):
        await walk(cast(Topology, servers), "", cursor, 1)
