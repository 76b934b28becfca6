"""Whoever ever sent a request never decides about it, whatever became of it since and whoever has it now."""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.caller import ANONYMOUS
from gateway.core.delivery import Conclusion, GivenUp
from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.write import Write
from gateway.store.fence import FenceStore
from gateway.store.parking import Decide, decide
from tests.store.fences import HELD, RESOURCE, bare, ended, keyed, name_of, resolved, state_of
from tests.store.parked import (
    APPROVED,
    begun,
    delivered,
    delivering,
    id_of,
    mail,
    make_expired,
    parked,
    refused,
    taken,
)

ID = IntentId(id_of(mail("one")))


def of(principal: str, epoch: int = 42) -> Write:
    return replace(mail("one", epoch, of=APPROVED), principal=principal)


async def decides(store: FenceStore, principal: str) -> str:
    """What this principal's approval gets."""
    record = await store.recall(ID)
    assert record is not None and record.parking is not None
    verdict = Decide("approve", principal, principal, "looks right", record.parking.digest)
    return name_of(await decide(store, record, verdict))


async def approved(store: FenceStore, principal: str) -> None:
    """Sent by this principal, and approved by one that never sent it."""
    await parked(store, of(principal))
    assert await decides(store, "zoe") == "IntentRecord"


async def waiting(store: FenceStore, raw: Any, epoch: int) -> None:
    await parked(store, of("anna"))
    for principal in ("ben", "carl", "anna"):
        await parked(store, of(principal, epoch))


async def waiting_under_one_epoch(store: FenceStore, raw: Any) -> None:
    await waiting(store, raw, 42)


async def waiting_under_a_newer_epoch(store: FenceStore, raw: Any) -> None:
    await waiting(store, raw, 43)


async def expired(store: FenceStore, raw: Any) -> None:
    for principal in ("anna", "ben"):
        await parked(store, of(principal))
        make_expired(raw, of(principal))
        assert await decides(store, "zoe") == "wrong-state"
        assert await state_of(store, ID) == "expired"
    await parked(store, of("carl"))


async def superseded(store: FenceStore, raw: Any) -> None:
    for epoch, principal in enumerate(("anna", "ben"), 42):
        await parked(store, of(principal, epoch))
        await store.register(RESOURCE, Epoch(epoch + 1), "A", watch=False)
        assert await decides(store, "zoe") == "wrong-state"
        assert await state_of(store, ID) == "superseded"
    await parked(store, of("carl", 44))


async def queued(store: FenceStore, raw: Any) -> None:
    await approved(store, "anna")
    await parked(store, of("ben"))
    await parked(store, of("carl", 43))
    await store.register(RESOURCE, Epoch(44), "A", watch=False)
    async with delivering(store) as queue:
        await queue.take(RESOURCE)
    assert await state_of(store, ID) == "superseded"
    await parked(store, of("dora", 44))


async def taken_over_by_one_without_a_name(store: FenceStore, raw: Any) -> None:
    await approved(store, "anna")
    await parked(store, of(ANONYMOUS, 43))
    await failed(store, of(ANONYMOUS, 43))
    await parked(store, of("ben", 43))
    await parked(store, of("carl", 43))


async def failed(store: FenceStore, write: Write) -> None:
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())


async def failed_of_each(store: FenceStore, raw: Any) -> None:
    for principal in ("anna", "ben"):
        await approved(store, principal)
        await failed(store, of(principal))
    await parked(store, of("carl"))


async def in_flight(store: FenceStore, raw: Any, *epochs: int) -> None:
    await approved(store, "anna")
    async with delivering(store) as queue:
        one = await taken(queue)
        under_way = await begun(queue, of("anna"))
        for principal, epoch in zip(("ben", "carl"), epochs, strict=True):
            await parked(store, of(principal, epoch))
        await queue.end(one, under_way, Conclusion("not_applied", "answered 422", None, GivenUp()))
    assert await state_of(store, ID) == "failed"
    await parked(store, of("dora", max(epochs)))


async def in_flight_under_one_epoch(store: FenceStore, raw: Any) -> None:
    await in_flight(store, raw, 42, 42)


async def in_flight_with_heirs(store: FenceStore, raw: Any) -> None:
    await in_flight(store, raw, 43, 44)


async def unknown(store: FenceStore, raw: Any) -> None:
    await approved(store, "anna")
    async with delivering(store) as queue:
        await delivered(queue, of("anna"), "unknown")
    assert await refused(store, of("ben")) == "outcome-unknown"
    await resolved(store, "not_applied", ID)
    await parked(store, of("carl"))


async def sent_at_once_in_between(store: FenceStore, raw: Any) -> None:
    """By rules that want no approval, as long as those were in force."""
    await parked(store, of("anna"))
    make_expired(raw, of("anna"))
    assert await decides(store, "zoe") == "wrong-state"
    inline = keyed(bare(42, of=HELD), digest=f"{'one':-<22}", says=b"one")
    for principal in ("ben", "carl"):
        await ended(store, replace(inline, principal=principal), "not_applied")
    await parked(store, of("dora"))


Way = Callable[[FenceStore, Any], Coroutine[Any, Any, None]]
# What has become of it before it waits for an approval, and all who sent it.
WAYS: dict[Way, str] = {
    waiting_under_one_epoch: "anna ben carl",
    waiting_under_a_newer_epoch: "anna ben carl",
    expired: "anna ben carl",
    superseded: "anna ben carl",
    queued: "anna ben carl dora",
    taken_over_by_one_without_a_name: "anna ben carl",
    failed_of_each: "anna ben carl",
    in_flight_under_one_epoch: "anna ben carl dora",
    in_flight_with_heirs: "anna ben carl dora",
    unknown: "anna ben carl",
    sent_at_once_in_between: "anna ben carl dora",
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_nobody_approves_what_they_ever_sent(way: Way, store: FenceStore, raw: Any) -> None:
    """It is one intent: whoever asked for it once has asked for it, and somebody else decides."""
    await way(store, raw)
    assert await state_of(store, ID) == "awaiting_approval"

    told = [await decides(store, principal) for principal in WAYS[way].split()]

    assert told == ["forbidden"] * len(told)
    assert await decides(store, "zoe") == "IntentRecord"
