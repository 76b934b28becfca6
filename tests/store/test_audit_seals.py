"""Sealing: each event is digested with the digest before it, and the newest digest is kept beside the trail."""

from typing import Any

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.store.audit_seals import BEGINNING, STEP, Seal, digest_after, read_events, read_seal, seal, seal_shard
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, seals, shard_of
from gateway.store.prune import Retention, prune
from tests.intending import SEVEN, ended, intended

SHARD = shard_of(SEVEN)
WEEK = Retention(604_800.0, 500_000)


async def write(store: FenceStore, count: int, first: int = 0) -> None:
    """Two events each."""
    for number in range(first, first + count):
        await ended(store, intended(f"k-{number}"), "applied")


def kept(raw: Any) -> list[Seal]:
    found = map(read_seal, raw.zrange(seals(SHARD), 0, -1))
    return [one for one in found if one is not None]


async def test_a_seal_is_the_digest_of_all_events_before_it(store: FenceStore, raw: Any) -> None:
    """Each of which follows on the digest of the one before."""
    await write(store, 3)

    newest = await seal_shard(store, SHARD)

    digest, events = BEGINNING, await read_events(store, SHARD, "-", STEP)
    for event in events:
        digest = digest_after(digest, event)
    assert newest == Seal(6, events[-1].id, digest)
    assert kept(raw) == [newest]


async def test_what_came_since_follows_on_the_seal_before(store: FenceStore, raw: Any) -> None:
    """As if all of it had been sealed at once; and where nothing came there is no new seal."""
    await write(store, 2)
    await seal(store)
    await seal(store)
    await write(store, 2, first=2)
    await seal(store)
    stepwise = kept(raw)
    raw.delete(seals(SHARD))

    at_once = await seal_shard(store, SHARD)

    assert [one.number for one in stepwise] == [4, 8]
    assert at_once == stepwise[-1]


async def test_two_gateways_seal_an_event_once(store: FenceStore, raw: Any) -> None:
    """Whoever comes second finds the seal of the other."""
    await write(store, 1)
    first = await seal_shard(store, SHARD)
    raw.delete(seals(SHARD))
    await seal_shard(store, SHARD)
    await write(store, 1, first=1)

    assert first is not None
    other = Seal(4, "1-1", "f" * 64)
    raw.zadd(seals(SHARD), {other.member: 4})

    assert await seal_shard(store, SHARD) == other
    assert [one.number for one in kept(raw)] == [2, 4]


async def test_a_trail_that_was_cut_before_anybody_sealed_it_begins_anew(store: FenceStore, raw: Any) -> None:
    """As one of a former release."""
    await write(store, 2)
    oldest, *_ = raw.xrange(audit_trail(SHARD))
    raw.xdel(audit_trail(SHARD), oldest[0])

    await seal(store)

    assert [(one.number, one.digest == BEGINNING) for one in kept(raw)] == [(1, True), (4, False)]


async def test_a_shard_without_events_has_no_seal(store: FenceStore, raw: Any) -> None:
    """Nothing is kept for what never was."""
    assert await seal_shard(store, SHARD) is None
    assert raw.keys("*") == []


async def test_a_shard_that_cannot_be_sealed_keeps_no_other_from_it(store: FenceStore, raw: Any) -> None:
    """It is told of in the end."""
    await write(store, 1)
    raw.set(seals("000"), "no seals")

    with pytest.raises(StoreUnavailable):
        await seal(store)

    assert [one.number for one in kept(raw)] == [2]


async def test_a_sealed_trail_is_cut_behind_a_seal(store: FenceStore, raw: Any) -> None:
    """What is left follows on the oldest seal, which stays; never less is left than is to be kept."""
    for first in (0, 20, 40):
        await write(store, 20, first=first)
        await seal(store)

    await prune(store, Retention(604_800.0, 50))

    assert raw.xlen(audit_trail(SHARD)) == 80
    assert [one.number for one in kept(raw)] == [40, 80, 120]

    await prune(store, Retention(0.0, 500_000))
    assert raw.xlen(audit_trail(SHARD)) == 0
    assert [one.number for one in kept(raw)] == [120]


async def test_a_trail_whose_seals_stopped_is_bounded_all_the_same(store: FenceStore, raw: Any) -> None:
    """By the store's own measure, with some room."""
    await write(store, 1)
    await seal(store)
    last = int(raw.xrevrange(audit_trail(SHARD), count=1)[0][0].partition(b"-")[0])
    with raw.pipeline() as pipeline:
        for number in range(3000):
            pipeline.xadd(audit_trail(SHARD), {"number": 3 + number}, id=f"{last + 1}-{number}")
        pipeline.set(f"fg:{{{SHARD}}}:n", 3002)
        pipeline.execute()

    await prune(store, Retention(604_800.0, 500))

    assert raw.xlen(audit_trail(SHARD)) <= 1600


@pytest.mark.parametrize("member", [b"", b"17", b"x 1-0 abc", b"17 x abc", b"1 2 3 4"])
def test_what_no_gateway_wrote_is_no_seal(member: bytes) -> None:
    """It is passed over."""
    assert read_seal(member) is None
