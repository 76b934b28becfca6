"""A whole gateway on a cluster: what agents see is what they see on one server."""

from pathlib import Path

import pytest

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys
from gateway.store.links.slots import slot_of
from tests.stack import stack
from tests.store.topology.cluster import ClusterOfNodes, begin_move

_NAMES = range(12)


async def test_leases_takeovers_and_stale_writes(cluster: ClusterOfNodes, tmp_path: Path) -> None:
    """On resources of all nodes."""
    cluster.flush()
    async with stack(cluster.url, tmp_path) as gateway:
        for name in _NAMES:
            await gateway.lease(f"report/{name}", f"a{name}")
            first = await gateway.write(f"/reports/{name}", holder=f"a{name}")
            await gateway.lease(f"report/{name}", f"b{name}", takeover=True)
            stale = await gateway.write(f"/reports/{name}", holder=f"a{name}")
            second = await gateway.write(f"/reports/{name}", holder=f"b{name}")
            assert (first.status, stale.decision, second.status) == (200, "stale-epoch", 200)

        assert len(gateway.upstream.seen) == 2 * len(_NAMES)


@pytest.mark.slow
async def test_a_slot_that_does_not_stop_moving(cluster: ClusterOfNodes, tmp_path: Path) -> None:
    """Its writes are told to come again, and nothing of them is forwarded; those of others go on."""
    cluster.flush()
    key = resource_keys(ResourceKey("report/7"))[0]
    source = cluster.owner(key)
    target = next(node for node in cluster.primaries if node is not source)
    async with stack(cluster.url, tmp_path) as gateway:
        for name in (7, 8):
            await gateway.lease(f"report/{name}", f"a{name}")
        begin_move(slot_of(key), source, target)
        try:
            held = await gateway.write("/reports/7", holder="a7")
            other = await gateway.write("/reports/8", holder="a8")
        finally:
            for node in (source, target):
                node.ask("CLUSTER", "SETSLOT", slot_of(key), "STABLE")
        after = await gateway.write("/reports/7", holder="a7")

        assert (held.status, held.decision, held.value("Retry-After")) == (503, "store-unavailable", "1")
        assert (other.status, after.status, len(gateway.upstream.seen)) == (200, 200, 2)
