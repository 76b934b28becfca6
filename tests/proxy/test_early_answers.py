"""An upstream that refuses an upload before it is through: its answer arrives, and nothing lands in another's body."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

from gateway.store.views.intent_views import intents
from tests.raw import RawClient, request
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import POLICY, Stack, stack
from tests.store.fences import opened
from tests.until import until

_PIECE = bytes(range(256)) * 4_096
_PIECES = 50
_CHUNK = b"4\r\nAAAA\r\n"
_REFUSAL = b"HTTP/1.1 413 Content Too Large\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\ntoo big"


async def _refuse_uploads(seen: Seen, writer: asyncio.StreamWriter) -> None:
    if seen.line.startswith("POST "):
        writer.write(_REFUSAL)
        await writer.drain()


async def test_a_refusal_within_an_upload_arrives_whole_beside_other_writes(store_url: str, tmp_path: Path) -> None:
    """The caller gets the 413 as it came; that connection carries no other request, and the others' are whole."""
    upstream = RecordingUpstream(before_body=_refuse_uploads)
    async with stack(store_url, tmp_path, upstream=upstream) as gate:
        for number in range(9):
            await gate.lease(f"report/{number}", f"agent-{number}")
        before = await gate.highest("report/0")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['agent-0']}"
            await client.send(request("POST", "/reports/0", token, "Transfer-Encoding: chunked"))
            uploading = asyncio.ensure_future(_upload(client))
            others = asyncio.gather(
                *(gate.write(f"/reports/{1 + n % 8}", holder=f"agent-{1 + n % 8}", body=b"%d" % n) for n in range(40))
            )
            answer = await client.answer("POST")
            written = await others
            uploading.cancel()

        assert (answer.status, answer.decision, answer.body, answer.whole) == (413, "forwarded", b"too big", True)
        assert (answer.value("Fencing-Outcome"), answer.value("Connection")) == ("unknown", "close")
        assert [other.status for other in written] == [200] * 40
        assert sorted(int(seen.body) for seen in upstream.seen) == list(range(40))
        assert all(seen.line.startswith("PUT ") for seen in upstream.seen)
        assert await gate.highest("report/0") == before
        # Who passes the request on may have refused the rest of it, while the API is at work on its beginning.
        granted = await gate.lease("report/0", "agent-9", takeover=True)
        assert (json.loads(granted.body)["in_flight"], json.loads(granted.body)["drained"]) == (1, False)


class _Hasty(RecordingUpstream):
    """Answers a POST after its first chunk, and goes on reading."""

    def __init__(self) -> None:
        super().__init__(before_body=self._keep, answer=self._once)
        self.answered = asyncio.Event()

    async def _keep(self, _: Seen, writer: asyncio.StreamWriter) -> None:
        self._newest = writer

    async def _once(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if not seen.line.startswith("POST "):
            writer.write(OK)

    async def _body(self, seen: Seen, reader: asyncio.StreamReader, taken: bytearray) -> bytes:
        if not seen.line.startswith("POST "):
            return await super()._body(seen, reader, taken)
        taken += await reader.readexactly(len(_CHUNK))
        self._newest.write(OK)
        self.answered.set()
        return b"AAAA" + await super()._body(seen, reader, taken)


@contextlib.asynccontextmanager
async def _answered_early(store_url: str, directory: Path) -> AsyncIterator[tuple[Stack, RawClient]]:
    """The API has answered a write of which it has the first chunk."""
    upstream = _Hasty()
    async with stack(store_url, directory, upstream=upstream) as gate, RawClient(gate.port) as client:
        await gate.lease("report/7", "a")
        token = f"Fencing-Token: {gate.tokens['a']}"
        await client.send(request("POST", "/reports/7", token, "Transfer-Encoding: chunked") + _CHUNK)
        await upstream.answered.wait()
        yield gate, client


async def test_behind_an_early_answer_the_rest_of_the_body_goes_on(store_url: str, tmp_path: Path) -> None:
    """The API reads on: the write ends with its own end, and the successor's begins behind that."""
    async with _answered_early(store_url, tmp_path) as (gate, client):
        granted = await gate.lease("report/7", "b", takeover=True)
        newer = asyncio.ensure_future(gate.write("/reports/7", holder="b"))
        await client.send(_CHUNK + b"0\r\n\r\n")
        answer = await client.answer("POST")

        assert (await newer).status == 200
        assert (answer.status, answer.value("Fencing-Outcome")) == (200, "applied")
        assert json.loads(granted.body)["in_flight"] == 1
        assert [seen.line.split(" ")[0] for seen in gate.upstream.seen] == ["POST", "PUT"]
        assert gate.upstream.seen[0].body == b"AAAAAAAA"


async def test_what_breaks_off_behind_an_early_answer_is_not_told_as_applied(store_url: str, tmp_path: Path) -> None:
    """Its caller leaves, and the API has half of what it has said yes to: a newer holder waits."""
    async with _answered_early(store_url, tmp_path) as (gate, client):
        client.writer.transport.abort()
        await gate.upstream.until(lambda: len(gate.upstream.partial) == 1)
        async with opened(store_url) as store:

            async def is_unknown() -> bool:
                return [record.state for record in (await intents(store, "unknown", None)).items] == ["unknown"]

            await until(is_unknown)
        granted = await gate.lease("report/7", "b", takeover=True)

        assert (json.loads(granted.body)["in_flight"], json.loads(granted.body)["drained"]) == (1, False)
        assert gate.upstream.seen == []


async def _upload(client: RawClient) -> None:
    for _ in range(_PIECES):
        await client.send(b"%x\r\n%b\r\n" % (len(_PIECE), _PIECE))
    await client.send(b"0\r\n\r\n")


async def test_a_refused_upload_of_a_read_ends_with_its_answer(store_url: str, tmp_path: Path) -> None:
    """What is left of it is taken from its caller and dropped; nothing follows the answer on the connection."""
    policy = POLICY + "read_only: [{{match: POST /reports/search}}]\n"
    upstream = RecordingUpstream(before_body=_refuse_uploads)
    async with stack(store_url, tmp_path, policy, upstream) as gate, RawClient(gate.port) as client:
        await client.send(request("POST", "/reports/search", "Transfer-Encoding: chunked") + _CHUNK)
        answer = await client.answer("POST")
        for _ in range(_PIECES):
            await client.send(b"%x\r\n%b\r\n" % (len(_PIECE), _PIECE))
        await client.send(b"0\r\n\r\n")

        assert (answer.status, answer.decision, answer.value("Connection")) == (413, "passed", "close")
        assert await client.reader.read() == b""
