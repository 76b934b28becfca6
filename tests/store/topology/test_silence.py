"""A cluster of which one node is dead: what answers is shown, and what does not is told."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.write import ResourceKey
from gateway.store.collect import collect
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.loss import losses
from gateway.store.views import audit_views
from gateway.store.views.audit_views import Sought
from gateway.store.views.intent_views import intents
from gateway.store.views.pause_views import pauses
from gateway.store.views.resource_views import resources
from tests.store.fences import opened
from tests.store.topology.cluster import ClusterOfNodes, start_cluster
from tests.store.topology.test_cluster import write_of
from tests.until import until

pytestmark = pytest.mark.slow

NAMES = [ResourceKey(f"report/{number}") for number in range(30)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ClusterOfNodes]:
    """Of nodes that answer for their own slots, whatever became of the others."""
    cluster = start_cluster(tmp_path / "cluster", options=("--cluster-require-full-coverage", "no"))
    yield cluster
    cluster.stop()


@pytest.fixture
async def store(cluster: ClusterOfNodes) -> AsyncIterator[FenceStore]:
    async with opened(cluster.url, timeout_s=2.0) as store:
        yield store


async def test_lists_show_what_answers_and_say_what_does_not(cluster: ClusterOfNodes, store: FenceStore) -> None:
    """Resources, events, intents, pauses; nothing of the living nodes is missing."""
    for name in NAMES:
        await store.admit(write_of(name), store.new_ticket(name), ttl_s=30.0, queued=False, behind=0)
    dead = cluster.owner(resource_keys(NAMES[0])[0])
    alive = {name for name in NAMES if cluster.owner(resource_keys(name)[0]) is not dead}
    dead.stop()
    await until(lambda: not all(server.healthy for server in store.link.servers))

    found, cursor, incomplete = set(), None, None
    while True:
        page = await resources(store, "", cursor)
        found |= {record.resource for record in page.items}
        incomplete, cursor = page.incomplete or incomplete, page.next
        if cursor is None:
            break
    events = await audit_views.events(store, Sought(), None)
    unknown, paused = await asyncio.gather(intents(store, "unknown", None), pauses(store, None))

    assert found == alive
    assert {event.resource for event in events.items} == alive
    for told in (incomplete, events.incomplete, unknown.incomplete, paused.incomplete):
        assert told is not None
        assert f" of 1024 shards do not answer: {dead.address}: " in told
    assert (await collect(store, "", None, looks=True)).incomplete is not None or await _is_told_later(store)


async def _is_told_later(store: FenceStore) -> bool:
    """The way goes through one node after the other."""
    cursor = (await collect(store, "", None, looks=True)).next
    while cursor is not None:
        found = await collect(store, "", cursor, looks=True)
        if found.incomplete is not None:
            return True
        cursor = found.next
    return False


async def test_the_store_says_which_of_its_servers_is_away(cluster: ClusterOfNodes, store: FenceStore) -> None:
    """Of the others all is told. A loss there may be one is not accepted half."""
    dead = cluster.primaries[1]
    dead.stop()
    await until(lambda: not all(server.healthy for server in store.link.servers))

    states = await losses.states(store)

    assert [state.away is not None for state in states].count(True) == 1
    (away,) = (state.away for state in states if state.away is not None)
    assert away.startswith(f"{dead.address}: ")
    with pytest.raises(StoreUnavailable):
        await losses.regressed(store)
    with pytest.raises(StoreUnavailable):
        await losses.accept(store, note="looked", by="operator")
    for node in cluster.primaries:
        node.stop()
    with pytest.raises(StoreUnavailable):
        await losses.states(store)
