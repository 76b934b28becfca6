"""Asking about an unknown intent: one gateway takes the turn, and turns come at growing distances."""

from typing import Any

import pytest

from gateway.core.outcome import Outcome
from gateway.store.fence import FenceStore
from gateway.store.intents import question
from gateway.store.keys import questions, shard_of
from tests.store.fences import (
    HELD,
    INTENT,
    RESOURCE,
    admitted,
    bare,
    ended,
    everything,
    keyed,
    opened,
    resolved,
    settled,
    unknown_is,
)
from tests.store.lost import lose

WRITE = keyed(bare(42, of=unknown_is("query")))
LIST = questions(shard_of(RESOURCE))
_LONG_AGO_MS = 1000


async def turn(store: FenceStore, raw: Any) -> float:
    """Takes the turn that has come; returns how many seconds later the next one is."""
    raw.zadd(LIST, {INTENT: _LONG_AGO_MS}, xx=True)
    asked = await question(store, INTENT)
    assert asked is not None
    return (raw.zscore(LIST, INTENT) - asked.now_ms) / 1000


@pytest.mark.parametrize(("ago_ms", "since_ms"), [(0, 30_000), (20_000, 10_000), (40_000, 0)])
async def test_what_a_loss_may_have_forgotten_is_in_flight_for_as_long_as_a_write_lasts(
    store: FenceStore, raw: Any, ago_ms: int, since_ms: int
) -> None:
    """G4: the record may be what a backup knew, and the intent tried again since: a no is counted from then on."""
    await ended(store, WRITE, "unknown")
    raw.zadd(LIST, {INTENT: _LONG_AGO_MS}, xx=True)
    store.writes_last(lambda: 30.0)
    floor = store.expected_ms() - ago_ms
    lose(raw, floor)

    asked = await question(store, INTENT)

    assert asked is not None
    assert asked.since_ms == (floor + 30_000 if since_ms else asked.record.updated_at_ms)


async def test_of_two_gateways_one_asks(store: FenceStore, store_url: str, raw: Any) -> None:
    """The other one is too early, and finds nothing changed."""
    await ended(store, WRITE, "unknown")
    raw.zadd(LIST, {INTENT: _LONG_AGO_MS}, xx=True)
    asked = await question(store, INTENT)
    assert asked is not None
    assert (asked.record.id, asked.record.state, asked.record.key) == (INTENT, "unknown", "mail-7")
    before = everything(raw)

    async with opened(store_url) as another:
        assert await question(another, INTENT) is None
    assert everything(raw) == before


async def test_the_distances_grow_to_five_minutes(store: FenceStore, raw: Any) -> None:
    """Twice as long each time, from what the rule says on; hours later it is still asked about."""
    await ended(store, WRITE, "unknown")

    assert [await turn(store, raw) for _ in range(5)] == [120, 240, 300, 300, 300]
    for _ in range(60):
        await turn(store, raw)
    assert await turn(store, raw) == 300


async def test_a_further_attempt_begins_anew(store: FenceStore, raw: Any) -> None:
    """Resolved as not applied, sent again and unknown again: the first question comes soon."""
    await ended(store, WRITE, "unknown")
    for _ in range(5):
        await turn(store, raw)
    await resolved(store, "not_applied")
    before_ms = store.expected_ms()
    await ended(store, WRITE, "unknown")

    assert 60 <= (raw.zscore(LIST, INTENT) - before_ms) / 1000 < 120
    assert await turn(store, raw) == 120


async def test_it_is_not_asked_before_its_time(store: FenceStore, raw: Any) -> None:
    """The first time is the rule's."""
    await ended(store, WRITE, "unknown")
    before = everything(raw)

    assert await question(store, INTENT) is None
    assert everything(raw) == before


@pytest.mark.parametrize("outcome", ["applied", "not_applied", None])
async def test_what_is_not_unknown_leaves_the_list(store: FenceStore, raw: Any, outcome: Outcome | None) -> None:
    """In flight again, ended, or no longer kept."""
    one = await admitted(store, WRITE)
    if outcome is not None:
        await settled(store, one, outcome)
    raw.zadd(LIST, {INTENT: _LONG_AGO_MS})

    assert await question(store, INTENT) is None
    assert raw.zcard(LIST) == 0


async def test_what_is_no_longer_kept_leaves_the_list(store: FenceStore, raw: Any) -> None:
    """A list without its records is nobody's to ask about."""
    raw.zadd(LIST, {INTENT: _LONG_AGO_MS})

    assert await question(store, INTENT) is None
    assert everything(raw) == {}


async def test_what_is_held_is_not_asked_about(store: FenceStore, raw: Any) -> None:
    """Its rule says `hold`: no turn ever comes, and none is taken."""
    await ended(store, keyed(bare(42, of=HELD)), "unknown")
    before = everything(raw)

    assert await question(store, INTENT) is None
    assert everything(raw) == before


async def test_asking_gives_the_intent_no_time_to_live(store: FenceStore, raw: Any) -> None:
    """An unknown one never expires."""
    await ended(store, WRITE, "unknown")
    await turn(store, raw)

    assert raw.pttl(f"fg:{{{shard_of(RESOURCE)}}}:i:{INTENT}") == -1
