"""A script does all that it has to do, or nothing: Lua takes nothing back of what was written before a failure.

Everything that a script writes to is looked at before its first write; what the looking finds fails there.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.record import IntentRecord
from gateway.core.rule import Fence
from gateway.core.write import Admitted
from gateway.store.fence import FenceStore
from gateway.store.intents import Pause, Resolve, pause, question, resolve, resume
from gateway.store.keys import in_state, intent_id, paused_resources, questions, resource_keys, shard_keys, shard_of
from gateway.store.prune import PRUNE
from tests.store.fences import (
    ANSWER,
    INTENT,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    admitted,
    ask,
    bare,
    ended,
    everything,
    keyed,
    opened,
    rule,
    settled,
    unknown_is,
)
from tests.store.overdue import make_overdue

ASKED = unknown_is("query", rule(Fence(concurrency="parallel"), counts=True))
DOUBTFUL = f"{'in-doubt':-<22}"
NEW = f"{'new':-<22}"
SHARD = shard_of(RESOURCE)
PREFIX = resource_keys(RESOURCE)[6]
KEYS = {
    **dict(zip(("fence", "tickets", "older", "waiters", "deadlines", "audit"), resource_keys(RESOURCE), strict=False)),
    "number": f"{PREFIX}n",
    "record": f"{PREFIX}i:{INTENT}",
    "doubtful": f"{PREFIX}i:{intent_id(RESOURCE, DOUBTFUL)}",
    "new": f"{PREFIX}i:{intent_id(RESOURCE, NEW)}",
    "unknown": in_state(SHARD, "unknown"),
    "applied": in_state(SHARD, "applied"),
    "not_applied": in_state(SHARD, "not_applied"),
    "questions": questions(SHARD),
    "paused": paused_resources(SHARD),
}
STRINGS = ("number", "record", "doubtful", "new")


@dataclass(frozen=True)
class Scene:
    """An attempt whose gateway fell silent, an intent in doubt about which is to be asked, and one nobody has seen."""

    store: FenceStore
    silent: Admitted
    doubtful: Admitted
    record: IntentRecord
    lost: Admitted


async def scene(store: FenceStore, raw: Any) -> Scene:
    doubtful = await ended(store, keyed(bare(42, of=ASKED), digest=DOUBTFUL), "unknown")
    raw.zadd(KEYS["questions"], {doubtful.intent: 1}, xx=True)
    record = await store.recall(doubtful.intent)
    assert record is not None
    silent = await admitted(store, keyed(bare(42, of=ASKED)))
    make_overdue(raw, RESOURCE, silent.ticket)
    lost = replace(
        silent,
        write=keyed(bare(43, "B", ASKED), digest=NEW),
        ticket=store.new_ticket(RESOURCE),
        intent=intent_id(RESOURCE, NEW),
    )
    return Scene(store, silent, doubtful, record, lost)


Call = Callable[[Scene], Awaitable[object]]

_RESOLVE = Resolve("duplicated", "query", "counted two", "somebody")
CALLS: dict[str, Call] = {
    "admit a newer epoch": lambda on: ask(on.store, on.lost.write),
    "admit a repeat": lambda on: ask(on.store, on.silent.write),
    "admit without a key": lambda on: ask(on.store, bare(43, "B")),
    "extend": lambda on: on.store.extend(on.silent, ttl_s=5.0),
    "settle as applied": lambda on: settled(on.store, on.silent, "applied", ANSWER),
    "settle as unknown": lambda on: settled(on.store, on.silent, "unknown"),
    "settle late": lambda on: settled(on.store, on.doubtful, "not_applied"),
    "settle what was lost": lambda on: settled(on.store, on.lost, "unknown"),
    "abandon": lambda on: on.store.abandon(on.silent.write, on.silent.ticket),
    "grant": lambda on: on.store.grant(RESOURCE, "B", OTHER_SECRET, ttl_ms=1000, takeover=True, watch=True),
    "register": lambda on: on.store.register(RESOURCE, on.lost.write.epoch, "B", watch=True),
    "advance": lambda on: on.store.advance(RESOURCE, None, "request"),
    "renew": lambda on: on.store.renew(RESOURCE, on.silent.write.epoch, SECRET),
    "release": lambda on: on.store.release(RESOURCE, on.silent.write.epoch, SECRET),
    "sweep": lambda on: on.store.sweep(RESOURCE, on.silent.ticket),
    "resolve": lambda on: resolve(on.store, on.record, _RESOLVE),
    "pause": lambda on: pause(on.store, RESOURCE, id="p", reason="", by="operator"),
    "resume": lambda on: resume(on.store, Pause("p", RESOURCE, "", "", 0)),
    "ask": lambda on: question(on.store, on.record.id),
    "prune": lambda on: on.store.run(PRUNE, shard_keys(SHARD), "100", "0", "9999999999999"),
    "peek": lambda on: on.store.peek(on.lost.write),
    "look": lambda on: on.store.look(RESOURCE),
    "leave": lambda on: on.store.leave(RESOURCE),
    "recall": lambda on: on.store.recall(on.record.id),
}
_ALL_OF_A_RESOURCE = {"fence", "tickets", "older", "waiters"}
_OVERDUE = {"deadlines", "audit", "number", "record", "unknown", "applied", "questions"}
TOUCHED: dict[str, set[str]] = {
    "admit a newer epoch": _ALL_OF_A_RESOURCE | _OVERDUE | {"new"},
    "admit a repeat": _ALL_OF_A_RESOURCE | _OVERDUE | {"not_applied"},
    "admit without a key": _ALL_OF_A_RESOURCE | _OVERDUE,
    "extend": {"fence", "tickets", "waiters", "deadlines"},
    "settle as applied": _ALL_OF_A_RESOURCE - {"older"} | _OVERDUE - {"unknown", "questions"},
    "settle as unknown": _ALL_OF_A_RESOURCE - {"older"} | _OVERDUE - {"applied"},
    "settle late": _ALL_OF_A_RESOURCE | _OVERDUE - {"record", "applied"} | {"doubtful", "not_applied"},
    "settle what was lost": _ALL_OF_A_RESOURCE | _OVERDUE - {"record", "applied"} | {"new"},
    "abandon": _ALL_OF_A_RESOURCE - {"older"} | _OVERDUE - {"unknown", "applied", "questions"} | {"not_applied"},
    "grant": _ALL_OF_A_RESOURCE | _OVERDUE,
    "register": _ALL_OF_A_RESOURCE | _OVERDUE,
    "advance": _ALL_OF_A_RESOURCE | {"audit", "number"},
    "renew": {"fence", "older"},
    "release": {"fence", "older", "waiters", "audit", "number"},
    "sweep": _ALL_OF_A_RESOURCE | _OVERDUE,
    "resolve": {"fence", "waiters", "paused", "doubtful", "unknown", "applied", "not_applied", "questions"}
    | {"audit", "number"},
    "pause": {"fence", "waiters", "paused", "audit", "number"},
    "resume": {"fence", "paused", "audit", "number"},
    "ask": {"doubtful", "questions"},
    "prune": {"applied", "not_applied", "audit", "number"},
    "peek": {"fence"},
    "look": {"fence", "tickets", "older"},
    "leave": {"waiters"},
    "recall": {"doubtful"},
}


@pytest.mark.parametrize("call", CALLS)
async def test_a_key_of_the_wrong_type_leaves_nothing_half_done(store_url: str, raw: Any, call: str) -> None:
    """The call fails closed and every key is as it was; a key that the script does not need is none of its business."""
    failed = set()
    for name, key in KEYS.items():
        raw.flushall()
        async with opened(store_url) as store:
            on = await scene(store, raw)
            raw.delete(key)
            if name in STRINGS:
                raw.rpush(key, "not a string")
            else:
                raw.set(key, "not what it should be")
            before = everything(raw)
            try:
                await CALLS[call](on)
            except StoreUnavailable as error:
                assert "WRONGTYPE" in str(error)
                failed.add(name)
                assert everything(raw) == before, name

    assert failed == TOUCHED[call]


async def test_a_number_that_is_none_leaves_nothing_half_done(store: FenceStore, raw: Any) -> None:
    """The trail's count is read before anything is written."""
    on = await scene(store, raw)
    raw.set(KEYS["number"], "not a number")
    before = everything(raw)

    for call in ("admit a newer epoch", "admit without a key", "settle as unknown", "sweep", "resolve"):
        with pytest.raises(StoreUnavailable):
            await CALLS[call](on)
    assert everything(raw) == before


# What needs no room, or whose first write gives some back: whatever has been sent ends as what it was.
GO_ON = {"settle as applied", "settle as unknown", "abandon", "resume", "renew", "release", "peek", "look", "leave"}


@pytest.mark.parametrize("call", CALLS)
async def test_a_full_store_refuses_whole_calls(store: FenceStore, raw: Any, call: str) -> None:
    """Out of memory: no epoch without its write, no ticket without its record; and what is in flight ends."""
    on = await scene(store, raw)
    before = everything(raw)
    raw.config_set("maxmemory", 1)
    try:
        if call in GO_ON | {"recall", "prune"}:
            await CALLS[call](on)
        else:
            with pytest.raises(StoreUnavailable, match="OOM"):
                await CALLS[call](on)
            assert everything(raw) == before
    finally:
        raw.config_set("maxmemory", 0)


@pytest.mark.parametrize("call", ["settle as applied", "settle as unknown"])
async def test_what_was_sent_ends_in_a_full_store_as_in_any_other(store: FenceStore, raw: Any, call: str) -> None:
    """Record, lists, trail and count are what they would have been."""
    on = await scene(store, raw)
    raw.config_set("maxmemory", 1)
    try:
        await CALLS[call](on)
    finally:
        raw.config_set("maxmemory", 0)

    state = call.removeprefix("settle as ")
    record = await store.recall(INTENT)
    assert record is not None and record.state == state
    assert raw.zscore(KEYS[state], INTENT) is not None
    assert (await store.revision(RESOURCE), raw.zcard(KEYS["deadlines"])) == (2, 0)
    assert raw.xlen(KEYS["audit"]) == int(raw.get(KEYS["number"])) == 4
