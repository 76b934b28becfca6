"""A store's clock that was set back: nothing lives, counts or is anybody's for as much longer."""

from typing import Any

import pytest

from gateway.core.quota import Quota, Spending
from gateway.store.fence import FenceStore
from gateway.store.keys import SWEEPER, resource_keys, used
from gateway.store.quotas import QuotaUse
from gateway.store.sweep import Due, take_turn
from tests.store.fences import (
    LEASE_MS,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    admitted,
    ask,
    bare,
    ended,
    granted,
    leased,
    name_of,
)

HOUR_MS = 3_600_000
# A step that is shorter than the lease is old.
STEP_MS = 20_000


def knows(store: FenceStore, how: str, by_ms: int = HOUR_MS) -> None:
    """How much this gateway knows of it: it saw it, it has not asked since, or it was started after it."""
    clock = store._clock
    assert clock._offset_s is not None and clock._last_s is not None
    if how == "saw it":
        clock._former = 0.0, clock._last_s + by_ms / 1000
        clock._since_s = clock.read() + clock._last_s - 2
    elif how == "has not asked since":
        clock._offset_s += by_ms / 1000
        clock._furthest_s += by_ms / 1000
        clock._last_s += by_ms / 1000
        clock._largest_s += by_ms / 1000


def set_back(raw: Any, left_ms: int, by_ms: int = HOUR_MS) -> None:
    """Since the grant; so much of the lease is left."""
    seconds, micros = raw.time()
    raw.hset(resource_keys(RESOURCE)[0], "x", seconds * 1000 + micros // 1000 + by_ms + left_ms)


def left_ms(raw: Any) -> int:
    seconds, micros = raw.time()
    return int(raw.hget(resource_keys(RESOURCE)[0], "x")) - seconds * 1000 - micros // 1000


@pytest.mark.parametrize("how", ["saw it", "has not asked since"])
@pytest.mark.parametrize("call", ["write", "renew", "extend"])
async def test_a_lease_ends_when_its_time_is_over(store: FenceStore, raw: Any, how: str, call: str) -> None:
    """Whose gateway was there knows by how much the clock was set back."""
    lease = await granted(store)
    session = await admitted(store, leased(lease.epoch))
    set_back(raw, -5_000)
    knows(store, how)

    match call:
        case "write":
            assert name_of(await ask(store, leased(lease.epoch))) == "lease-expired"
        case "renew":
            assert name_of(await store.renew(RESOURCE, lease.epoch, SECRET)) == "lease-lost"
        case "extend":
            assert name_of(await store.extend(session, ttl_s=5.0)) == "lease-expired"
    assert (await granted(store, "B", OTHER_SECRET)).holder == "B"


@pytest.mark.parametrize("how", ["saw it", "has not asked since", "was started after it"])
async def test_a_lease_lives_as_long_as_it_would_have(store: FenceStore, raw: Any, how: str) -> None:
    """Whoever was started after it lets it live for its term from when it first meets it, at most."""
    lease = await granted(store)
    set_back(raw, 5_000)
    knows(store, how)

    assert name_of(await ask(store, leased(lease.epoch))) == "Admitted"
    assert left_ms(raw) <= (LEASE_MS if how == "was started after it" else 5_010)
    held = await store.grant(RESOURCE, "B", OTHER_SECRET, ttl_ms=LEASE_MS, takeover=False, watch=False)
    assert name_of(held) == "lease-held"


@pytest.mark.parametrize("call", ["write", "renew", "extend", "look"])
async def test_a_step_of_less_than_its_age_makes_no_lease_longer(store: FenceStore, raw: Any, call: str) -> None:
    """It was granted at an instant at which the clock was not since the step."""
    lease = await granted(store)
    session = await admitted(store, leased(lease.epoch))
    set_back(raw, -1_000, STEP_MS)
    knows(store, "saw it", STEP_MS)

    match call:
        case "write":
            assert name_of(await ask(store, leased(lease.epoch))) == "lease-expired"
        case "renew":
            assert name_of(await store.renew(RESOURCE, lease.epoch, SECRET)) == "lease-lost"
        case "extend":
            assert name_of(await store.extend(session, ttl_s=5.0)) == "lease-expired"
        case "look":
            assert await store.lookup(RESOURCE) is None
    assert (await granted(store, "B", OTHER_SECRET)).holder == "B"


async def test_its_end_is_put_right_once(store: FenceStore, raw: Any) -> None:
    """However often somebody meets it; and a renewal gives it its whole term."""
    lease = await granted(store)
    set_back(raw, 15_000, STEP_MS)
    knows(store, "saw it", STEP_MS)

    for _ in range(3):
        await ended(store, leased(lease.epoch), "applied")
    assert 10_000 < left_ms(raw) <= 15_000
    for _ in range(3):
        assert name_of(await store.renew(RESOURCE, lease.epoch, SECRET)) == "Lease"
    assert left_ms(raw) > LEASE_MS - 5_000


async def test_a_lease_from_between_two_steps_is_cut_by_the_second_alone(store: FenceStore, raw: Any) -> None:
    """Also where its gateway hears of that one only now."""
    knows(store, "saw it")
    lease = await granted(store)
    set_back(raw, LEASE_MS - 1_000, STEP_MS)
    knows(store, "has not asked since", STEP_MS)

    assert name_of(await ask(store, leased(lease.epoch))) == "Admitted"
    assert LEASE_MS - 5_000 < left_ms(raw) < LEASE_MS


async def test_a_lease_from_after_the_step_has_its_whole_term(store: FenceStore, raw: Any) -> None:
    """Whoever granted it, by a clock that this gateway saw set back a moment before."""
    knows(store, "saw it", STEP_MS)
    lease = await granted(store)

    assert name_of(await ask(store, leased(lease.epoch))) == "Admitted"
    assert left_ms(raw) > LEASE_MS - 5_000


async def test_who_only_looks_is_told_no_later_end(store: FenceStore, raw: Any) -> None:
    """And changes nothing."""
    await granted(store)
    set_back(raw, 5_000)

    lease = await store.lookup(RESOURCE)

    assert lease is not None and lease.expires_at_ms <= store.expected_ms() + LEASE_MS + 1000
    assert left_ms(raw) > LEASE_MS


async def test_a_clock_that_is_slewed_ends_no_lease(store: FenceStore, raw: Any) -> None:
    """By less than a second, also where it was set back by an hour before."""
    lease = await granted(store)
    raw.hincrby(resource_keys(RESOURCE)[0], "x", 900)
    knows(store, "saw it")

    assert name_of(await ask(store, leased(lease.epoch))) == "Admitted"
    assert left_ms(raw) > LEASE_MS - 1000


async def test_a_turn_to_sweep_is_over_in_a_second(store: FenceStore, raw: Any) -> None:
    """It was taken by the time of before, and would be somebody's for an hour."""
    raw.set(SWEEPER, f"another {store.expected_ms() + HOUR_MS}", px=HOUR_MS)

    assert await take_turn(store) == Due((), ())
    assert 0 < raw.pttl(SWEEPER) < 1000


async def test_a_write_counts_for_a_minute(store: FenceStore, raw: Any) -> None:
    """From now on, where it was made by the time of before."""
    quota, use, key = Quota("ada", writes_per_minute=1), QuotaUse(store), used("ada", "writes")
    assert await use.spend(quota, Spending(write=True)) is None
    (entry,) = raw.zrange(key, 0, -1)
    raw.zincrby(key, HOUR_MS, entry)
    raw.persist(key)

    refused = await use.spend(quota, Spending(write=True))

    assert refused is not None and refused.facts.retry_after_s is not None and refused.facts.retry_after_s <= 60
    assert raw.zscore(key, entry) <= store.expected_ms() + 61_000


async def test_who_waited_by_the_time_of_before_has_lost_its_place(store: FenceStore, raw: Any) -> None:
    """It died meanwhile; a write that comes now is not behind it."""
    now_ms = store.expected_ms()
    await ended(store, bare(42), "applied")
    raw.hset(resource_keys(RESOURCE)[3], "another", f"{now_ms * 1000}:{now_ms + HOUR_MS}")

    assert name_of(await ask(store, bare(42))) == "Admitted"
