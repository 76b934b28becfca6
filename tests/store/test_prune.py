"""Pruning: the trail's events go by age and number, lists lose what their records no longer stand for."""

from typing import Any

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, in_state
from gateway.store.prune import Retention, prune, shared_length

WEEK = Retention(604_800.0, 500_000)
# A record's beginning: its version and its state, and as many fields as it has at least.
_RECORD = """
local fields = {1, ARGV[1], '', 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
redis.call('SET', KEYS[1], cmsgpack.pack(fields))
"""
# The store cuts a trail by whole nodes of this many events.
NODE = 100


def put_events(raw: Any, shard: str, count: int, *, ms: int) -> None:
    """Events of that instant."""
    pipe = raw.pipeline()
    for number in range(count):
        pipe.xadd(audit_trail(shard), {"number": number}, id=f"{ms}-{number}")
    pipe.execute()


def put_ended(raw: Any, shard: str, state: str, *, kept: int, gone: int) -> None:
    """List entries, of which some have no record any more."""
    ids = [f"{shard}{state}{number}" for number in range(kept + gone)]
    raw.zadd(in_state(shard, state), dict.fromkeys(ids, 1))
    for id in ids[:kept]:
        raw.eval(_RECORD, 1, f"fg:{{{shard}}}:i:{id}", state)


@pytest.mark.parametrize(
    ("lengths", "total", "length"),
    [
        pytest.param([], 100, 100, id="no trail at all"),
        pytest.param([10, 20, 30], 100, 100, id="all have room"),
        pytest.param([50, 50], 100, 100, id="all have just room"),
        pytest.param([0, 0, 1000], 300, 300, id="the only busy one has it all"),
        pytest.param([10, 500, 500], 300, 145, id="busy ones share what is left over"),
        pytest.param([500, 10, 40], 300, 250, id="in whatever order"),
        pytest.param([90, 90, 90], 30, 10, id="all have too much"),
    ],
)
def test_trails_share_what_may_be_kept(lengths: list[int], total: int, length: int) -> None:
    """None is cut below its equal share, and together they never keep more than the total."""
    assert shared_length(lengths, total) == length


async def test_events_go_when_they_are_too_old(store: FenceStore, raw: Any) -> None:
    """The younger ones of the same trail stay."""
    now_ms = store.expected_ms()
    put_events(raw, "1a2", 3 * NODE, ms=now_ms - 700_000_000)
    put_events(raw, "1a2", NODE, ms=now_ms - 500_000_000)

    await prune(store, WEEK)

    assert raw.xlen(audit_trail("1a2")) == NODE


async def test_the_oldest_events_go_when_there_are_too_many(store: FenceStore, raw: Any) -> None:
    """A shard in which much happens may keep what the others leave over."""
    now_ms = store.expected_ms()
    put_events(raw, "1a2", 10 * NODE, ms=now_ms)
    put_events(raw, "3ff", 2 * NODE, ms=now_ms)

    await prune(store, Retention(604_800.0, 8 * NODE))

    assert (raw.xlen(audit_trail("1a2")), raw.xlen(audit_trail("3ff"))) == (6 * NODE, 2 * NODE)
    (last,) = raw.xrevrange(audit_trail("1a2"), count=1)
    assert last[1] == {b"number": b"999"}


async def test_an_entry_leaves_the_list_of_a_state_that_its_intent_is_not_in(store: FenceStore, raw: Any) -> None:
    """The first intent's time was over, and its key has another one by now."""
    put_ended(raw, "1a2", "applied", kept=1, gone=0)
    raw.zadd(in_state("1a2", "not_applied"), {"1a2applied0": 1})

    await prune(store, WEEK)

    assert (raw.zcard(in_state("1a2", "applied")), raw.zcard(in_state("1a2", "not_applied"))) == (1, 0)


@pytest.mark.parametrize("state", ["applied", "not_applied"])
async def test_entries_leave_a_list_when_their_records_time_is_over(store: FenceStore, raw: Any, state: str) -> None:
    """However many there are: less than a third of what stays in the list may be left over."""
    put_ended(raw, "1a2", state, kept=50, gone=5000)
    put_ended(raw, "3ff", state, kept=20, gone=20)

    await prune(store, WEEK)

    assert 50 <= raw.zcard(in_state("1a2", state)) < 150
    assert raw.zcard(in_state("3ff", state)) == 20


async def test_what_is_unknown_is_never_pruned(store: FenceStore, raw: Any) -> None:
    """It waits for whoever resolves it."""
    put_ended(raw, "1a2", "unknown", kept=5, gone=0)

    await prune(store, Retention(60.0, 10_000))

    assert raw.zcard(in_state("1a2", "unknown")) == 5


async def test_one_bad_shard_keeps_no_other_from_it(store: FenceStore, raw: Any) -> None:
    """A trail of another type: the shards after it are pruned, and it is told."""
    raw.set(audit_trail("000"), "no trail")
    put_ended(raw, "3ff", "applied", kept=0, gone=5)

    with pytest.raises(StoreUnavailable, match="WRONGTYPE"):
        await prune(store, WEEK)

    assert raw.zcard(in_state("3ff", "applied")) == 0


async def test_a_store_that_is_away_is_not_asked_for_each_shard(
    store: FenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand calls that each wait for their time would last half an hour."""
    asked = 0

    async def away(*_: object) -> None:
        nonlocal asked
        asked += 1
        raise StoreUnavailable("no answer")

    monkeypatch.setattr(store, "run", away)
    monkeypatch.setattr(type(store), "healthy", property(lambda _: asked == 0))

    with pytest.raises(StoreUnavailable):
        await prune(store, WEEK)
    assert asked == 1
