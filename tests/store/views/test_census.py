"""What is counted of the whole store, and how old it may be."""

from typing import Any

import pytest

from gateway.core.census import Flown
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import State
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.keys import deadlines, in_state, resource_keys, shard_of, shards
from gateway.store.views.census import Counting
from tests.intending import RULE, SEVEN, begun, ended, intended
from tests.store.parked import mail, parked


class Time:
    """Seconds, as the test says."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_each_state_is_counted_over_all_shards(store: FenceStore) -> None:
    """Writes in flight without a key too; what nobody has seen is none."""
    await ended(store, intended("k-1"), "unknown")
    await ended(store, intended("k-2", ResourceKey("report/8")), "applied")
    await begun(store, intended(None, ResourceKey("report/9")))

    census = await Counting(store, Time()).census()

    counts: dict[State, int] = {"unknown": 1, "applied": 1, "in_flight": 1}
    assert {state: count for state, count in census.intents.items() if count} == counts
    assert len(census.intents) == 12
    assert census.regressed is False


async def test_who_writes_is_told_by_resource_and_epoch(store: FenceStore) -> None:
    """From the tickets themselves: an entry whose ticket a failover lost is nobody's."""
    await begun(store, intended("k-1"))
    await store.link.call("ZADD", deadlines(shard_of(SEVEN)), 1, f"{shard_of(SEVEN)}lost {SEVEN}")

    census = await Counting(store, Time()).census()

    assert census.in_flight == (Flown(RULE.upstream.name, RULE.name, SEVEN, intended("k-1").epoch),)


async def test_what_no_gateway_wrote_is_passed_over(store: FenceStore, raw: Any) -> None:
    """It is counted, and no scrape fails of it."""
    await begun(store, intended("k-1"))
    shard = shard_of(SEVEN)
    for entry in (b"", b"no resource", b"\xff \xfe"):
        raw.zadd(deadlines(shard), {entry: 1})
    raw.hset(resource_keys(SEVEN)[1], "damaged", b"{no ticket")
    raw.zadd(deadlines(shard), {f"damaged {SEVEN}": 1})
    raw.zadd(in_state(shard, "queued"), {"\u2026 no id": 1})

    census = await Counting(store, Time()).census()

    assert census.intents["in_flight"] == 5
    assert [flown.resource for flown in census.in_flight] == [SEVEN]


async def test_ages_are_since_the_state_began(store: FenceStore, raw: Any) -> None:
    """Of the oldest of all shards; nothing there is 0 seconds old."""
    admitted = await ended(store, intended("k-1"), "unknown")
    entry = in_state(shard_of(SEVEN), "unknown")
    raw.zincrby(entry, -90_000, admitted.intent)

    oldest = (await Counting(store, Time()).census()).oldest_s

    assert 90 <= oldest["unknown"] < 200
    assert (oldest["awaiting_approval"], oldest["queued"]) == (0, 0)


async def test_a_delivery_that_fails_again_and_again_grows_old(store: FenceStore, raw: Any) -> None:
    """Each failure begins its state anew; what counts is since when it has been queued."""
    record = await parked(store, mail("one"))
    raw.zincrby(in_state(shard_of(record.resource), "queued"), 60_000, record.id)

    oldest = (await Counting(store, Time()).census()).oldest_s

    assert 0 <= oldest["queued"] < 60


async def test_a_census_is_taken_every_two_seconds_at_most(store: FenceStore) -> None:
    """A console that looks each second costs no more than a scraper."""
    time = Time()
    counting = Counting(store, time)
    before = await counting.census()
    await ended(store, intended("k-1"), "unknown")

    time.now = 1.9
    assert await counting.census() is before
    time.now = 2.0
    assert (await counting.census()).intents["unknown"] == 1


async def test_what_has_ended_is_counted_once_a_minute(store: FenceStore) -> None:
    """Nobody has to act on it."""
    time = Time()
    counting = Counting(store, time)
    await counting.census()
    await ended(store, intended("k-1"), "applied")

    time.now = 59.0
    assert (await counting.census()).intents["applied"] == 0
    time.now = 61.0
    assert (await counting.census()).intents["applied"] == 1


async def test_a_quiet_store_costs_one_command_a_shard(store: FenceStore, raw: Any) -> None:
    """And for each that is busy one script."""
    time = Time()
    counting = Counting(store, time)
    await counting.census()
    await begun(store, intended(None))
    raw.config_resetstat()

    time.now = 10.0
    await counting.census()

    stats = raw.info("commandstats")
    assert stats["cmdstat_exists"]["calls"] == len(shards())
    assert scripts(raw) <= 2


async def test_a_store_that_is_away_has_no_numbers(store: FenceStore) -> None:
    """Not those from before: they would hide that nobody knows."""
    time = Time()
    counting = Counting(store, time)
    await counting.census()
    await store.link.close()

    time.now = 3.0
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await counting.census()


def scripts(raw: Any) -> int:
    """How many scripts the server has run."""
    stats = raw.info("commandstats")
    return sum(int(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"]) for name in ("eval", "evalsha"))
