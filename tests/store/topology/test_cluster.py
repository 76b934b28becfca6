"""A real cluster: every key is found wherever it is, and what the nodes say of moved slots reaches no caller."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from gateway.core.budget import Budget
from gateway.core.faults import StoreUnavailable
from gateway.core.write import ResourceKey, TicketId, Write
from gateway.store.budgets import reserve
from gateway.store.fence import FenceStore
from gateway.store.keys import budget_keys, resource_keys, wake_channel
from gateway.store.links.slots import slot_of
from gateway.store.views.census import Counting
from gateway.store.views.resource_views import resources
from tests.store.fences import RESOURCE, admitted, bare, ended, keyed, opened, rule
from tests.store.load import load
from tests.store.topology.cluster import ClusterOfNodes, begin_move
from tests.store.topology.guarded import GuardedServers
from tests.store.topology.node import Node
from tests.until import until

# So many are on each of the nodes.
NAMES = [ResourceKey(f"report/{number}") for number in range(60)]
FENCE = resource_keys(RESOURCE)[0]


def write_of(resource: ResourceKey) -> Write:
    return Write(rule(counts=True), resource, bare(42).epoch, "A", None)


@pytest.fixture
def cluster_url(cluster: ClusterOfNodes) -> str:
    cluster.flush()
    return cluster.url


@pytest.fixture
async def store(cluster_url: str) -> AsyncIterator[FenceStore]:
    async with opened(cluster_url) as store:
        yield store


def ends_of(cluster: ClusterOfNodes, key: str) -> tuple[int, Node, Node]:
    """The key's slot, the node that has it, and another one."""
    source = cluster.owner(key)
    return slot_of(key), source, next(node for node in cluster.primaries if node is not source)


@contextlib.contextmanager
def moved(cluster: ClusterOfNodes, key: str) -> Iterator[None]:
    """Its slot is at another node within the block, and back after it."""
    slot, source, target = ends_of(cluster, key)
    cluster.move(slot, source, target)
    try:
        yield
    finally:
        cluster.move(slot, target, source)


@contextlib.contextmanager
def on_the_move(cluster: ClusterOfNodes, key: str) -> Iterator[tuple[Node, Node]]:
    """Its slot is on its way to another node within the block; no key has been moved yet."""
    slot, source, target = ends_of(cluster, key)
    begin_move(slot, source, target)
    try:
        yield source, target
    finally:
        for node in (source, target):
            node.ask("CLUSTER", "SETSLOT", slot, "STABLE")


def put_off(store: FenceStore) -> bool:
    """Whether a node has said that a call has to come again."""
    return any("TRYAGAIN" in (call.why or "") for node in store.link.servers for call in node._put_off)


async def test_each_resource_is_on_the_node_of_its_slot(store: FenceStore, cluster: ClusterOfNodes) -> None:
    """Writes, settles and looks are asked of it, and all nodes together show what there is."""
    for name in NAMES:
        await ended(store, write_of(name), "applied")

    on_each = [node.ask("KEYS", "fg:*:f:*") for node in cluster.primaries]
    assert sum(map(len, on_each)) == len(NAMES) and all(on_each)
    assert [await store.revision(name) for name in NAMES] == [1] * len(NAMES)

    shown, cursor = set(), None
    while True:
        page = await resources(store, "", cursor)
        shown |= {record.resource for record in page.items}
        if (cursor := page.next) is None:
            break
    assert shown == set(NAMES)


async def test_a_slot_that_has_moved_is_followed(store: FenceStore, cluster: ClusterOfNodes) -> None:
    """The write after the move finds its record, and none is refused."""
    await ended(store, write_of(RESOURCE), "applied")

    with moved(cluster, FENCE):
        assert (await admitted(store, write_of(RESOURCE))).revision == 1
        assert cluster.owner(FENCE).ask("EXISTS", FENCE) == 1


async def test_a_single_key_is_found_where_it_is_while_its_slot_moves(
    store: FenceStore, cluster: ClusterOfNodes
) -> None:
    """The node that it comes from says which one to ask, for this once."""
    await ended(store, write_of(RESOURCE), "applied")

    with on_the_move(cluster, FENCE) as (source, target):
        source.ask("MIGRATE", "127.0.0.1", target.port, FENCE, 0, 5000)
        epoch = await store.link.call("HGET", FENCE, "e")
        # The others of the slot have not moved, and are found as well.
        trail = await store.link.call("XLEN", resource_keys(RESOURCE)[5])

        assert (epoch, trail) == (b"42", 2)
        source.ask("FLUSHALL")
        target.ask("FLUSHALL")


async def test_no_script_runs_in_a_slot_that_moves(store: FenceStore, cluster: ClusterOfNodes) -> None:
    """It finds keys by itself, and some may be at the other node: it is put off until the slot has arrived."""
    await ended(store, write_of(RESOURCE), "applied")

    with on_the_move(cluster, FENCE):
        waiting = asyncio.ensure_future(admitted(store, write_of(RESOURCE)))
        await until(lambda: put_off(store))

    assert (await waiting).revision == 1


async def test_no_budget_is_reserved_in_a_slot_that_moves(store: FenceStore, cluster: ClusterOfNodes) -> None:
    """Where its slot goes nothing seems to be used yet."""
    of = replace(rule(), budgets=(Budget("tenant", 1000, count=1),))
    write = replace(keyed(write_of(RESOURCE)), rule=of, costs=(0,))
    assert await reserve(store, write, TicketId("one")) is None

    with on_the_move(cluster, budget_keys(of.upstream.name, of.name)):
        another = replace(keyed(write, digest=f"{'another':-<22}"), rule=of)
        waiting = asyncio.ensure_future(reserve(store, another, TicketId("another")))
        await until(lambda: put_off(store))

    refused = await waiting
    assert refused is not None and refused.decision.name == "quota-exceeded"


async def test_forgotten_scripts_are_sent_again_to_each_node(store: FenceStore, cluster: ClusterOfNodes) -> None:
    """Scripts and functions are flushed over and over under load: no caller hears of it, nothing runs twice."""
    async with load(store) as so_far:
        for _ in range(3):
            for node in cluster.primaries:
                node.ask("SCRIPT", "FLUSH")
                node.ask("FUNCTION", "FLUSH")
            total = so_far.total
            await until(lambda total=total: so_far.total > total + 50)


async def test_what_is_published_at_any_node_is_heard(cluster: ClusterOfNodes, cluster_url: str) -> None:
    """One subscription, at whichever node, is enough."""
    heard: list[ResourceKey | None] = []
    async with opened(cluster_url, heard.append, gateway="listener"):
        await until(lambda: None in heard)
        for node in cluster.primaries:
            node.ask("PUBLISH", wake_channel("listener"), f"report/{node.port}")

        await until(lambda: {f"report/{node.port}" for node in cluster.primaries} <= set(heard))


async def test_a_cluster_that_cannot_be_reached_is_told_with_its_reason() -> None:
    """And without the password of its URL."""
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:1") as raised:
        async with opened("redis+cluster://fence:hunter2@127.0.0.1:1", timeout_s=0.2):
            pass

    assert "hunter2" not in str(raised.value)


async def test_one_server_is_no_cluster(guarded: GuardedServers) -> None:
    """The server's own words say so."""
    with pytest.raises(StoreUnavailable, match="cluster support disabled"):
        async with opened(f"redis+cluster://{guarded.servers[0].address}", timeout_s=0.2):
            pass


async def test_a_census_is_of_all_nodes(store: FenceStore) -> None:
    """Each shard's numbers come from wherever it is."""
    for resource in NAMES[:20]:
        await admitted(store, replace(write_of(resource), rule=rule()))
    for resource in NAMES[20:30]:
        await ended(store, write_of(resource), "unknown")

    census = await Counting(store, asyncio.get_running_loop().time).census()

    assert (census.intents["in_flight"], census.intents["unknown"], len(census.in_flight)) == (20, 10, 20)
