"""What a resource costs the store when nothing happens to it."""

import asyncio
from typing import Any

import pytest

from gateway.core.epoch import Epoch
from gateway.core.lease import Lease
from gateway.core.rule import Authority
from gateway.core.write import Admitted, ResourceKey, Write
from gateway.store.fence import FenceStore
from tests.store.fences import SECRET, TTL_S, rule

BYTES_EACH = 200
_AT_ONCE = 500


async def write_once(store: FenceStore, authority: Authority, resource: ResourceKey) -> None:
    """A lease granted, one write applied, the lease released; or one write under an epoch granted elsewhere."""
    if authority == "lease":
        lease = await store.grant(resource, "agent-17", SECRET, ttl_ms=60_000, takeover=False, watch=False)
        assert isinstance(lease, Lease)
        write = Write(rule(authority="lease"), resource, lease.epoch, None, SECRET)
    else:
        write = Write(rule(), resource, Epoch(1_790_000_000_000), "agent-17", None)
    reply = await store.admit(write, store.new_ticket(resource), ttl_s=TTL_S, queued=False, behind=0)
    assert isinstance(reply, Admitted)
    await store.settle(reply, "applied", "answered 200", None)
    if authority == "lease":
        await store.release(resource, write.epoch, SECRET)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("authority", ["lease", "header"])
@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
async def test_an_idle_resource_costs_at_most_200_bytes(
    store: FenceStore, raw: Any, authority: Authority, count: int
) -> None:
    """Names of 32 bytes; the store's own figure before and after, divided by their number."""
    before = raw.info("memory")["used_memory"]
    for first in range(0, count, _AT_ONCE):
        names = (ResourceKey(f"resource/{number:023d}") for number in range(first, first + _AT_ONCE))
        await asyncio.gather(*(write_once(store, authority, name) for name in names))

    assert (raw.info("memory")["used_memory"] - before) / count <= BYTES_EACH
