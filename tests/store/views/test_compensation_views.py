"""What operators see of a compensation, and what the audit trail says of the resource since."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.compensation import Unavailable
from gateway.core.intent import IntentId
from gateway.core.rule import Fence
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, shard_of
from gateway.store.views.compensation_views import compensation_of, undo_of
from tests.store.compensating import UNDO, UNDOABLE, applied, record
from tests.store.fences import HELD, RESOURCE, admitted, bare, ended, keyed, settled

BESIDE = replace(HELD, fence=Fence(concurrency="parallel"))


@pytest.mark.parametrize("undo", [UNDO, Unavailable("the request has no `query.q`")], ids=["request", "unavailable"])
async def test_it_is_shown_as_it_was_kept(store: FenceStore, undo: Any) -> None:
    """The request byte for byte, or why there is none."""
    first = await applied(store, undo)

    found = await compensation_of(store, first)

    assert found is not None
    assert (found.undo, await undo_of(store, first.id)) == (undo, undo)


async def test_without_a_compensation_there_is_none(store: FenceStore) -> None:
    """Its rule has none; or it is no id."""
    await ended(store, keyed(bare(42, of=HELD)), "applied")

    assert await compensation_of(store, await record(store)) is None
    assert await undo_of(store, IntentId("no id")) is None


async def test_what_was_in_flight_beside_it_and_ended_later_was_written_since(store: FenceStore) -> None:
    """Nobody knows which of the two came first at the upstream."""
    other = await admitted(store, keyed(bare(42, of=BESIDE), digest=f"{'other':-<22}"))
    first = await applied(store, of=BESIDE)
    assert await written_since(store, first) is False

    await settled(store, other, "unknown")

    assert await written_since(store, first) is True


async def test_what_ended_before_was_not_written_since(store: FenceStore) -> None:
    """In the same millisecond or not: events have numbers."""
    one = await admitted(store, keyed(bare(42, of=BESIDE)))
    await ended(store, bare(42, of=BESIDE), "applied")
    await settled(store, one, "applied", UNDOABLE)

    assert await written_since(store, await record(store)) is False


async def test_where_the_trail_no_longer_reaches_nobody_knows(store: FenceStore, raw: Any) -> None:
    """What was pruned may have been a write; one that is still there was."""
    first = await applied(store)
    await ended(store, bare(42, of=HELD), "not_applied")
    trail = audit_trail(shard_of(RESOURCE))
    raw.xtrim(trail, maxlen=1, approximate=False)
    assert await written_since(store, first) is None
    raw.xtrim(trail, maxlen=0, approximate=False)
    assert await written_since(store, first) is None

    await ended(store, bare(42, of=HELD), "applied")

    assert await written_since(store, first) is True


async def written_since(store: FenceStore, first: Any) -> bool | None:
    found = await compensation_of(store, first)
    assert found is not None
    return found.written_since
