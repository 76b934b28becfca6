"""G3: no write is forwarded while a write of an older epoch to the same resource is in flight through any gateway."""

import asyncio
from pathlib import Path

import pytest

from tests.raw import RawAnswer
from tests.recording import OK, RecordingUpstream, Seen
from tests.store.server import Server
from tests.story.gateways import Gateway, two_gateways, write_policy

pytestmark = pytest.mark.promise("G3")

BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"


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


@pytest.mark.parametrize(("cut", "status"), [(b"", 504), (BAD_GATEWAY, 502)], ids=["closed", "a proxy's 502"])
async def test_a_write_that_broke_off_is_waited_for_while_the_api_may_be_at_work(
    shared_store: Server, tmp_path: Path, cut: bytes, status: int
) -> None:
    """A proxy before the API loses A's connection: A is told at once that nobody knows, and goes on under its epoch. B
    waits until somebody knows what became of A's write."""

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(cut if seen.body == b'"a"' else OK)
        if seen.body == b'"a"':
            writer.close()

    async with RecordingUpstream(answer=answer) as upstream:
        policies = write_policy(tmp_path, upstream.port, total="30s")
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            a = await one.put("7", 41, "a", body=b'"a"')
            goes_on = await two.put("7", 41, "a", body=b'"a again"')
            b = asyncio.ensure_future(two.put("7", 42, "b", body=b'"b"'))
            await two.until_epoch("report/7", "42")
            [unknown] = await one.unknown()
            [ticket] = (await one.resource("report/7"))["tickets"]
            waited = not b.done()
            await one.resolve(str(unknown["id"]), "applied")
            newer = await b

        assert (a.status, goes_on.status, newer.status) == (status, 200, 200)
        assert waited
        assert (ticket["id"], ticket["unfinished"]) == (unknown["id"], True)
        assert [seen.body for seen in upstream.seen] == [b'"a"', b'"a again"', b'"b"']
