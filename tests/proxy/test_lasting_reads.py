"""Answers of reads that last: they end with the right of whoever asked for them."""

import asyncio
from pathlib import Path

import pytest

from tests.proxy.reloading import principal, reloading
from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen
from tests.stack import POLICY

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
DOWNLOAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
PIECE = b"9\r\ndata: 1\n\n\r\n"


@pytest.fixture(autouse=True)
def looked_after_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.flow.read._LOOK_EVERY_S", 0.05)


class Lasting(RecordingUpstream):
    """Answers with the head, and after it with a piece whenever `says` is set."""

    def __init__(self, head: bytes) -> None:
        super().__init__(self._last)
        self.head = head
        self.says = asyncio.Event()
        self.writer: asyncio.StreamWriter | None = None

    async def _last(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if not seen.line.endswith(" /reports/live HTTP/1.1"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            return
        writer.write(self.head)
        while True:
            await self.says.wait()
            self.says.clear()
            writer.write(PIECE)


async def begun(client: RawClient, key: str, upstream: Lasting, method: str = "GET") -> None:
    """The answer has begun, and a piece of it has come."""
    await client.send(request(method, "/reports/live", f"Fencegate-Key: {key}"))
    while await client.line() != b"\r\n":
        pass
    upstream.says.set()
    await heard(client)


async def heard(client: RawClient) -> None:
    assert [await client.line() for _ in range(4)] == [b"9\r\n", b"data: 1\n", b"\n", b"\r\n"]


@pytest.mark.parametrize("head", [STREAM, DOWNLOAD], ids=["event stream", "download"])
async def test_nothing_more_reaches_a_caller_whose_key_is_nobodys(head: bytes, store_url: str, tmp_path: Path) -> None:
    """The piece that comes then is not passed on, and the transfer is broken: it must not look whole."""
    async with Lasting(head) as upstream:
        policy = POLICY.format(port=upstream.port)
        async with reloading(store_url, tmp_path, policy, principal("ada")) as gate, RawClient(gate.port) as client:
            await begun(client, "ada", upstream)
            gate.principals(principal("bob"))
            upstream.says.set()

            assert await client.line() == b""


async def test_a_silent_stream_ends_by_itself(store_url: str, tmp_path: Path) -> None:
    """Nobody has to say anything for that."""
    async with Lasting(STREAM) as upstream:
        policy = POLICY.format(port=upstream.port)
        async with reloading(store_url, tmp_path, policy, principal("ada")) as gate, RawClient(gate.port) as client:
            await begun(client, "ada", upstream)
            gate.principals(principal("bob"))

            assert await client.line() == b""


async def test_a_stream_that_answers_an_observed_write_ends_likewise(store_url: str, tmp_path: Path) -> None:
    """It was not admitted, and nothing bounds it but its caller."""
    async with Lasting(STREAM) as upstream:
        policy = POLICY.format(port=upstream.port) + "    mode: observe\n"
        async with reloading(store_url, tmp_path, policy, principal("ada")) as gate, RawClient(gate.port) as client:
            await begun(client, "ada", upstream, "POST")
            gate.principals(principal("bob"))

            assert await client.line() == b""


async def test_a_stream_outlives_what_changes_for_others(store_url: str, tmp_path: Path) -> None:
    """Policies are reloaded again and again, other principals come and go, and so does its principal's other key."""
    async with Lasting(STREAM) as upstream:
        policy = POLICY.format(port=upstream.port)
        two = principal("ada", key="ada another")
        async with reloading(store_url, tmp_path, policy, two) as gate, RawClient(gate.port) as client:
            await begun(client, "ada", upstream)
            for others in ("bob", "cyd"):
                gate.principals(principal("ada"), principal(others))
                upstream.says.set()
                await heard(client)
            answer = await ask(gate.port, "GET", "/reports/7", "Fencegate-Key: bob")

        assert answer.decision == "unauthenticated"
