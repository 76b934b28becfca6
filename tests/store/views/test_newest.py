"""Lists over all shards: the newest first, each once, and only as much of a shard as is shown."""

from collections import Counter
from typing import Any, cast

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.store.fence import FenceStore
from gateway.store.links.topology import Topology
from gateway.store.views.newest import Entry, members, newest, newest_page
from gateway.store.views.page import PAGE, BadCursor, Position

SPREAD = {f"{shard:03x}": [Position(1000 - shard, 0, f"{shard:03x}")] for shard in range(300)}
CROWDED = {"3ff": [Position(1000 - number, 0, "3ff") for number in range(500)], "000": [Position(700, 0, "000")]}
AT_ONCE = {f"{shard:03x}": [Position(7, 0, f"{shard:03x}{n:02d}") for n in range(20)] for shard in range(20)}


class _Servers:
    """Of one server, which needs no name."""

    name = ""

    def at(self, key: str) -> "_Servers":
        return self


STORE = cast(Topology, _Servers())


class Shards:
    """Entries of a few shards, the newest first, and how many of each were handed out."""

    def __init__(self, entries: dict[str, list[Position]]) -> None:
        self.entries = {shard: sorted(of, reverse=True) for shard, of in entries.items()}
        self.read_of: Counter[str] = Counter()

    async def read(self, shard: str, after: Position | None, count: int) -> list[Entry]:
        older = [entry for entry in self.entries.get(shard, []) if after is None or entry < after][:count]
        self.read_of[shard] += len(older)
        return [Entry(position) for position in older]


@pytest.mark.parametrize("entries", [SPREAD, CROWDED, AT_ONCE, {}], ids=["spread", "crowded", "at once", "nothing"])
@pytest.mark.parametrize("count", [1, 7, 101])
async def test_the_newest_of_all_shards_come_first(entries: dict[str, list[Position]], count: int) -> None:
    """However they are spread over the shards, and from whatever position the list goes on."""
    wanted = sorted((entry for of in entries.values() for entry in of), reverse=True)

    for after in (None, *wanted[10:11]):
        found = await newest(Shards(entries).read, after, count, {})

        rest = [entry for entry in wanted if after is None or entry < after]
        assert [entry.position for entry in found] == rest[:count]


async def test_of_a_shard_little_more_than_what_is_shown_is_read() -> None:
    """A stream may be long: where a page is spread over many, each gives a few."""
    shards = Shards(
        {f"{shard:03x}": [Position(1000 - n, 0, f"{shard:03x}") for n in range(400)] for shard in range(300)}
    )

    await newest(shards.read, None, PAGE + 1, {})

    assert max(shards.read_of.values()) <= 9


async def test_pages_follow_each_other() -> None:
    """Each entry is there once, to the end."""
    shards = Shards(CROWDED)
    cursor, found = None, []
    while True:
        page = await newest_page(STORE, shards.read, itself, cursor)
        found += page.items
        cursor = page.next
        if cursor is None:
            break

    assert found == sorted((entry for of in CROWDED.values() for entry in of), reverse=True)


async def test_what_has_gone_leaves_room_for_another() -> None:
    """Entries whose record is no longer there are passed over; the page goes on behind them."""
    shards = Shards({"000": [Position(1000 - number, 0, "000") for number in range(350)]})

    async def every_third(entry: Entry) -> Position | None:
        return entry.position if entry.position.ms % 3 == 0 else None

    page = await newest_page(STORE, shards.read, every_third, None)

    assert [position.ms for position in page.items] == [999 - 3 * number for number in range(PAGE)]


async def test_a_list_of_nothing_but_gone_entries_does_not_hold_the_call() -> None:
    """A page may be empty and not the last."""
    shards = Shards({"000": [Position(10_000 - number, 0, "000") for number in range(3000)]})

    async def gone(_: Entry) -> Position | None:
        return None

    page = await newest_page(STORE, shards.read, gone, None)

    assert (page.items, page.next is None) == ((), False)
    assert shards.read_of["000"] < 3000


async def test_a_cursor_of_nobody_is_refused_before_anything_is_read() -> None:
    """It is the caller's mistake."""
    shards = Shards(CROWDED)

    with pytest.raises(BadCursor):
        await newest_page(STORE, shards.read, itself, "x")
    assert not shards.read_of


class Away(Shards):
    """Those of one server do not answer."""

    async def read(self, shard: str, after: Position | None, count: int) -> list[Entry]:
        if shard < "100":
            self.read_of[shard] += 1
            raise StoreUnavailable("no answer within 2 s")
        return await super().read(shard, after, count)


async def test_what_does_not_answer_is_told_beside_what_does() -> None:
    """It holds up nothing else, and is not asked a second time."""
    away = Away(SPREAD)

    page = await newest_page(STORE, away.read, itself, None)

    assert [entry.name for entry in page.items] == [f"{shard:03x}" for shard in range(256, 300)]
    assert page.incomplete == "256 of 1024 shards do not answer: no answer within 2 s"
    assert {away.read_of[f"{shard:03x}"] for shard in range(256)} == {1}


async def test_an_entry_that_cannot_be_looked_at_is_missing_and_told() -> None:
    """Its shard fell silent between the two."""

    async def look(entry: Entry) -> Position:
        if entry.shard == "005":
            raise StoreUnavailable("the connection was lost")
        return entry.position

    page = await newest_page(STORE, Shards(SPREAD).read, look, None)

    assert "005" not in [entry.name for entry in page.items]
    assert page.incomplete == "1 of 1024 shards do not answer: the connection was lost"


async def test_a_store_of_which_nothing_answers_has_no_list() -> None:
    """An empty one would pass for the truth."""

    async def read(shard: str, after: Position | None, count: int) -> list[Entry]:
        raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable, match="away"):
        await newest_page(STORE, read, itself, None)


@pytest.mark.parametrize("count", [1, 2, 50, 200])
async def test_members_of_one_millisecond_are_each_found_once(count: int, store: FenceStore, raw: Any) -> None:
    """A sweep ends many at once: a page may end amid them."""
    raw.zadd("set", {f"m{number:03d}": 5 for number in range(90)} | {"older": 4, "newer": 6})
    found: list[str] = []
    after = None
    while entries := await members(store, "set", after, count):
        found += [entry.position.name for entry in entries]
        after = entries[-1].position

    assert found == ["newer", *(f"m{number:03d}" for number in reversed(range(90))), "older"]


async def itself(entry: Entry) -> Position:
    return entry.position
