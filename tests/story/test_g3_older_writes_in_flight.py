"""G3: no write is forwarded while a write of an older epoch to the same resource is in flight through any gateway."""

import asyncio
from pathlib import Path

import pytest

from tests.raw import RawAnswer
from tests.recording import OK, RecordingUpstream, Seen
from tests.store.server import Server
from tests.story.gateways import Gateway, two_gateways, write_policy

pytestmark = pytest.mark.promise("G3")


class Slow:
    """Holds back the answer to whoever sends `"a"`, and notes the order in which writes began and ended."""

    def __init__(self) -> None:
        self.release = asyncio.Event()
        self.order: list[str] = []

    async def __call__(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        self.order.append(f"begins {seen.body.decode()}")
        if seen.body == b'"a"':
            await self.release.wait()
        self.order.append(f"ends {seen.body.decode()}")
        writer.write(OK)


async def test_a_newer_write_waits_at_another_gateway(shared_store: Server, tmp_path: Path) -> None:
    """A's 41 is at a slow upstream through one gateway when B's 42 comes to the other: B's begins after A's ended."""
    slow = Slow()
    async with RecordingUpstream(answer=slow) as upstream:
        policies = write_policy(tmp_path, upstream.port, total="20s")
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            a = asyncio.ensure_future(one.put("7", 41, "a", body=b'"a"'))
            await upstream.until(lambda: len(upstream.seen) == 1)
            b = asyncio.ensure_future(two.put("7", 42, "b", body=b'"b"'))
            await two.until_epoch("report/7", "42")
            # B's epoch is recorded although its write waits: A's next one is refused at once.
            late = await one.put("7", 41, "a", body=b'"a again"')
            waited = not b.done()
            slow.release.set()
            answers: list[RawAnswer] = [await a, await b]

        assert waited
        assert late.decision == "stale-epoch"
        assert [answer.status for answer in answers] == [200, 200]
        assert slow.order == ['begins "a"', 'ends "a"', 'begins "b"', 'ends "b"']


async def test_a_write_whose_gateway_was_killed_is_waited_for_until_its_deadline(
    shared_store: Server, tmp_path: Path
) -> None:
    """The gateway dies with A's write in flight: B waits out the ticket, A's write ends as unknown and is listed."""
    slow = Slow()
    async with RecordingUpstream(answer=slow) as upstream:
        policies = write_policy(tmp_path, upstream.port, total="2s")
        one = Gateway(policies, tmp_path / "one", shared_store.url)
        await one.start()
        async with Gateway(policies, tmp_path / "two", shared_store.url) as two:
            a = asyncio.ensure_future(one.put("7", 41, "a", body=b'"a"'))
            await upstream.until(lambda: len(upstream.seen) == 1)
            await one.kill()
            tickets = (await two.resource("report/7"))["tickets"]
            b = await two.put("7", 42, "b", body=b'"b"')
            unknown = await two.unknown()

        assert isinstance(tickets, list) and len(tickets) == 1
        assert b.status == 200
        assert [(item["resource"], item["epoch"], item["state"]) for item in unknown] == [("report/7", "41", "unknown")]
        assert [seen.body for seen in upstream.seen] == [b'"a"', b'"b"']
        with pytest.raises(ConnectionError):
            await a
