"""A script that parks, or moves what is parked, does all that it has to do, or nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from gateway.core.delivery import Again, Conclusion, GivenUp, Taken
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import IntentId
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted
from gateway.store.fence import FenceStore
from gateway.store.kept_requests import digest_request
from gateway.store.keys import resource_keys
from gateway.store.parking import Decide, decide, expire, retry
from tests.store.fences import RESOURCE, admitted, bare, everything, opened
from tests.store.overdue import make_overdue
from tests.store.parked import (
    APPROVED,
    REQUEST,
    DeliveriesOf,
    begin,
    begun,
    delivered,
    id_of,
    mail,
    make_due,
    make_expired,
    make_older,
    parked,
    taken,
)

PREFIX = resource_keys(RESOURCE)[6]
AWAITED, EXPIRED, FAILED = mail("awaited", of=APPROVED), mail("expired", of=APPROVED), mail("failed")
HEAD, NEXT, NEW, NEWER = mail("head"), mail("next"), mail("new"), mail("next", 43, holder="B")


@dataclass(frozen=True)
class Scene:
    """Of one resource: a failed intent, two that wait for an approval, one of them too long, and two in the queue; its
    head for a while.
    """

    store: FenceStore
    queue: DeliveriesOf
    failed: IntentRecord
    awaited: IntentRecord
    head: IntentRecord


@dataclass(frozen=True)
class OnItsWay:
    """The same, and the head of the queue has been sent."""

    scene: Scene
    taken: Taken
    attempt: Admitted


async def scene(store: FenceStore, queue: DeliveriesOf, raw: Any) -> Scene:
    await parked(store, FAILED)
    await delivered(queue, FAILED, "not_applied", GivenUp())
    awaited = await parked(store, AWAITED)
    await parked(store, EXPIRED)
    make_expired(raw, EXPIRED)
    await parked(store, HEAD)
    make_older(raw, id_of(HEAD), 60)
    await parked(store, NEXT)
    failed, head = await store.recall(id_of(FAILED)), await store.recall(id_of(HEAD))
    assert failed is not None and head is not None
    return Scene(store, queue, failed, awaited, head)


async def on_its_way(on: Scene) -> OnItsWay:
    return OnItsWay(on, await taken(on.queue), await begun(on.queue, HEAD))


YES, NO = (Decide(word, "anna", "anna", "a note", digest_request(REQUEST)) for word in ("approve", "deny"))
CALLS: dict[str, Callable[[Scene], Awaitable[object]]] = {
    "park": lambda on: on.store.park(NEW, REQUEST),
    "park what failed": lambda on: on.store.park(FAILED, REQUEST),
    "take over": lambda on: on.store.park(NEWER, REQUEST),
    "take": lambda on: on.queue.take(RESOURCE),
    "deliver": lambda on: begin(on.queue, replace(HEAD, keeping=on.head.keeping)),
    "approve": lambda on: decide(on.store, on.awaited, YES),
    "deny": lambda on: decide(on.store, on.awaited, NO),
    "expire": lambda on: expire(on.store, IntentId(id_of(EXPIRED))),
    "retry": lambda on: retry(on.store, on.failed, note="again", by="operator"),
    "fail": lambda on: on.queue.fail(Taken(on.head, REQUEST, 1), "no rule takes it"),
}
ENDS: dict[str, Callable[[OnItsWay], Awaitable[object]]] = {
    "applied": lambda on: on.scene.queue.end(on.taken, on.attempt, Conclusion("applied", "200", None, GivenUp())),
    "again": lambda on: on.scene.queue.end(on.taken, on.attempt, Conclusion("not_applied", "away", None, Again(1.0))),
    "failed": lambda on: on.scene.queue.end(on.taken, on.attempt, Conclusion("not_applied", "422", None, GivenUp())),
    "unknown": lambda on: on.scene.queue.end(on.taken, on.attempt, Conclusion("unknown", "lost", None, GivenUp())),
    "swept": lambda on: on.scene.store.sweep(RESOURCE, on.attempt.ticket),
}


@pytest.mark.parametrize("call", [*CALLS, *ENDS])
async def test_a_key_of_the_wrong_type_leaves_nothing_half_done(store_url: str, raw: Any, call: str) -> None:
    """The call fails closed and every key is as it was; or it needs that key for nothing, and does all."""
    failed = set()
    for number in range(100):
        raw.flushall()
        # Each time another gateway: one that has seen an epoch does not forget it.
        async with opened(store_url) as store:
            queue = DeliveriesOf(store)
            on = await scene(store, queue, raw)
            sent = await on_its_way(on) if call in ENDS else None
            if sent is not None and call == "swept":
                make_overdue(raw, RESOURCE, sent.attempt.ticket)
            make_due(raw)
            keys = sorted(raw.keys(f"{PREFIX}*"))
            if number == len(keys):
                break
            kind = raw.type(keys[number])
            raw.delete(keys[number])
            raw.rpush(keys[number], "x") if kind == b"string" else raw.set(keys[number], "x")
            before = everything(raw)
            try:
                await (CALLS[call](on) if sent is None else ENDS[call](sent))
            except StoreUnavailable as error:
                assert "WRONGTYPE" in str(error)
                failed.add(keys[number])
                left = everything(raw)
                assert {key: left.get(key) for key in before} == before, keys[number]
            await queue.close()

    assert len(failed) >= 5


@pytest.mark.parametrize("call", ["park", "park what failed", "deliver", "approve", "retry"])
async def test_a_full_store_takes_nothing_half(store: FenceStore, raw: Any, call: str) -> None:
    """Out of memory: nothing is promised, and what is there stays as it was."""
    queue = DeliveriesOf(store)
    on = await scene(store, queue, raw)
    before = everything(raw)
    raw.config_set("maxmemory", 1)
    try:
        with pytest.raises(StoreUnavailable, match="OOM"):
            await CALLS[call](on)
        assert everything(raw) == before
    finally:
        raw.config_set("maxmemory", 0)
        await queue.close()


async def test_what_is_parked_under_a_new_epoch_is_whole(store: FenceStore, raw: Any) -> None:
    """Epoch and record come together."""
    await admitted(store, bare(41))
    raw.config_set("maxmemory", 1)
    try:
        with pytest.raises(StoreUnavailable, match="OOM"):
            await store.park(NEW, REQUEST)
    finally:
        raw.config_set("maxmemory", 0)
    record = await store.look(RESOURCE)

    assert record is not None and record.epoch == 41
