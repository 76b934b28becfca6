"""What a gateway has seen tells of a store that forgot it, before a mark does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from gateway.core.epoch import Epoch
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.loss import losses
from gateway.store.loss.seen import SeenEpochs
from tests.store.fences import (
    LEASE_MS,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    ask,
    bare,
    ended,
    granted,
    keyed,
    leased,
    name_of,
)
from tests.store.losing import Remembering, remembering
from tests.until import until

OTHER = ResourceKey("report/8")


@pytest.fixture
async def one(store_url: str) -> AsyncIterator[Remembering]:
    """A gateway that finds nothing by its marks: they stop."""
    async with remembering(store_url) as remembering_one:
        assert remembering_one.store.marking is not None
        remembering_one.store.marking.cancel()
        yield remembering_one


def test_only_larger_ones_are_news() -> None:
    """An epoch that is not larger than what was seen changes nothing."""
    seen = SeenEpochs()

    assert [seen.note(RESOURCE, epoch) for epoch in (41, 41, 40, 42)] == [True, False, False, True]
    assert (seen.expected(RESOURCE), seen.largest(RESOURCE)) == (42, 42)
    assert (seen.expected(OTHER), seen.largest(OTHER)) == (0, 0)


def test_after_a_loss_nothing_is_expected_that_was_not_acknowledged_since() -> None:
    """It is remembered all the same: what was larger is still larger than what comes."""
    seen = SeenEpochs()
    seen.note(RESOURCE, 42)
    seen.lost()

    assert (seen.expected(RESOURCE), seen.largest(RESOURCE)) == (0, 42)
    assert seen.note(RESOURCE, 41)
    assert (seen.expected(RESOURCE), seen.largest(RESOURCE)) == (41, 42)


def test_only_epochs_of_one_era_are_compared() -> None:
    """What was before an operator forgot it is gone, however large, and does not come back with what is heard late."""
    seen = SeenEpochs()
    seen.note(RESOURCE, 99)

    assert seen.begin(RESOURCE, 7)
    assert (seen.era(RESOURCE), seen.expected(RESOURCE), seen.largest(RESOURCE)) == (7, 0, 0)
    assert not seen.begin(RESOURCE, 7)
    assert [seen.note(RESOURCE, epoch, era) for epoch, era in ((5, 7), (99, 0), (4, 7), (3, 9))] == [
        *(True, False, False, True)
    ]
    assert (seen.era(RESOURCE), seen.largest(RESOURCE)) == (9, 3)
    assert (seen.era(OTHER), seen.note(OTHER, 1)) == (0, True)


def test_after_a_loss_a_reset_that_came_before_it_lowers_nothing() -> None:
    """The store may have lost it, or not; only a later one makes what was seen go."""
    seen = SeenEpochs()
    seen.note(RESOURCE, 5, 7)
    seen.lost()
    assert (seen.era(RESOURCE), seen.expected(RESOURCE), seen.largest(RESOURCE)) == (0, 0, 5)

    seen.begin(RESOURCE, 7)
    assert seen.largest(RESOURCE) == 5
    seen.begin(RESOURCE, 9)
    assert seen.largest(RESOURCE) == 0


async def same_epoch(store: FenceStore) -> str:
    return name_of(await ask(store, keyed(bare(42))))


async def newer_epoch(store: FenceStore) -> str:
    return name_of(await ask(store, keyed(bare(43))))


async def registered(store: FenceStore) -> str:
    return name_of(await store.register(RESOURCE, Epoch(42), "A", watch=False))


async def new_lease(store: FenceStore) -> str:
    return name_of(await store.grant(RESOURCE, "B", OTHER_SECRET, ttl_ms=LEASE_MS, takeover=False, watch=False))


async def looked_at(store: FenceStore) -> str:
    return name_of(await store.peek(bare(42)))


ASKING = (same_epoch, newer_epoch, registered, new_lease, looked_at)


@pytest.mark.parametrize("asked", ASKING, ids=lambda asked: asked.__name__)
async def test_a_store_that_was_emptied_takes_nothing_for_new(
    asked: Callable[[FenceStore], Awaitable[str]], one: Remembering, raw: Any
) -> None:
    """What was done under the forgotten epoch may be asked for again: nobody is let in before the loss is told of."""
    await ended(one.store, keyed(bare(42)), "applied")
    raw.flushall()

    assert await asked(one.store) == "store-regressed"
    assert raw.hgetall(resource_keys(RESOURCE)[0]) == {}


@pytest.mark.parametrize("asked", [same_epoch, new_lease], ids=lambda asked: asked.__name__)
async def test_the_loss_is_told_of_as_soon_as_one_gateway_misses_something(
    asked: Callable[[FenceStore], Awaitable[str]], one: Remembering, raw: Any
) -> None:
    """No other one waits for a mark until it refuses too."""
    await ended(one.store, keyed(bare(42)), "applied")
    raw.flushall()
    assert not one.incarnation.recent.doubted.is_set()

    await asked(one.store)

    assert one.incarnation.recent.doubted.is_set()
    one.store.marking = asyncio.get_running_loop().create_task(one.incarnation.run(one.store))
    await until(lambda: bool(one.told))
    assert not one.incarnation.recent.doubted.is_set()


async def test_a_lease_of_before_is_no_unknown_one(one: Remembering, raw: Any) -> None:
    """Its token was valid: whoever has it waits, and does not ask for another."""
    lease = await granted(one.store, secret=SECRET)
    raw.flushall()

    assert name_of(await ask(one.store, leased(lease.epoch))) == "store-regressed"


async def test_once_the_loss_is_accepted_the_same_epoch_writes_on(one: Remembering, raw: Any) -> None:
    """Then the operator has said that it may be forgotten; what is acknowledged from then on is expected again."""
    await ended(one.store, keyed(bare(42)), "applied")
    raw.flushall()
    await one.mark()
    await until(lambda: bool(one.told))
    await losses.accept(one.store, note="looked", by="operator")
    raw.delete(f"{resource_keys(RESOURCE)[6]}lost")

    assert name_of(await ask(one.store, bare(42))) == "Admitted"
    raw.flushall()
    assert name_of(await ask(one.store, bare(42))) == "store-regressed"
