"""A node of a cluster that went back in time stops its own shards, and no others."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.lease import Lease
from gateway.core.write import AdmitReply, ResourceKey, Write
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys, shard_of, shards
from gateway.store.links.slots import slot_of
from gateway.store.links.topology import places
from gateway.store.loss import losses
from gateway.store.loss.incarnation import Incarnation
from tests.store.fences import RESOURCE, ask, bare, ended, granted, leased, name_of
from tests.store.losing import remembering
from tests.store.topology.cluster import ClusterOfNodes, start_cluster
from tests.until import until

pytestmark = pytest.mark.slow


async def test_one_node_of_a_cluster_is_emptied(cluster: ClusterOfNodes) -> None:
    """Each node has marks and an incarnation of its own; writes of the other nodes' shards go on."""
    cluster.flush()
    async with remembering(cluster.url) as one:
        await one.mark()
        lease = await granted(one.store)
        emptied = cluster.owner(resource_keys(RESOURCE)[0])
        other = next(
            ResourceKey(f"report/{number}")
            for number in range(1000)
            if cluster.owner(resource_keys(ResourceKey(f"report/{number}"))[0]) is not emptied
        )
        elsewhere = await one.store.grant(other, "A", b"0" * 16, ttl_ms=60_000, takeover=False, watch=False)
        emptied.ask("FLUSHALL")
        await one.mark()
        await until(lambda: bool(one.told))

        assert len(places(one.store.link)) == 3
        assert name_of(await ask(one.store, leased(lease.epoch))) == "store-regressed"
        assert isinstance(elsewhere, Lease)
        assert name_of(await one.store.renew(other, elsewhere.epoch, b"0" * 16)) == "Lease"
        states = await losses.states(one.store)
        assert sorted(state.is_regressed for state in states) == [False, False, True]
        with cluster.client() as raw:
            stopped = [shard for shard in shards() if raw.exists(f"fg:{{{shard}}}:lost")]
        assert 0 < len(stopped) < 500
        assert all(cluster.owner(f"fg:{{{shard}}}:lost") is emptied for shard in stopped)

        assert await losses.accept(one.store, note="looked", by="operator") == 0
        assert await losses.regressed(one.store) is None


async def test_a_node_that_was_emptied_lets_nobody_in_before_a_mark_is_missed(cluster: ClusterOfNodes) -> None:
    """Its shards began anew, and those of the other nodes did not; one that moved to another node is the same there."""
    cluster.flush()
    fences = [resource_keys(ResourceKey(f"report/{number}"))[0] for number in range(1000)]
    fence = resource_keys(RESOURCE)[0]
    emptied = cluster.owner(fence)
    other = next(at for at, key in enumerate(fences) if cluster.owner(key) is not emptied)
    async with remembering(cluster.url) as one:
        assert one.store.marking is not None
        one.store.marking.cancel()
        moves = slot_of(fences[other]), cluster.owner(fences[other])
        emptied.ask("FLUSHALL")
        cluster.move(*moves, emptied)
        try:
            elsewhere = replace(bare(42), resource=ResourceKey(f"report/{other}"))
            assert name_of(await ask(one.store, bare(42))) == "store-regressed"
            assert name_of(await ask(one.store, elsewhere)) == "Admitted"
            assert emptied.ask("EXISTS", fence) == 0
        finally:
            cluster.move(moves[0], emptied, moves[1])


@pytest.fixture
def partial(tmp_path: Path) -> Iterator[ClusterOfNodes]:
    """A cluster of the test's own, in which the others go on without a node, and which keeps nothing on a disk."""
    cluster = start_cluster(tmp_path / "cluster", 3, options=("--cluster-require-full-coverage", "no"))
    yield cluster
    cluster.stop()


@pytest.mark.parametrize("at", range(3), ids=["the first", "the second", "the third"])
async def test_one_primary_that_is_away_keeps_no_other_from_its_mark(partial: ClusterOfNodes, at: int) -> None:
    """Wherever it stands in the order. What the others acknowledge is not gathered meanwhile, a process that cannot
    mark the one is not silent, and the loss of another is told."""
    away = partial.primaries[at]
    async with remembering(partial.url, timeout_s=0.5) as one:
        resources = [ResourceKey(f"report/{number}") for number in range(50)]
        alive = [resource for resource in resources if partial.owner(resource_keys(resource)[0]) is not away]
        emptied = partial.owner(resource_keys(alive[0])[0])
        away.stop()
        for epoch in (41, 42, 43):
            for resource in alive:
                await ended(one.store, replace(bare(epoch), resource=resource), "applied")
            for _ in range(4):
                one.incarnation.failed()
            with pytest.raises(StoreUnavailable):
                await one.mark()
            assert len(list(one.incarnation.recent.proofs(0.0))) == 0

        assert not one.incarnation.is_silent
        emptied.ask("FLUSHALL")
        with pytest.raises(StoreUnavailable):
            await one.mark()
        await until(lambda: bool(one.told))


@contextlib.asynccontextmanager
async def beginning(url: str) -> AsyncIterator[tuple[FenceStore, Incarnation]]:
    """A gateway that has been there for a moment, and has not yet met all servers."""
    incarnation = Incarnation(None, BootClock(), lambda _: None)
    began = time.monotonic()
    store = await open_store(url, on_wake=lambda _: None, timeout_s=1.0, clock=BootClock(), incarnation=incarnation)
    try:
        await until(lambda: time.monotonic() > began + 1.0)
        yield store, incarnation
    finally:
        await store.close()


async def once_answered(store: FenceStore, write: Write) -> AdmitReply:
    while True:
        with contextlib.suppress(StoreUnavailable):
            return await ask(store, write)


async def test_a_gateway_that_begins_while_a_primary_is_away_admits_nothing_older(partial: ClusterOfNodes) -> None:
    """It knows nothing of that primary's shards: what comes back is heard of from those that do, before anything is
    written there, and the shard's origin is learned before its first write is judged."""
    away = partial.owner(resource_keys(RESOURCE)[0])
    async with remembering(partial.url) as knows:
        assert name_of(await ask(knows.store, bare(42))) == "Admitted"
        await knows.mark()
        away.stop()
        async with beginning(partial.url) as (begins, incarnation):
            older = asyncio.ensure_future(once_answered(begins, bare(41)))
            assert shard_of(RESOURCE) not in incarnation.recent.origins
            away.start()

            assert name_of(await older) == "store-regressed"
            assert len(knows.told) == 1
            assert shard_of(RESOURCE) in incarnation.recent.origins
