"""A gateway whose records have to be at a replica: nothing is sent because of one that is not."""

from pathlib import Path

from tests.raw import ask
from tests.stack import stack
from tests.store.replicas import replicated
from tests.until import until


async def test_nothing_is_forwarded_that_no_replica_knows_of(tmp_path: Path) -> None:
    """503, and the upstream sees nothing; with the replica writes pass again, and no unheard lease is in the way."""
    with replicated(tmp_path / "store") as pair:
        async with stack(pair.url, tmp_path, durability="replica:1", store_timeout_s=0.5) as to:

            async def is_granted() -> bool:
                return (await to.lease("report/7", takeover=True)).status == 201

            async def passes() -> bool:
                return (await to.write("/reports/7")).status == 200

            async def is_free() -> bool:
                return (await to.lease("report/8", "agent-c")).status == 201

            await until(is_granted)
            await until(passes)
            before = len(to.upstream.seen)
            with pair.paused():
                refused = await to.write("/reports/7")
                lease = await to.lease("report/8", "agent-b")
                between = len(to.upstream.seen)
                read = await ask(to.port, "GET", "/reports/7")
            await until(passes)
            await until(is_free)

    assert (refused.status, refused.decision, refused.problem["action"]) == (503, "store-unavailable", "retry")
    assert (lease.status, lease.decision) == (503, "store-unavailable")
    assert between == before
    assert read.status == 200
