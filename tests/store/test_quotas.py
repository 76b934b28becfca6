"""Quotas in the store: what is used is used for every gateway, and what a repeat asks for is taken once."""

from typing import Any

import pytest

from gateway.core.decision import QUOTA_EXCEEDED, Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.quota import Quota, Spending
from gateway.store.fence import FenceStore
from gateway.store.keys import used
from gateway.store.quotas import SPEND, QuotaUse
from tests.store.fences import RESOURCE, ask, bare, opened

WRITE = Spending(write=True)
MINUTE_MS = 60_000


def lease(name: bytes, ms: int = MINUTE_MS) -> Spending:
    return Spending(lease=name, lease_ms=ms)


def is_exceeded(reply: Refused | None) -> bool:
    assert reply is None or reply.decision is QUOTA_EXCEEDED
    return reply is not None


async def test_a_write_counts_for_a_minute(store: FenceStore, raw: Any) -> None:
    """Refused is what would be one too many within any sixty seconds; when the oldest ends, there is room for one."""
    quota, use = Quota("ada", writes_per_minute=2), QuotaUse(store)
    told = [is_exceeded(await use.spend(quota, WRITE)) for _ in range(3)]
    key = used("ada", "writes")
    first, second = raw.zrange(key, 0, -1)
    raw.zincrby(key, -40_000, first)
    refused = await use.spend(quota, WRITE)
    raw.zincrby(key, -20_000, first)

    assert told == [False, False, True]
    assert refused is not None and refused.facts.retry_after_s is not None
    assert 15 <= refused.facts.retry_after_s <= 20
    assert not is_exceeded(await use.spend(quota, WRITE))
    assert is_exceeded(await use.spend(quota, WRITE))
    assert raw.zscore(key, first) is None and raw.zscore(key, second) is not None


async def test_a_quota_is_one_for_all_gateways(store: FenceStore, store_url: str) -> None:
    """And each principal's its own."""
    async with opened(store_url) as other:
        uses = QuotaUse(store), QuotaUse(other)
        told = [is_exceeded(await use.spend(Quota("ada", writes_per_minute=3), WRITE)) for use in uses * 2]

        assert told == [False, False, False, True]
        assert not is_exceeded(await uses[0].spend(Quota("bob", writes_per_minute=3), WRITE))


async def test_a_repeat_takes_nothing_more(store: FenceStore, raw: Any) -> None:
    """The reply was lost and the call comes again, also where nothing is left."""
    key = used("ada", "writes")
    answers = [await store.run(SPEND, [key], "1", "w1", "60000", "60000") for _ in range(3)]

    assert [answer.word for answer in answers] == ["spent"] * 3
    assert raw.zcard(key) == 1


async def test_all_is_taken_or_nothing(store: FenceStore, raw: Any) -> None:
    """What is too much of one kind takes nothing of another."""
    quota, use = Quota("ada", leases=5, resources=1), QuotaUse(store)
    await use.spend(quota, Spending(resource="report/1"))

    refused = await use.spend(quota, Spending(resource="report/2", lease=b"l", lease_ms=MINUTE_MS))

    assert is_exceeded(refused)
    assert raw.keys(used("ada", "leases")) == []


async def test_a_resource_that_is_known_is_not_new(store: FenceStore, store_url: str, raw: Any) -> None:
    """Whichever gateway saw it first; the same new one counts once."""
    quota, use = Quota("ada", resources=1), QuotaUse(store)
    async with opened(store_url) as other:
        await ask(other, bare(5))
    told = [
        is_exceeded(await use.spend(quota, Spending(resource=name)))
        for name in (RESOURCE, "report/1", "report/1", "report/2")
    ]

    assert told == [False, False, False, True]


async def test_a_lease_counts_until_it_ends(store: FenceStore, raw: Any) -> None:
    """By its term, by its release, or later where it was renewed."""
    quota, use = Quota("ada", leases=1), QuotaUse(store)
    key = used("ada", "leases")
    await use.spend(quota, lease(b"one"))
    await use.hold(quota, b"one", raw.time()[0] * 1000 + 3 * MINUTE_MS, instead=None)
    refused = await use.spend(quota, lease(b"two"))
    left_ms = raw.pttl(key)
    await use.free(quota, b"one")
    await use.spend(quota, lease(b"three"))
    raw.zincrby(key, -MINUTE_MS, b"three")

    assert refused is not None and refused.facts.retry_after_s is not None
    assert refused.facts.retry_after_s > 170
    assert 170_000 < left_ms <= 3 * MINUTE_MS
    assert not is_exceeded(await use.spend(quota, lease(b"four")))


async def test_a_granted_lease_takes_the_place_that_was_kept_for_it(store: FenceStore, raw: Any) -> None:
    """It never counts twice."""
    quota, use = Quota("ada", leases=2), QuotaUse(store)
    await use.spend(quota, lease(b"place"))

    await use.hold(quota, b"one", raw.time()[0] * 1000 + MINUTE_MS, instead=b"place")

    assert (await use.holds(quota, b"one"), await use.holds(quota, b"place")) == (True, False)
    assert not is_exceeded(await use.spend(quota, lease(b"two")))
    assert is_exceeded(await use.spend(quota, lease(b"three")))


async def test_what_was_used_is_forgotten_when_it_no_longer_counts(store: FenceStore, raw: Any) -> None:
    """A principal that is gone leaves nothing behind."""
    await QuotaUse(store).spend(Quota("ada", 1, 1, 1), Spending(True, "report/1", b"l", 5 * MINUTE_MS))

    lives_ms = {key.decode().rpartition(":")[2]: raw.pttl(key) for key in raw.keys("fg:{@ada}:*")}
    assert lives_ms.keys() == {"writes", "leases", "resources"}
    assert 0 < lives_ms["writes"] <= MINUTE_MS < lives_ms["leases"] <= 5 * MINUTE_MS < lives_ms["resources"]


async def test_without_a_limit_the_store_is_not_asked(store_url: str) -> None:
    """A quota of leases costs no write anything."""
    calls: list[str] = []
    async with opened(store_url) as store:
        store.on_call = lambda name, seconds: calls.append(name)
        assert await QuotaUse(store).spend(Quota("ada", leases=1), Spending(write=True, resource="report/1")) is None

        assert calls == []


async def test_a_key_of_the_wrong_type_is_an_error(store: FenceStore, raw: Any) -> None:
    """Nothing of the other kind is taken then."""
    raw.set(used("ada", "resources"), "x")

    with pytest.raises(StoreUnavailable):
        await QuotaUse(store).spend(Quota("ada", leases=1, resources=1), Spending(resource="r/1", lease=b"l"))
    assert raw.keys(used("ada", "leases")) == []
