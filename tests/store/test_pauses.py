"""Pauses that are wider than a resource, in the store: begun, read, ended, and told to every gateway."""

import asyncio
import json
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.pause import Scope, WidePause
from gateway.core.write import ResourceKey
from gateway.store import pauses
from gateway.store.fence import FenceStore
from gateway.store.keys import PAUSES_SHARD, WIDE_PAUSES, audit_trail, shard_keys
from gateway.store.pauses import PauseRecords, begin_pause, end_pause, find_wide_pause, new_pause_id, wide_pauses
from gateway.store.views.audit_views import Sought, events
from tests.store.fences import everything, opened

WHY = "mails go out twice"
MAIL = Scope("upstream", "mail")


async def stop(store: FenceStore, scope: Scope = MAIL, id: str | None = None, reason: str = WHY) -> WidePause:
    begun = await begin_pause(store, scope, id=id or new_pause_id(), reason=reason, by="operator")
    assert isinstance(begun, WidePause)
    return begun


@pytest.mark.parametrize(
    "scope",
    [
        Scope("all"),
        MAIL,
        Scope("rule", "send"),
        Scope("rule", "send", "mail"),
        Scope("tenant", "north"),
        Scope("holder", "agent é"),
    ],
    ids=lambda scope: ascii(f"{scope.kind} {scope.upstream or ''}").strip("'"),
)
async def test_a_pause_is_in_force_until_it_is_ended(store: FenceStore, raw: Any, scope: Scope) -> None:
    """Read as it was begun; afterwards nothing is left of it but its events."""
    begun = await stop(store, scope)

    assert (begun.scope, begun.reason, begun.by) == (scope, WHY, "operator")
    assert abs(begun.created_at_ms - store.expected_ms()) < 60_000
    assert await PauseRecords(store).in_force() == {scope: begun}
    assert await find_wide_pause(store, begun.id) == begun

    await end_pause(store, begun, "operator")
    await end_pause(store, begun, "operator")

    assert await PauseRecords(store).in_force() == {}
    assert await find_wide_pause(store, begun.id) is None
    assert raw.keys("*pauses*") == []


async def test_the_pause_that_lasts_already_is_told(store: FenceStore) -> None:
    """Of the same scope, whoever asks; a rule of one upstream is another scope than a rule of any."""
    begun = await stop(store, Scope("rule", "send"))

    assert await stop(store, Scope("rule", "send"), begun.id) == begun
    assert await stop(store, Scope("rule", "send"), reason="me too") == begun
    other = await stop(store, Scope("rule", "send", "mail"))
    assert {pause.id for pause in await wide_pauses(store)} == {begun.id, other.id}


async def test_a_pause_is_ended_by_its_own_id(store: FenceStore) -> None:
    """One of the same scope that was begun since stays."""
    old = await stop(store)
    await end_pause(store, old, "operator")
    new = await stop(store)

    await end_pause(store, old, "operator")

    assert await wide_pauses(store) == [new]


@pytest.mark.parametrize(
    ("scope", "upstream", "rule", "holder"),
    [
        (MAIL, "mail", "", ""),
        (Scope("rule", "send", "mail"), "mail", "send", ""),
        (Scope("holder", "a"), "", "", "a"),
        (Scope("tenant", "north"), "", "", ""),
        (Scope("all"), "", "", ""),
    ],
    ids=lambda value: value.kind if isinstance(value, Scope) else "",
)
async def test_begin_and_end_are_in_the_audit_trail(
    store: FenceStore, scope: Scope, upstream: str, rule: str, holder: str
) -> None:
    """Once each; what is stopped is told with the reason."""
    begun = await stop(store, scope)
    await stop(store, scope)
    await end_pause(store, begun, "another operator")
    await end_pause(store, begun, "another operator")

    ended, paused = (await events(store, Sought(intent=begun.id), None)).items

    assert [(event.before, event.after, event.by) for event in (paused, ended)] == [
        ("", "paused", "operator"),
        ("paused", "resumed", "another operator"),
    ]
    for event in (paused, ended):
        assert (event.upstream, event.rule, event.holder, event.resource) == (upstream, rule, holder, "")
        assert event.reason == f"{scope}: {WHY}"


async def test_every_gateway_is_told(store_url: str) -> None:
    """Everybody looks again, once a pause begins and once it ends."""
    told = asyncio.Event()
    woken: list[ResourceKey | None] = []

    def on_wake(resource: ResourceKey | None) -> None:
        woken.append(resource)
        told.set()

    async with asyncio.timeout(10), opened(store_url) as one, opened(store_url, on_wake):
        # The subscription is there.
        await told.wait()
        for number in (1, 2):
            told.clear()
            if number == 1:
                begun = await stop(one)
            else:
                await end_pause(one, begun, "operator")
            await told.wait()

    assert woken == [None] * len(woken)


async def test_there_may_be_so_many(store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them are read by every worker, twice a second; what is in force already is told all the same."""
    monkeypatch.setattr(pauses, "MOST", 2)
    begun = [await stop(store, Scope("holder", name)) for name in ("a", "b")]

    refused = await begin_pause(store, Scope("holder", "c"), id="000c", reason=WHY, by="operator")

    assert isinstance(refused, Refused)
    assert refused.detail == 'Nothing was done: 2 pauses are in force. End some, or stop everything: {"all": true}.'
    assert raw.hlen(WIDE_PAUSES) == 2
    assert await stop(store, Scope("holder", "b")) == begun[1]


@pytest.mark.parametrize(
    "packed",
    [
        "not JSON",
        b"\xff",
        "7",
        "[]",
        "{}",
        json.dumps({"kind": "planet", "name": "", "upstream": "", "reason": "", "by": "", "created_at": "1"}),
        json.dumps({"kind": "all", "name": "", "upstream": "", "reason": "", "by": "", "created_at": "soon"}),
    ],
    ids=["no JSON", "no text", "a number", "a list", "no members", "a kind of a later version", "no instant"],
)
async def test_what_cannot_be_read_stops_everything(store: FenceStore, raw: Any, packed: str | bytes) -> None:
    """Until it is ended, by its id; a pause that can be read is none of its repeats."""
    raw.hset(WIDE_PAUSES, "0001", packed)

    found = await find_wide_pause(store, "0001")
    assert found is not None
    assert (found.id, found.scope) == ("0001", Scope("all"))
    assert (await stop(store)).scope == MAIL

    await end_pause(store, found, "operator")
    assert [pause.scope for pause in await wide_pauses(store)] == [MAIL]


@pytest.mark.parametrize("key", [WIDE_PAUSES, audit_trail(PAUSES_SHARD), f"{shard_keys(PAUSES_SHARD)[6]}n"])
async def test_a_key_of_the_wrong_type_leaves_nothing_half_done(store: FenceStore, raw: Any, key: str) -> None:
    """What cannot be recorded neither begins nor ends."""
    begun = await stop(store)
    raw.delete(key)
    raw.geoadd(key, (0, 0, "what it should not be"))
    before = everything(raw)

    for call in (stop(store, Scope("all")), end_pause(store, begun, "operator")):
        with pytest.raises(StoreUnavailable):
            await call
    assert everything(raw) == before


# What a store that has lost them is told.


async def test_a_pause_that_the_store_has_lost_is_written_back(store: FenceStore, raw: Any) -> None:
    """Whoever has read it goes on enforcing it, and brings it back as it was, with its event; several do so once."""
    one, other = PauseRecords(store), PauseRecords(store)
    begun = [await stop(store, scope) for scope in (Scope("all"), Scope("rule", "send", "mail"))]
    before = await one.in_force()
    assert await other.in_force() == before
    raw.flushall()

    assert await one.in_force() == before
    assert await other.in_force() == before

    assert sorted(await wide_pauses(store), key=lambda pause: pause.id) == sorted(begun, key=lambda pause: pause.id)
    for pause in begun:
        (event,) = (await events(store, Sought(intent=pause.id), None)).items
        assert (event.before, event.after, event.by) == ("", "paused", store.gateway)
        assert event.reason == f"restored, for the store lost it: {pause.scope}: {WHY}"


async def test_what_was_restored_ends_by_an_operator_for_good(store: FenceStore, raw: Any) -> None:
    """A gateway that has not heard of the end does not write it back once more."""
    one, late = PauseRecords(store), PauseRecords(store)
    begun = await stop(store)
    await one.in_force()
    await late.in_force()
    raw.flushall()
    assert await one.in_force() == {MAIL: begun}
    await end_pause(store, begun, "operator")

    assert await late.in_force() == {}
    assert await one.in_force() == {}
    assert await wide_pauses(store) == []


async def test_a_newer_pause_of_the_same_scope_stands_for_the_lost_one(store: FenceStore, raw: Any) -> None:
    """Whoever has paused again ends one pause, not two."""
    records = PauseRecords(store)
    await stop(store)
    await records.in_force()
    raw.flushall()
    newer = await stop(store, reason="again")

    assert await records.in_force() == {MAIL: newer}
    await end_pause(store, newer, "operator")
    assert await records.in_force() == {}


async def test_a_store_that_takes_no_pause_back_ends_none(store: FenceStore, raw: Any) -> None:
    """Nobody has ended it: it is enforced until it can be written, or was ended."""
    records = PauseRecords(store)
    begun = await stop(store)
    await records.in_force()
    raw.flushall()
    trail = audit_trail(PAUSES_SHARD)
    raw.set(trail, "no trail")

    assert await records.in_force() == {MAIL: begun}
    assert await wide_pauses(store) == []
    raw.delete(trail)
    assert await records.in_force() == {MAIL: begun}
    assert await wide_pauses(store) == [begun]
