"""G1: once an epoch has been seen, no write of an older epoch is admitted, through whichever gateway it comes."""

from pathlib import Path

import pytest

from tests.recording import RecordingUpstream
from tests.store.server import Server
from tests.story.gateways import Gateway, two_gateways, write_policy

pytestmark = pytest.mark.promise("G1")


async def test_the_newer_write_comes_first(shared_store: Server, tmp_path: Path) -> None:
    """B's 42 through one gateway, then A's 41 through the other: A is refused and the upstream has only B's."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            newer = await two.put("7", 42, "b", body=b'"b"')
            older = await one.put("7", 41, "a", body=b'"a"')

        assert (newer.status, newer.value("Fencing-Epoch")) == (200, "42")
        assert (older.status, older.decision) == (412, "stale-epoch")
        assert (older.problem["epoch"], older.problem["highest_epoch"]) == ("41", "42")
        assert [seen.body for seen in upstream.seen] == [b'"b"']


async def test_the_older_write_comes_first(shared_store: Server, tmp_path: Path) -> None:
    """A's 41, then B's 42: both are applied, in this order; A's next one is refused."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            first = await one.put("7", 41, "a", body=b'"a"')
            second = await two.put("7", 42, "b", body=b'"b"')
            late = await one.put("7", 41, "a", body=b'"a again"')

        assert [first.status, second.status, late.status] == [200, 200, 412]
        assert [seen.body for seen in upstream.seen] == [b'"a"', b'"b"']


async def test_epochs_are_remembered_over_a_crash_of_everything(tmp_path: Path) -> None:
    """kill -9 of the gateway takes its store with it; started again on the same directory, it still refuses A."""
    async with RecordingUpstream() as upstream:
        gateway = Gateway(write_policy(tmp_path, upstream.port), tmp_path / "one")
        await gateway.start()
        await gateway.put("7", 9007199254740993, "b")
        token = str((await gateway.lease("leased/7", "b"))["token"])
        await gateway.kill()

        await gateway.start()
        older = await gateway.put("7", 9007199254740992, "a")
        newer = await gateway.put("7", 9007199254740994, "c")
        leased = await gateway.put_leased("7", token)
        await gateway.end()

        assert (older.status, older.problem["highest_epoch"]) == (412, "9007199254740993")
        assert (newer.status, newer.value("Fencing-Epoch")) == (200, "9007199254740994")
        assert leased.status == 200
        assert len(upstream.seen) == 3
