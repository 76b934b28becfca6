"""Request bodies: forwarded as they came, held in memory only where a rule reads them, and not asked for in vain."""

import asyncio
import gzip
import json
import tracemalloc
import zlib
from pathlib import Path

import pytest

from tests.proxy.arriving import largest_file
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import RecordingUpstream, Seen
from tests.stack import POLICY, Stack, stack

BY_BODY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /reports, coded_bodies: undone}}
timeouts: {{connect: 1s, total: 5s}}
limits: {{body: 4KiB}}
writes:
  - name: write
    match: POST /reports
    resource: report/{{json:/id}}
"""
BOUNDED = POLICY + "limits: {{stream: 1KiB}}\n"
# The whole request is digested before it is admitted.
NAMED = POLICY + "    intent: {{mode: required}}\n"
KEY = "Idempotency-Key: k-1"
JSON = "Content-Type: application/json"


async def _chunked(gate: Stack, target: str, *pieces: bytes, field: str = "X: 1") -> RawAnswer:
    async with RawClient(gate.port) as client:
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        await client.send(request("PUT", target, token, field, "Transfer-Encoding: chunked"))
        for piece in (*pieces, b""):
            await client.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        return await client.answer()


@pytest.mark.parametrize("size", [0, 1, 70_000, 3 << 20])
async def test_a_body_with_a_length_arrives_as_it_was_sent(store_url: str, tmp_path: Path, size: int) -> None:
    """Empty, small, and larger than any buffer on the way."""
    body = bytes(range(256)) * (size // 256 + 1)
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7", body=body[:size])

        assert (answer.status, answer.decision) == (200, "forwarded")
        assert [seen.body for seen in gate.upstream.seen] == [body[:size]]
        assert gate.upstream.seen[0].values("Content-Length") == [str(size)]
        assert gate.upstream.seen[0].values("Transfer-Encoding") == []


@pytest.mark.parametrize("pieces", [(), (b"a",), (b"a", b"bc" * 40_000, b"d"), (bytes(range(256)) * 5_000,)])
async def test_a_chunked_body_arrives_whole(store_url: str, tmp_path: Path, pieces: tuple[bytes, ...]) -> None:
    """With one framing, whichever it is then; extensions and trailers end here."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await _chunked(gate, "/reports/7", *pieces)

        (seen,) = gate.upstream.seen
        assert (answer.status, seen.body) == (200, b"".join(pieces))
        assert len(seen.values("Content-Length")) + len(seen.values("Transfer-Encoding")) == 1


async def test_a_chunked_body_that_is_digested_first_arrives_with_its_length(store_url: str, tmp_path: Path) -> None:
    """Larger than what is held in memory: it comes back from the disk, byte for byte, under the one framing."""
    body = bytes(range(256)) * 20_000
    async with stack(store_url, tmp_path, NAMED) as gate:
        await gate.lease("report/7")
        answer = await _chunked(gate, "/reports/7", body[:70_000], body[70_000:], field=KEY)

        (seen,) = gate.upstream.seen
        assert (answer.decision, seen.body) == ("forwarded", body)
        assert (seen.values("Content-Length"), seen.values("Transfer-Encoding")) == ([str(len(body))], [])


async def test_a_caller_that_leaves_within_a_body_that_is_digested_first_leaves_nothing(
    store_url: str, tmp_path: Path
) -> None:
    """The upstream never hears of it, and the key is free."""
    async with stack(store_url, tmp_path, NAMED) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['agent-a']}"
            await client.send(request("PUT", "/reports/7", token, KEY, "Content-Length: 2000001") + bytes(2_000_000))
        after = await gate.write("/reports/7", KEY)

        assert (after.decision, gate.upstream.connections) == ("forwarded", 1)
        assert (gate.upstream.partial, [seen.body for seen in gate.upstream.seen]) == ([], [b"{}"])


async def test_a_full_disk_refuses_a_large_body_before_anything_is_sent(store_url: str, tmp_path: Path) -> None:
    """Its caller sees the refusal, and the same request goes through once there is room."""
    async with stack(store_url, tmp_path, NAMED) as gate:
        await gate.lease("report/7")
        with largest_file(1 << 20):
            refused = await gate.write("/reports/7", KEY, body=bytes(2_000_000))
            small = await gate.write("/reports/7", "Idempotency-Key: k-2")
        after = await gate.write("/reports/7", KEY, body=bytes(2_000_000))

        assert (refused.status, refused.decision, refused.problem["action"]) == (503, "no-room", "retry")
        assert [small.decision, after.decision] == ["forwarded"] * 2
        assert [len(seen.body) for seen in gate.upstream.seen] == [2, 2_000_000]


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH", "DELETE"])
async def test_a_write_without_a_body_says_so(store_url: str, tmp_path: Path, method: str) -> None:
    """Its length is zero, told or not."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await ask(gate.port, method, "/reports/7", f"Fencing-Token: {gate.tokens['agent-a']}")

        assert (answer.status, gate.upstream.seen[0].body) == (200, b"")
        assert gate.upstream.seen[0].values("Content-Length") == ["0"]


async def test_a_coded_body_is_not_touched(store_url: str, tmp_path: Path) -> None:
    """The upstream gets the same bytes and the same header, whole coding or not."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        for body in (gzip.compress(b"{}", mtime=0), b"this is no gzip"):
            answer = await gate.write("/reports/7", "Content-Encoding: gzip", body=body)
            assert (answer.status, gate.upstream.seen[-1].body) == (200, body)
            assert gate.upstream.seen[-1].values("Content-Encoding") == ["gzip"]


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (None, b'{"id": "7"}'),
        ("identity", b'{"id": "7"}'),
        ("gzip", gzip.compress(b'{"id": "7"}', mtime=0)),
        (None, b' {"id": 7, "more": [1, {"id": 8}]} '),
    ],
)
async def test_a_rule_reads_the_decoded_body_and_forwards_the_coded_one(
    store_url: str, tmp_path: Path, coding: str | None, body: bytes
) -> None:
    """Where the API undoes codings, the resource comes from what the body says; the upstream gets what came."""
    async with stack(store_url, tmp_path, BY_BODY) as gate:
        await gate.lease("report/7")
        fields = [] if coding is None else [f"Content-Encoding: {coding}"]
        answer = await gate.write("/reports", JSON, *fields, method="POST", body=body)

        assert (answer.status, answer.decision) == (200, "forwarded")
        assert [seen.body for seen in gate.upstream.seen] == [body]
        assert gate.upstream.seen[0].values("Content-Encoding") == [coding] * len(fields)


@pytest.mark.parametrize(
    ("coding", "body", "status", "decision"),
    [
        ("br", b"x", 415, "unsupported-coding"),
        ("x-gzip", gzip.compress(b'{"id": "7"}', mtime=0), 415, "unsupported-coding"),
        ("GZIP", gzip.compress(b'{"id": "7"}', mtime=0), 415, "unsupported-coding"),
        ("deflate", zlib.compress(b'{"id": "7"}'), 415, "unsupported-coding"),
        ("deflate, identity", zlib.compress(b'{"id": "7"}'), 415, "unsupported-coding"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), 415, "unsupported-coding"),
        ("gzip", b'{"id": "7"}', 415, "unsupported-coding"),
        ("gzip", gzip.compress(b'{"id": "7"}', mtime=0)[:-1], 415, "unsupported-coding"),
        ("gzip", gzip.compress(b'{"id": "7"}', mtime=0) + b"x", 415, "unsupported-coding"),
        ("gzip", gzip.compress(b'{"id": "7"}', mtime=0) + b"\0", 415, "unsupported-coding"),
        ("gzip", gzip.compress(b'{"id": "7"}', mtime=0) + gzip.compress(b"", mtime=0), 415, "unsupported-coding"),
        ("gzip", gzip.compress(b'{"id": "7"}' + b" " * 5_000, mtime=0), 413, "body-too-large"),
        ("identity", b'{"id": "7"}' + b" " * 5_000, 413, "body-too-large"),
        ("identity", b"", 400, "resource-unresolved"),
        ("identity", b"{}", 400, "resource-unresolved"),
        ("identity", b'{"id": null}', 400, "resource-unresolved"),
        ("identity", b'{"id": ""}', 400, "resource-unresolved"),
        ("identity", b'{"id": ["7"]}', 400, "resource-unresolved"),
        ("identity", b'{"id": 7.0}', 400, "resource-unresolved"),
        ("identity", b'{"id": "7", "id": "8"}', 400, "ambiguous-target"),
        ("identity", b'{"id": "7", "\\u0069d": "8"}', 400, "ambiguous-target"),
        ("identity", b'{"id": "7", "x": {"a": 1, "a": 1}}', 400, "ambiguous-target"),
        ("identity", b'{"id": "7", "ID": "8"}', 400, "ambiguous-target"),
        ("identity", b'{"id": NaN}', 400, "ambiguous-target"),
        ("identity", b'{"id": 1e-99999999999999999999}', 400, "ambiguous-target"),
        ("identity", b'{"id": 1e400}', 400, "ambiguous-target"),
        ("identity", b'{"id": "\\ud800"}', 400, "ambiguous-target"),
        ("identity", b'\xef\xbb\xbf{"id": "7"}', 400, "ambiguous-target"),
        ("identity", b'{"id": "7"}x', 400, "ambiguous-target"),
        ("identity", b'{"id": "\xff"}', 400, "ambiguous-target"),
        ("identity", b"[" * 3_000, 400, "ambiguous-target"),
        ("identity", b"id=7", 400, "ambiguous-target"),
    ],
)
async def test_a_body_that_names_no_certain_resource_is_refused(
    store_url: str, tmp_path: Path, coding: str, body: bytes, status: int, decision: str
) -> None:
    """Nothing is forwarded, and no epoch moves."""
    async with stack(store_url, tmp_path, BY_BODY) as gate:
        await gate.lease("report/7")
        before = await gate.highest("report/7")
        answer = await gate.write("/reports", JSON, f"Content-Encoding: {coding}", method="POST", body=body)

        assert (answer.status, answer.decision) == (status, decision)
        assert answer.problem["action"] == "fix-request"
        assert gate.upstream.seen == []
        assert await gate.highest("report/7") == before


async def test_a_body_of_another_type_is_not_read_as_json(store_url: str, tmp_path: Path) -> None:
    """Its upstream may read it as a form, with another resource in it, or not at all; the policy says what it reads."""
    polyglot = b'{"id": "7", "z": "&id=8&"}'
    types = ("application/x-www-form-urlencoded", "application/merge-patch+json", "application/vnd.api+json")
    async with stack(store_url, tmp_path, f"{BY_BODY}json_types: application/vnd.api+json\n") as gate:
        await gate.lease("report/7")
        answers = [await gate.write("/reports", f"Content-Type: {one}", method="POST", body=polyglot) for one in types]

        assert [answer.decision for answer in answers] == ["ambiguous-target", "ambiguous-target", "forwarded"]
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize("token", ["007", "zzz"])
@pytest.mark.parametrize("length", [7, 1_000_000])
async def test_a_malformed_token_is_refused_before_the_body_is_asked_for(
    store_url: str, tmp_path: Path, token: str, length: int
) -> None:
    """The refusal is the first line back, although the rule would have to read the body."""
    async with stack(store_url, tmp_path, BY_BODY) as gate, RawClient(gate.port) as client:
        fields = (f"Fencing-Token: {token}", JSON, "Expect: 100-continue", f"Content-Length: {length}")
        await client.send(request("POST", "/reports", *fields))

        assert (await client.line()).startswith(b"HTTP/1.1 400 ")


class _Forgetful(RecordingUpstream):
    """Counts a body's bytes and keeps none of them."""

    taken = 0

    async def _body(self, seen: Seen, reader: asyncio.StreamReader, taken: bytearray) -> bytes:
        left = int((seen.values("content-length") or ["0"])[0])
        while left:
            piece = await reader.read(min(left, 1 << 20))
            if not piece:
                raise asyncio.IncompleteReadError(b"", left)
            left -= len(piece)
            self.taken += len(piece)
        return b""


async def test_a_large_upload_costs_no_memory(store_url: str, tmp_path: Path) -> None:
    """What a caller sends flows through; the gateway holds a few buffers of it."""
    size, piece = 64 << 20, bytes(1 << 20)
    upstream = _Forgetful()
    async with stack(store_url, tmp_path, upstream=upstream) as gate, RawClient(gate.port) as client:
        await gate.lease("report/7")
        tracemalloc.start()
        try:
            token = f"Fencing-Token: {gate.tokens['agent-a']}"
            await client.send(request("PUT", "/reports/7", token, f"Content-Length: {size}"))
            for _ in range(size // len(piece)):
                await client.send(piece)
            answer = await client.answer()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

        assert (answer.status, upstream.taken) == (200, size)
        assert peak < 12 << 20


async def peak_of_a_bomb(gate: Stack, bomb: bytes) -> int:
    """The memory, in bytes, that its refusal took at most."""
    tracemalloc.start()
    try:
        answer = await gate.write("/reports", "Content-Encoding: gzip", method="POST", body=bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (answer.status, answer.decision, gate.upstream.seen) == (413, "body-too-large", [])
    return peak


async def test_a_bomb_costs_no_memory(store_url: str, tmp_path: Path) -> None:
    """A small body that inflates to a gigabyte is refused at the limit, not after."""
    bomb = gzip.compress(bytes(2 << 20), mtime=0)
    async with stack(store_url, tmp_path, BY_BODY) as gate:
        await gate.lease("report/7")
        peak = await peak_of_a_bomb(gate, bomb)

        assert peak < 1 << 20


@pytest.mark.slow
async def test_a_mebibyte_that_inflates_to_a_gibibyte_costs_what_may_be_held(store_url: str, tmp_path: Path) -> None:
    """Under the default limits too; no epoch moves."""
    coding = zlib.compressobj(wbits=31)
    bomb = b"".join(coding.compress(bytes(1 << 20)) for _ in range(1_024)) + coding.flush()
    async with stack(store_url, tmp_path, BY_BODY.replace("limits: {{body: 4KiB}}\n", "")) as gate:
        await gate.lease("report/7")
        before = await gate.highest("report/7")
        peak = await peak_of_a_bomb(gate, bomb)

        assert await gate.highest("report/7") == before
        assert peak < 32 << 20


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
async def test_a_body_over_the_stream_limit_is_refused(store_url: str, tmp_path: Path, chunked: bool) -> None:
    """Announced or not, nothing of it leaves if the limit shows before the first byte; the resource stays free."""
    async with stack(store_url, tmp_path, BOUNDED) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['agent-a']}"
            chunks = b"708\r\n" + bytes(1_800) + b"\r\n0\r\n\r\n"
            head = request("PUT", "/reports/7", token, "Transfer-Encoding: chunked")
            await client.send(head + chunks if chunked else request("PUT", "/reports/7", token, body=bytes(1_800)))
            answer = await client.answer()
        after = await gate.write("/reports/7")

        assert (answer.status, answer.decision) == (413, "body-too-large")
        assert after.status == 200
        assert [seen.body for seen in gate.upstream.seen] == [b"{}"]
        assert gate.upstream.partial == []


async def test_a_body_that_grows_over_the_stream_limit_is_never_completed(store_url: str, tmp_path: Path) -> None:
    """What was within the limit has left: nobody can say what the upstream makes of it, but it never has the whole."""
    async with stack(store_url, tmp_path, BOUNDED) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['agent-a']}"
            await client.send(request("PUT", "/reports/7", token, "Transfer-Encoding: chunked") + b"1\r\na\r\n")
            await gate.upstream.until(lambda: gate.upstream.connections == 1)
            await client.send(b"708\r\n" + bytes(1_800) + b"\r\n0\r\n\r\n")
            answer = await client.answer()
        after = await gate.write("/reports/7")

        assert (answer.status, answer.decision) == (504, "outcome-unknown")
        assert after.status == 200
        assert [seen.body for seen in gate.upstream.seen] == [b"{}"]


async def test_a_stale_write_is_refused_before_its_body_is_asked_for(store_url: str, tmp_path: Path) -> None:
    """Expect: 100-continue and a gigabyte announced: the refusal is the first line back, and the connection ends."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        await gate.lease("report/7", "b", takeover=True)
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['a']}"
            await client.send(request("PUT", "/reports/7", token, "Expect: 100-continue", "Content-Length: 1073741824"))
            first = await client.line()
            rest = await client.reader.read()

        assert first == b"HTTP/1.1 412 Precondition Failed\r\n"
        assert b"Fencing-Decision: stale-epoch\r\n" in rest
        assert (gate.upstream.seen, gate.upstream.partial) == ([], [])


@pytest.mark.parametrize(
    ("policy", "method", "target"), [(POLICY, "PUT", "/reports/7"), (BY_BODY, "POST", "/reports")], ids=["path", "body"]
)
async def test_a_good_write_is_asked_for_its_body_once(
    store_url: str, tmp_path: Path, policy: str, method: str, target: str
) -> None:
    """One 100, then the answer; the upstream is not asked to continue."""
    body = json.dumps({"id": "7"}).encode()
    async with stack(store_url, tmp_path, policy) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['agent-a']}"
            expect = ("Expect: 100-continue", f"Content-Length: {len(body)}")
            await client.send(request(method, target, token, JSON, *expect))
            interim = [await client.line(), await client.line()]
            await client.send(body)
            final = await client.line()

        assert interim == [b"HTTP/1.1 100 Continue\r\n", b"\r\n"]
        assert final == b"HTTP/1.1 200 OK\r\n"
        assert [(seen.body, seen.values("Expect")) for seen in gate.upstream.seen] == [(body, [])]


async def test_a_refused_upload_s_caller_sees_the_refusal(store_url: str, tmp_path: Path) -> None:
    """The rest of its body is taken and dropped, so that closing does not reset what it has not read yet."""
    async with stack(store_url, tmp_path) as gate, RawClient(gate.port) as client:
        await client.send(request("PUT", "/reports/7", "Fencing-Token: 1." + "x" * 32, body=bytes(8 << 20)))
        answer = await client.answer()

        assert (answer.status, answer.decision, answer.value("Connection")) == (401, "token-invalid", "close")
        assert gate.upstream.seen == []
