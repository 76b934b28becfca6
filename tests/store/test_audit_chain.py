"""Verifying: a trail that was changed after it was sealed is told, and where."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.core.write import ResourceKey
from gateway.store.audit_chain import Finding, Head, checkpoint, verify
from gateway.store.audit_seals import STEP, seal
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, seals, shard_of
from gateway.store.prune import Retention, prune
from gateway.store.views.page import BadCursor
from tests.intending import SEVEN, ended, intended

SHARD = shard_of(SEVEN)
TRAIL = audit_trail(SHARD)
NUMBER = f"fg:{{{SHARD}}}:n"
WEEK_S = 604_800.0


async def write(store: FenceStore, count: int, *, name: str = "k") -> None:
    """Two events each, and a seal behind them."""
    for number in range(count):
        await ended(store, intended(f"{name}-{number}"), "applied")
    await seal(store)


async def verified(
    store: FenceStore, heads: Mapping[str, Head] | None = None, retain_s: float = WEEK_S
) -> tuple[int, list[Finding]]:
    """All of it, call after call."""
    events, findings, cursor = 0, list[Finding](), None
    while True:
        part = await verify(store, heads or {}, cursor, retain_s)
        events += part.events
        findings += part.findings
        cursor = part.next
        if cursor is None:
            return events, findings


async def places(store: FenceStore, heads: Mapping[str, Head] | None = None) -> list[tuple[str, str, int, int]]:
    _, findings = await verified(store, heads)
    return [(finding.kind, finding.shard, finding.first, finding.last) for finding in findings]


def ids(raw: Any) -> list[bytes]:
    return [id for id, _ in raw.xrange(TRAIL)]


def forge(raw: Any, at: int, *, drop: int = 1, put: tuple[dict[bytes, bytes], ...] = ()) -> None:
    """Write the trail anew: without `drop` events from position `at` on, and with others in their place."""
    entries = raw.xrange(TRAIL)
    changed = [(entries[at + number][0], fields) for number, fields in enumerate(put)]
    entries[at : at + drop] = changed
    raw.delete(TRAIL)
    for id, fields in entries:
        raw.xadd(TRAIL, fields, id=id)


async def test_a_trail_that_nobody_touched_is_whole(store: FenceStore) -> None:
    """In all shards, sealed or not yet, and also where it was cut at its old end."""
    for number in range(30):
        await ended(store, intended(f"k-{number}", ResourceKey(f"report/{number}")), "applied")
    assert await verified(store) == (60, [])
    await write(store, 20, name="s")
    await write(store, 20, name="l")
    await ended(store, intended("unsealed"), "applied")
    assert (await verified(store))[1] == []

    await prune(store, Retention(WEEK_S, 50))

    events, findings = await verified(store)
    assert findings == []
    assert events < 142


async def test_an_event_that_was_taken_out_is_told(store: FenceStore, raw: Any) -> None:
    """Amid the trail, by the numbers beside it."""
    await write(store, 5)
    raw.xdel(TRAIL, ids(raw)[4])

    assert await places(store) == [("missing", SHARD, 5, 5)]


async def test_an_event_that_was_changed_is_told(store: FenceStore, raw: Any) -> None:
    """By the seal behind it: one of the events since the seal before."""
    await write(store, 2)
    await write(store, 3, name="l")
    fields = raw.xrange(TRAIL)[6][1]
    forge(raw, 6, put=({b"e": fields[b"e"].replace(b"agent-a", b"agent-b")},))

    assert await places(store) == [("changed", SHARD, 5, 10)]


async def test_an_event_that_was_put_in_is_told(store: FenceStore, raw: Any) -> None:
    """Its number is another's."""
    await write(store, 2)
    fields = raw.xrange(TRAIL)[3][1]
    raw.xadd(TRAIL, fields)

    assert [kind for kind, *_ in await places(store)] == ["strange"]


async def test_the_newest_events_are_missed(store: FenceStore, raw: Any) -> None:
    """The shard's count and its seals say how many there were."""
    await write(store, 2)
    await ended(store, intended("unsealed"), "applied")
    raw.xdel(TRAIL, *ids(raw)[4:])
    assert await places(store) == [("missing", SHARD, 5, 6)]

    raw.set(NUMBER, 3)
    raw.xdel(TRAIL, *ids(raw)[3:])
    assert await places(store) == [("missing", SHARD, 4, 4)]


async def test_the_oldest_events_are_missed(store: FenceStore, raw: Any) -> None:
    """A trail is only ever cut behind a seal."""
    await write(store, 5)
    await write(store, 5, name="l")
    raw.xdel(TRAIL, *ids(raw)[:13])

    assert await places(store) == [("missing", SHARD, 11, 13)]


async def test_a_trail_that_is_gone_is_missed(store: FenceStore, raw: Any) -> None:
    """Unless all of it was old enough to be cut."""
    await write(store, 2)
    raw.delete(TRAIL)

    assert [(finding.kind, finding.last) for finding in (await verified(store))[1]] == [("missing", 4)]
    assert (await verified(store, retain_s=-60.0))[1] == []


async def test_only_a_checkpoint_shows_a_chain_that_was_made_anew(store: FenceStore, raw: Any) -> None:
    """Who can change the trail and its seals cannot change what was kept elsewhere."""
    await write(store, 3)
    heads = {head.shard: head for head in await checkpoint(store)}
    assert await places(store, heads) == []
    fields = raw.xrange(TRAIL)[2][1]
    forge(raw, 2, put=({b"e": fields[b"e"].replace(b"agent-a", b"agent-b")},))
    raw.delete(seals(SHARD))
    await seal(store)
    await write(store, 3, name="l")

    assert await places(store) == []
    assert [(kind, last) for kind, _, _, last in await places(store, heads)] == [("changed", 6)]


@pytest.mark.slow
async def test_a_checkpoint_is_missed_where_the_seals_are_gone(store: FenceStore, raw: Any) -> None:
    """What cannot be compared does not fit."""
    await write(store, 3)
    await write(store, 3, name="l")
    await prune(store, Retention(WEEK_S, 6))
    heads = {head.shard: head for head in await checkpoint(store)}
    assert await places(store, heads) == []
    raw.delete(seals(SHARD))

    assert [(kind, last) for kind, _, _, last in await places(store, heads)] == [("changed", 12)]


@pytest.mark.slow
async def test_a_trail_that_is_cut_while_it_is_gone_through_is_whole(
    store: FenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there a moment ago is not missed."""
    monkeypatch.setattr("gateway.store.audit_chain._EVENTS", 1)
    for name in "klmn":
        await write(store, STEP // 2, name=name)
    begun = await verify(store, {}, None, WEEK_S)
    while begun.next is not None and not begun.next.startswith(SHARD):
        begun = await verify(store, {}, begun.next, WEEK_S)
    within = await verify(store, {}, begun.next, WEEK_S)
    assert within.next is not None and within.next.startswith(SHARD)

    await prune(store, Retention(WEEK_S, STEP))

    rest = await verify(store, {}, within.next, WEEK_S)
    assert (rest.events, rest.findings) == (STEP, ())


async def test_a_checkpoint_shows_what_was_cut_off_since(store: FenceStore, raw: Any) -> None:
    """At the new end, whatever the shard's count says; and at the old end, that it can no longer be compared."""
    await write(store, 3)
    await write(store, 3, name="l")
    heads = {head.shard: head for head in await checkpoint(store)}
    raw.xdel(TRAIL, *ids(raw)[6:])
    raw.zremrangebyrank(seals(SHARD), -1, -1)
    raw.set(NUMBER, 6)
    assert await places(store) == []
    assert await places(store, heads) == [("missing", SHARD, 7, 12)]

    await write(store, 300, name="m")
    await prune(store, Retention(WEEK_S, 10))
    old = {SHARD: Head(SHARD, 6, "0" * 64)}
    assert [kind for kind, *_ in await places(store, old)] == ["gone"]


@pytest.mark.slow
async def test_a_long_trail_is_verified_in_parts(store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also within a shard; what is wrong is told once."""
    monkeypatch.setattr("gateway.store.audit_chain._EVENTS", STEP)
    await write(store, 700)
    raw.xdel(TRAIL, ids(raw)[600])

    first = await verify(store, {}, None, WEEK_S)
    within = await verify(store, {}, first.next, WEEK_S)
    assert first.next is not None and within.next is not None
    assert await places(store) == [("missing", SHARD, 601, 601)]


@pytest.mark.parametrize(
    "cursor",
    ["x", "000", "400....", "000.1-0.17.x", "000.1-0.-1..0", "000.x.1..0", "000.1.1..0", f"000.1-0.{'9' * 30}..0"],
)
async def test_a_cursor_that_was_not_handed_out_is_an_error(store: FenceStore, cursor: str) -> None:
    """It would begin anywhere."""
    with pytest.raises(BadCursor):
        await verify(store, {}, cursor, WEEK_S)
