"""The quarantine in the store: what is kept, within which bounds, and how it goes."""

import random
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.kept_requests import QuarantineBounds
from gateway.store.keys import KEPT_BYTES, audit_trail, kept_request, kept_requests, resource_keys, shard_of
from gateway.store.views.audit_views import Sought as Events
from gateway.store.views.audit_views import events
from gateway.store.views.page import BadCursor
from gateway.store.views.quarantine import Sought, drop, late_result, late_results, recount
from tests.intending import RULE, SEVEN
from tests.lateness import BODY, late, quarantined
from tests.store.fences import everything

SHARD = shard_of(SEVEN)
LIST = kept_requests(SHARD, "quarantine")
NOBODYS = Sought()


async def ids(store: FenceStore, sought: Sought = NOBODYS) -> list[str]:
    return [found.id for found in (await late_results(store, sought, None)).items]


async def test_a_late_result_is_found_as_it_came(store: FenceStore) -> None:
    """With who sent it, under which epoch, and what was said of it."""
    id = await quarantined(store, late())

    found = await late_result(store, id)

    assert found is not None
    told, request = found
    assert (request.method, request.target, request.body) == ("PUT", "/reports/7?draft=1", BODY)
    assert (told.decision, told.resource, told.epoch, told.highest_epoch) == ("stale-epoch", SEVEN, 41, 42)
    assert (told.holder, told.principal, told.tenant) == ("agent-a", "anonymous", "default")
    assert (told.upstream, told.rule, told.method, told.target) == ("reports", "write", "PUT", "/reports/7")
    assert (told.size, told.expires_at_ms - told.received_at_ms) == (len(BODY), 604_800_000)


async def test_keeping_moves_nothing_of_the_resource(store: FenceStore, raw: Any) -> None:
    """No record is made where there was none, and none is changed where there was one."""
    await quarantined(store, late())
    assert raw.keys("fg:*:f:*") == []
    await store.register(SEVEN, late().write.epoch, "agent-b", watch=False)
    before = {key: raw.dump(key) for key in resource_keys(SEVEN)[:5]}

    await quarantined(store, late(body=b"another"))

    assert {key: raw.dump(key) for key in resource_keys(SEVEN)[:5]} == before


async def test_the_same_thing_sent_again_is_kept_once(store: FenceStore, raw: Any) -> None:
    """A client that repeats what was refused takes nobody's place."""
    first = await quarantined(store, late())
    before = everything(raw)

    assert await quarantined(store, late()) == first
    assert everything(raw) == before


async def test_the_holder_of_the_newest_epoch_is_known(store: FenceStore) -> None:
    """Who writes with a lease's secret need not name itself."""
    await store.register(SEVEN, late().write.epoch, "agent-z", watch=False)
    unnamed = replace(late(), write=replace(late().write, holder=None))

    found = await late_result(store, await quarantined(store, unnamed))

    assert found is not None and found[0].holder == "agent-z"


async def test_of_one_principal_and_resource_the_newest_twenty_stay(store: FenceStore) -> None:
    """Others' late results, and its own of other resources, are left alone."""
    other = await quarantined(store, late(principal="ada"))
    kept = [await quarantined(store, late(body=b"%d" % at)) for at in range(22)]

    assert set(await ids(store)) == {other, *kept[2:]}


async def test_a_full_shard_takes_from_whoever_has_most(store: FenceStore) -> None:
    """A hostile principal pushes out what it sent itself."""
    honest = [await quarantined(store, late(principal="ada", body=b"%d" % at)) for at in range(5)]
    shard_mates = [name for at in range(20_000) if shard_of(name := ResourceKey(f"report/x{at}")) == SHARD][:15]
    for resource in shard_mates:
        for at in range(19):
            await quarantined(store, late(resource, body=b"%d" % at, principal="eve"))

    found = await ids(store, Sought(resource=SEVEN))

    assert set(found) == set(honest)


async def test_beyond_its_bytes_the_oldest_goes(store: FenceStore) -> None:
    """Until the new one fits."""
    store.quarantine_bounds = QuarantineBounds(60.0, 3000)
    first, second = [await quarantined(store, late(body=_noise(at))) for at in range(2)]

    third = await quarantined(store, late(body=_noise(2)))

    assert (await ids(store), first in await ids(store)) == ([third, second], False)


async def test_what_does_not_fit_is_not_kept_and_takes_nothing_away(store: FenceStore, raw: Any) -> None:
    """Neither where it is too large, nor where other shards have all the room."""
    store.quarantine_bounds = QuarantineBounds(60.0, 3000)
    await quarantined(store, late(body=_noise(0)))
    before = everything(raw)

    assert await store.quarantine(late(body=_noise(1, 4000))) is None
    assert everything(raw) == before
    raw.set(KEPT_BYTES, 10_000)
    assert await store.quarantine(late(ResourceKey("report/8"), body=_noise(1))) is None


async def test_what_is_kept_is_counted_anew(store: FenceStore, raw: Any) -> None:
    """What expired was not taken off, and has left its list then."""
    first, _ = [await quarantined(store, late(body=_noise(at))) for at in range(2)]
    counted = int(raw.get(KEPT_BYTES))
    assert await recount(store) == counted
    raw.delete(kept_request(SHARD, first))

    assert 0 < await recount(store) < counted
    assert int(raw.get(KEPT_BYTES)) == await recount(store)
    assert raw.zcard(LIST) == 1


@pytest.mark.parametrize("at_once", [1, 2, 3, 5, 6])
async def test_a_long_list_is_counted_in_several_steps(
    store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Nobody waits for the whole of it; what expired meanwhile makes nothing be passed over."""
    kept = [await quarantined(store, late(body=_noise(at))) for at in range(7)]
    for gone in (kept[0], kept[3]):
        raw.delete(kept_request(SHARD, gone))
    sizes = (raw.hget(kept_request(SHARD, id), "size") for id in kept)
    monkeypatch.setattr("gateway.store.views.quarantine._COUNTED_AT_ONCE", at_once)

    assert await recount(store) == sum(int(size) for size in sizes if size)
    assert raw.zcard(LIST) == 5


async def test_it_expires_by_itself(store: FenceStore, raw: Any) -> None:
    """An entry whose record has gone is passed over."""
    store.quarantine_bounds = QuarantineBounds(60.0, 1 << 20)
    id = await quarantined(store, late())
    assert 50_000 < raw.pttl(kept_request(SHARD, id)) <= 60_000
    raw.delete(kept_request(SHARD, id))

    assert (await ids(store), await late_result(store, id)) == ([], None)


async def test_a_dropped_one_is_gone_and_the_trail_says_why(store: FenceStore, raw: Any) -> None:
    """A second time nothing happens."""
    id = await quarantined(store, late())
    found = await late_result(store, id)
    assert found is not None

    for _ in range(2):
        await drop(store, found[0], note="sent by hand", by="operator")

    trail = (await events(store, Events(intent=id), None)).items
    steps = [(event.before, event.after, event.reason, event.holder, event.epoch) for event in trail]
    assert steps == [
        ("quarantined", "dropped", "sent by hand", "agent-a", "41"),
        ("", "quarantined", "stale-epoch", "agent-a", "41"),
    ]
    assert trail[0].by == "operator"
    assert (await ids(store), int(raw.get(KEPT_BYTES)), raw.keys("fg:*:[rk]:*")) == ([], 0, [])


async def test_what_makes_room_leaves_a_trace(store: FenceStore) -> None:
    """Nothing is lost without a word."""
    first, *_ = [await quarantined(store, late(body=b"%d" % at)) for at in range(21)]

    newest = (await events(store, Events(intent=first), None)).items[0]

    assert (newest.after, newest.reason) == ("dropped", "its room was needed")


async def test_a_list_has_pages_and_can_be_narrowed(store: FenceStore) -> None:
    """By resource and by rule; the newest first."""
    send = replace(RULE, name="send")
    kept = [await quarantined(store, late(ResourceKey(f"report/{at}"))) for at in range(101)]
    sent = await quarantined(store, late(ResourceKey("report/5"), of=send, body=b"mail"))

    page = await late_results(store, NOBODYS, None)
    rest = await late_results(store, NOBODYS, page.next)

    assert [found.id for found in (*page.items, *rest.items)] == [sent, *reversed(kept)]
    assert (len(page.items), rest.next) == (100, None)
    assert await ids(store, Sought(resource=ResourceKey("report/5"))) == [sent, kept[5]]
    assert await ids(store, Sought(rule="send")) == [sent]
    assert await ids(store, Sought(ResourceKey("report/6"), "send")) == []
    with pytest.raises(BadCursor):
        await late_results(store, NOBODYS, "elsewhere")


@pytest.mark.parametrize("id", ["", "7", "zzz", "3ff", "fffno", "3ff" + "x" * 22, "3ff/../x", "*"])
async def test_an_id_that_is_none_leads_to_nothing(store: FenceStore, id: str) -> None:
    """Whatever stands in it."""
    assert await late_result(store, id) is None


@pytest.mark.parametrize("key", [LIST, audit_trail(SHARD), f"fg:{{{SHARD}}}:n", resource_keys(SEVEN)[0]])
async def test_a_key_of_the_wrong_type_leaves_nothing_half_done(store: FenceStore, raw: Any, key: str) -> None:
    """What a script writes to is looked at before its first write."""
    raw.rpush(key, "no record")
    before = everything(raw)

    with pytest.raises(StoreUnavailable, match="WRONGTYPE"):
        await store.quarantine(late())

    assert everything(raw) == before


async def test_a_full_store_keeps_nothing_and_loses_nothing(store: FenceStore, raw: Any) -> None:
    """Out of memory: fencing goes on, and what was kept stays."""
    await quarantined(store, late())
    before = everything(raw)
    raw.config_set("maxmemory", 1)
    try:
        with pytest.raises(StoreUnavailable, match="OOM"):
            await store.quarantine(late(body=b"another"))
    finally:
        raw.config_set("maxmemory", 0)

    assert everything(raw) == before


def _noise(seed: int, length: int = 900) -> bytes:
    """Bytes that cannot be deflated."""
    return random.Random(seed).randbytes(length)
