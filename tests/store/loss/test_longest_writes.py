"""How long writes last, known to all processes of a store: what it forgets may be another one's, by other rules."""

from typing import Any

import pytest

from gateway.core.lease import Lease
from gateway.store.fence import FenceStore
from gateway.store.keys import marks, resource_keys, shards, store_record
from gateway.store.loss.incarnation import REGRESS_SHARD
from tests.store.fences import RESOURCE, SECRET, admitted, ask, bare, granted, leased, name_of
from tests.store.losing import Remembering, remembering
from tests.store.lost import LOST, lose
from tests.until import until

LASTING = "fg:{000}:lasting"
# Of the resource's shard: for how long what is forgotten may be in flight.
LASTS = f"{resource_keys(RESOURCE)[6]}lasts"
# The life of tests.store.fences' tickets, by the rules of most.
SHORT_S, LONG_S = 3.0, 45.0


def lasting(one: Remembering, seconds: float) -> None:
    one.store.writes_last(lambda: seconds)


def lasts_ms(raw: Any, key: str) -> int:
    return int((raw.get(key) or b"0").partition(b" ")[0])


async def test_each_process_hears_how_long_the_writes_of_others_last(store_url: str, raw: Any) -> None:
    """With its next mark, also where its own rules were other ones all the time."""
    async with remembering(store_url) as one, remembering(store_url) as two:
        lasting(one, LONG_S)
        lasting(two, SHORT_S)
        await one.mark()
        await two.mark()

        assert two.store.lasting() == LONG_S
        assert raw.zrange(LASTING, 0, -1) == [b"3000", b"45000"]


async def test_what_the_store_forgot_is_told_to_it_again(store_url: str, raw: Any) -> None:
    """Also of a process that has ended, by whoever has heard it."""
    async with remembering(store_url) as two:
        async with remembering(store_url) as one:
            lasting(one, LONG_S)
            await one.mark()
        await two.mark()
        raw.delete(LASTING)
        await two.mark()

        async with remembering(store_url) as newcomer:
            assert newcomer.store.lasting() == LONG_S


async def test_a_clock_that_was_set_back_makes_nothing_last_for_ever(store_url: str, raw: Any) -> None:
    """What it left is as if it were told now."""
    async with remembering(store_url) as one:
        now_ms = one.store.expected_ms()
        raw.zadd(LASTING, {"45000": now_ms + 3_600_000})
        await one.mark()

        assert one.store.lasting() == LONG_S
        assert raw.zscore(LASTING, "45000") <= one.store.expected_ms() + 47_000


async def test_what_is_over_is_known_no_more(store_url: str, raw: Any) -> None:
    async with remembering(store_url) as one:
        raw.zadd(LASTING, {"45000": one.store.expected_ms() - 1})
        await one.mark()

        assert one.store.lasting() == 0.0
        assert raw.zrange(LASTING, 0, -1) == []


async def test_a_newcomer_waits_for_the_longest_write_of_anybody(store_url: str, raw: Any) -> None:
    """G3: whoever hears of a loss tells every shard how long its writes last, before others could hear it otherwise."""
    async with remembering(store_url) as one, remembering(store_url) as two:
        await one.mark_no_more()
        await two.mark_no_more()
        await admitted(one.store, bare(42), ttl_s=LONG_S)
        raw.flushall()
        # The shorter one finds it, and the longer one hears of it.
        await two.mark()
        await until(lambda: bool(two.told))
        lease = await granted(two.store)
        await one.mark()
        await until(lambda: lasts_ms(raw, LASTS) == 45_000)

        raw.delete(LASTING)
        assert two.store.lasting() < LONG_S
        assert name_of(await ask(two.store, leased(lease.epoch), ttl_s=SHORT_S)) == "Waiting"
        assert {lasts_ms(raw, f"fg:{{{shard}}}:lasts") for shard in shards()} == {45_000}


@pytest.mark.parametrize(("ms", "told"), [(45_000, "Waiting"), (9_000, "Admitted")])
async def test_what_the_shard_was_told_counts_as_what_the_gateway_knows(
    store: FenceStore, raw: Any, ms: int, told: str
) -> None:
    floor = store.expected_ms() - 10_000
    lose(raw, floor, accepted=True)
    raw.set(LASTS, f"{ms} {floor} {floor}")
    lease = await granted(store)
    renewed = await store.renew(RESOURCE, lease.epoch, SECRET)

    assert isinstance(renewed, Lease)
    assert lease.drained == renewed.drained == (told == "Admitted")
    assert name_of(await ask(store, leased(lease.epoch), ttl_s=SHORT_S)) == told


async def test_what_was_told_of_a_former_loss_counts_for_no_later_one(store: FenceStore, raw: Any) -> None:
    """A gateway of a former version that finds one tells the shards its floor alone, and of another nothing is known:
    a newcomer waits as long as its own gateway knows (G3).
    """
    floor = store.expected_ms() + 1000
    lose(raw, floor)
    raw.set(LASTS, f"45000 {floor - 3_600_000} {floor - 3_600_000}", px=60_000)
    lease = await granted(store)
    assert name_of(await ask(store, leased(lease.epoch), ttl_s=SHORT_S)) == "Waiting"

    await store.run(REGRESS_SHARD, resource_keys(RESOURCE), str(floor), "9000", str(floor - 1000))
    assert (raw.get(LASTS), raw.ttl(LASTS)) == (b"9000 %d %d" % (floor, floor), -1)


async def test_of_one_loss_the_longest_is_kept_and_of_a_former_one_nothing_is_told(store: FenceStore, raw: Any) -> None:
    """Whoever hears of a loss tells every shard of it, in whichever order they come."""
    floor = store.expected_ms()
    lose(raw, floor)
    for of, ms in ((floor, 9000), (floor, 45_000), (floor, 3000), (floor - 5000, 90_000)):
        await store.run(REGRESS_SHARD, resource_keys(RESOURCE), str(of), str(ms), str(of - 1000))

    assert raw.get(LASTS) == b"45000 %d %d" % (floor, floor)


async def test_a_clock_that_jumped_ends_nothing_that_is_forgotten(
    store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in flight by the gateways' own clocks, as what has a ticket is (G3)."""
    store.writes_last(lambda: LONG_S)
    now_ms = store.expected_ms()
    lose(raw, now_ms - 3_600_000, accepted=True)
    monkeypatch.setattr(store, "expected_ms", lambda: now_ms - 3_600_000)

    lease = await granted(store)
    renewed = await store.renew(RESOURCE, lease.epoch, SECRET)
    registered = await store.register(RESOURCE, lease.epoch, "A", watch=False)

    assert isinstance(renewed, Lease)
    assert (lease.drained, renewed.drained, registered) == (False, False, 1)
    assert name_of(await ask(store, leased(lease.epoch), ttl_s=SHORT_S)) == "Waiting"
    assert raw.exists(LOST)


async def test_a_clock_that_ran_ahead_and_was_put_right_leaves_no_older_lease_alive(store_url: str, raw: Any) -> None:
    """The floor is not behind what the process that tells expects, and what is forgotten is in flight no longer."""
    async with remembering(store_url) as one:
        await one.mark_no_more()
        ahead = one.store.expected_ms() + 3_600_000
        one.incarnation.furthest_ms = lambda: ahead
        raw.flushall()
        await one.mark()
        await until(lambda: bool(one.told))

        floor = int(raw.hget(store_record("000"), "floor"))
        lease = await granted(one.store)
        assert floor == lease.epoch == ahead + 1000
        lasts, begins, of = map(int, raw.get(LASTS).split())
        assert (begins + lasts < ahead - 3_500_000, of) == (True, floor)


async def test_a_later_floor_is_behind_none_before_it(store_url: str, raw: Any) -> None:
    """What was granted after the first loss has reached that."""
    async with remembering(store_url, "one") as one:
        await one.mark_no_more()
        ahead = one.store.expected_ms() + 3_600_000
        raw.hset(store_record("000"), "floor", ahead)
        raw.hdel(marks("000"), "one")
        await one.mark()
        await until(lambda: bool(one.told))

        assert int(raw.hget(store_record("000"), "floor")) == ahead + 1000
