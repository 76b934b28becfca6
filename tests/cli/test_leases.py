"""`fencegate leases` against a running gateway."""

import json

import pytest

from gateway.core.lease import Lease
from gateway.core.write import ResourceKey
from tests.admin.conftest import Admin
from tests.cli.operating import operate
from tests.store.fences import SECRET


async def test_a_live_lease_is_a_line(admin: Admin) -> None:
    """Released ones are not shown."""
    for number, holder in ((7, "agent-a"), (8, "agent-b"), (9, "agent-a")):
        resource = ResourceKey(f"report/{number}")
        lease = await admin.store.grant(resource, holder, SECRET, ttl_ms=60_000, takeover=False, watch=False)
        assert isinstance(lease, Lease)
        if number == 9:
            await admin.store.release(resource, lease.epoch, SECRET)

    shown = await operate(admin.port, "leases")

    head, *lines = shown.out.splitlines()
    assert head.split() == ["RESOURCE", "HOLDER", "EPOCH", "UNTIL", "IN", "FLIGHT"]
    assert sorted(line.split()[:2] for line in lines) == [["report/7", "agent-a"], ["report/8", "agent-b"]]


@pytest.mark.slow
async def test_leases_are_those_that_are_asked_for(admin: Admin) -> None:
    """By the beginning of a resource's name, and by holder; as JSON too."""
    for name, holder in (("report/7", "agent-a"), ("report/8", "agent-b"), ("order/1", "agent-b")):
        await admin.store.grant(ResourceKey(name), holder, SECRET, ttl_ms=60_000, takeover=False, watch=False)

    of_holder = await operate(admin.port, "leases", "list", "report/", "--holder", "agent-b", "--json")
    of_nobody = await operate(admin.port, "leases", "--holder", "agent-c")
    first = await operate(admin.port, "leases", "--limit", "1", "--json")

    assert [lease["resource"] for lease in json.loads(of_holder.out)] == ["report/8"]
    assert of_nobody.out == "There is no live lease of this kind.\n"
    assert len(json.loads(first.out)) == 1
    assert first.err == "There are more than 1: --limit N shows more.\n"
