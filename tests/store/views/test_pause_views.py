"""What operators see of pauses."""

import pytest

from gateway.core.pause import Scope, WidePause
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.intents import Pause, Resolve, pause, resolve, resume
from gateway.store.keys import shard_of
from gateway.store.pauses import begin_pause, new_pause_id
from gateway.store.views.page import PAGE, BadCursor
from gateway.store.views.pause_views import find_pause, new_id, pause_of, pauses
from tests.intending import SEVEN, ended, intended


async def stop(store: FenceStore, resource: ResourceKey, reason: str = "sent twice") -> Pause:
    return await pause(store, resource, id=new_id(resource), reason=reason, by="operator")


async def test_a_pause_is_found_in_every_way(store: FenceStore) -> None:
    """In the list, by its resource, by its id; until it ends."""
    begun = await stop(store, SEVEN)

    assert (await pauses(store, None)).items == (begun,)
    assert await pause_of(store, SEVEN) == begun
    assert await find_pause(store, begun.id) == begun

    await resume(store, begun)

    assert (await pauses(store, None)).items == ()
    assert await pause_of(store, SEVEN) is None
    assert await find_pause(store, begun.id) is None


async def test_a_pause_by_an_incident_is_found_by_the_intents_id(store: FenceStore) -> None:
    """A query that finds an effect twice stops the resource."""
    admitted = await ended(store, intended("k-1"), "unknown")
    record = await store.recall(admitted.intent)
    assert record is not None
    await resolve(store, record, Resolve("duplicated", "query", "found twice", "gateway-1"))

    found = await find_pause(store, admitted.intent)

    assert found is not None
    assert (found.resource, found.by) == (SEVEN, "gateway-1")


async def test_pauses_are_listed_newest_first(store: FenceStore) -> None:
    """Page after page, each once; a name may hold whatever a name holds."""
    made = [(await stop(store, ResourceKey(f"report/{number} é.x"))).id for number in range(PAGE + 3)]

    page = await pauses(store, None)
    rest = await pauses(store, page.next)

    assert rest.next is None
    found = [one.id for one in (*page.items, *rest.items)]
    assert sorted(found) == sorted(made)
    instants = [one.created_at_ms for one in (*page.items, *rest.items)]
    assert instants == sorted(instants, reverse=True)


async def test_another_pause_of_the_shard_is_not_this_one(store: FenceStore) -> None:
    """An id names one pause, and what is no id names none."""
    begun = await stop(store, SEVEN)

    for id in (f"{shard_of(SEVEN)}0", begun.id[:-1], "", "x", "400abc", f"{begun.id} "):
        assert await find_pause(store, id) is None


async def test_a_cursor_that_was_not_handed_out_is_an_error(store: FenceStore) -> None:
    """As in the other lists."""
    with pytest.raises(BadCursor):
        await pauses(store, "next please")


async def test_wide_pauses_are_listed_among_those_of_resources(store: FenceStore) -> None:
    """All of them by their instants, page after page, each once; and found by their ids."""
    made: list[str] = []
    for number in range(PAGE // 2 + 3):
        made.append((await stop(store, ResourceKey(f"report/{number}"))).id)
        wide = await begin_pause(
            store, Scope("holder", f"agent-{number}"), id=new_pause_id(), reason="sent twice", by="operator"
        )
        assert isinstance(wide, WidePause)
        assert await find_pause(store, wide.id) == wide
        made.append(wide.id)

    page = await pauses(store, None)
    rest = await pauses(store, page.next)

    assert (len(page.items), rest.next) == (PAGE, None)
    listed = [*page.items, *rest.items]
    assert sorted(one.id for one in listed) == sorted(made)
    instants = [one.created_at_ms for one in listed]
    assert instants == sorted(instants, reverse=True)
