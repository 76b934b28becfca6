"""Resets by a former version beside this one: it keeps the largest epoch that was ever forgotten, and begins no era."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import GivenUp
from gateway.core.epoch import HIGHEST
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.parking import retry
from tests.store.fences import RESOURCE, admitted, ask, bare, ended, keyed, name_of, settled
from tests.store.losing import remembering
from tests.store.parked import delivered, delivering, mail, parked
from tests.store.resetting import FENCE, forget


async def test_what_a_former_version_has_forgotten_is_not_missed(store_url: str, raw: Any) -> None:
    """It has kept the epoch alone. What is seen since is missed all the same."""
    async with remembering(store_url) as one:
        await ended(one.store, bare(HIGHEST), "applied")
        raw.hset(FENCE, "r", HIGHEST)
        raw.hdel(FENCE, "e", "h", "w")
        assert name_of(await ask(one.store, bare(6))) == "Admitted"

        raw.hset(FENCE, mapping={"e": 5, "m": 5})

        assert name_of(await ask(one.store, bare(5))) == "store-regressed"


def reset_by_a_former_version(raw: Any) -> None:
    """It begins no era, and keeps the largest that was ever forgotten."""
    raw.hset(FENCE, "r", HIGHEST)
    raw.hdel(FENCE, "e", "h", "w", "q", "a", "s", "k", "x", "l", "c", "g")


def written_by_a_former_version(raw: Any, epoch: int, holder: str) -> None:
    raw.hset(FENCE, mapping={"e": epoch, "h": holder, "w": 2})


@pytest.mark.parametrize("first_by", ["this", "a former"])
@pytest.mark.parametrize("times", [1, 2])
async def test_a_reset_through_a_former_version_is_one_too(
    first_by: str, times: int, store: FenceStore, store_url: str, raw: Any
) -> None:
    """While both run: what was done under a forgotten epoch is not sent again, and its successor is not refused."""
    async with remembering(store_url) as one, delivering(one.store) as queue:
        await ended(one.store, bare(HIGHEST), "applied")
        reset_by_a_former_version(raw) if first_by == "a former" else await forget(store)
        ids = []
        for at in range(times):
            write = mail(f"of-{at}", 9)
            ids.append((await parked(one.store, write)).id)
            await delivered(queue, write, "not_applied", GivenUp())
            reset_by_a_former_version(raw)
            written_by_a_former_version(raw, 3, "B")

            assert name_of(await ask(one.store, replace(bare(3), holder="B"))) == "Admitted"
            await forget_tickets(raw)

        for id in ids:
            failed = await one.store.recall(id)
            assert failed is not None
            refused = await retry(one.store, failed, note="again", by="operator")
            assert isinstance(refused, Refused) and "its epoch was overtaken" in refused.detail
        assert one.told == []


async def test_who_has_seen_what_a_former_version_has_forgotten_tells_of_no_loss(store_url: str, raw: Any) -> None:
    """Not over a new connection either: whether it has seen the epochs before that alone, or those since, too."""
    async with remembering(store_url) as one, remembering(store_url) as two:
        await one.mark_no_more()
        await two.mark_no_more()
        for each in (one, two):
            await ended(each.store, bare(HIGHEST), "applied")
        await forget(one.store)
        for each in (one, two):
            await ended(each.store, bare(9), "applied")
        reset_by_a_former_version(raw)
        written_by_a_former_version(raw, 3, "B")
        assert name_of(await ask(two.store, bare(2))) == "stale-epoch"

        for each in (one, two):
            each.store.link.at(FENCE).leave()
            await each.mark()

        assert (one.told, two.told) == ([], [])


async def forget_tickets(raw: Any) -> None:
    """Whatever is in flight has ended."""
    raw.delete(*resource_keys(RESOURCE)[1:3])


async def test_a_late_result_does_not_raise_what_a_former_version_has_forgotten(store: FenceStore, raw: Any) -> None:
    """Its ticket was swept before the reset."""
    await ended(store, bare(HIGHEST), "applied")
    await forget(store)
    late = await admitted(store, keyed(bare(9)))
    await store.settle(late, "unknown", "swept", None)
    reset_by_a_former_version(raw)
    written_by_a_former_version(raw, 3, "B")

    await settled(store, replace(late, ticket=store.new_ticket(RESOURCE), attempt=2), "applied")

    assert raw.hget(FENCE, "e") == b"3"


@pytest.mark.parametrize(("forgotten", "reply"), [(41, "IntentRecord"), (42, "wrong-state")])
async def test_after_a_reset_of_a_former_version_larger_epochs_are_of_later(
    forgotten: int, reply: str, store: FenceStore, raw: Any
) -> None:
    """It has kept nothing else: the others may be of before."""
    write = mail("one")
    record = await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    raw.hset(FENCE, "r", forgotten)

    assert name_of(await retry(store, record, note="again", by="operator")) == reply
