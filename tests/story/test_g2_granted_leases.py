"""G2: from the moment a lease is granted the older holder is refused, even if the new one has written nothing."""

from pathlib import Path

import pytest

from tests.recording import RecordingUpstream
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policy

pytestmark = pytest.mark.promise("G2")


async def test_a_grant_through_one_gateway_refuses_the_older_holder_at_the_other(
    shared_store: Server, tmp_path: Path
) -> None:
    """B takes over at the second gateway, which is then killed; A is refused at the first all the same."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with Gateway(policies, tmp_path / "one", shared_store.url) as one:
            a = await one.lease("leased/7", "a")
            written = await one.put_leased("7", str(a["token"]), b'"a"')
            async with Gateway(policies, tmp_path / "two", shared_store.url) as two:
                b = await two.lease("leased/7", "b", takeover=True)
                await two.kill()
            late = await one.put_leased("7", str(a["token"]), b'"a again"')
            new = await one.put_leased("7", str(b["token"]), b'"b"')

        assert (written.status, late.status, new.status) == (200, 412, 200)
        assert (late.decision, late.problem["highest_epoch"]) == ("stale-epoch", b["epoch"])
        assert [seen.body for seen in upstream.seen] == [b'"a"', b'"b"']


async def test_a_lease_that_ran_out_is_taken_without_asking(shared_store: Server, tmp_path: Path) -> None:
    """A's lease ends by the store's clock; B, who waits for it, gets it, and A's token never works again."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with Gateway(policies, tmp_path / "one", shared_store.url) as one:
            a = await one.lease("leased/7", "a", ttl_s=1)
            b = await one.lease("leased/7", "b", wait_s=10)
            late = await one.put_leased("7", str(a["token"]))

        assert int(str(b["epoch"])) > int(str(a["epoch"]))
        assert late.decision == "stale-epoch"
        assert upstream.seen == []
