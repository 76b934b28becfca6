"""An upstream's answers reach the caller as they are, whole or visibly broken, whatever the caller does meanwhile."""

import asyncio
import gzip
import tracemalloc
from pathlib import Path

import pytest

from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answering
from tests.stack import POLICY, stack

ALL_BYTES = bytes(range(256)) * 4
LARGE = bytes(range(256)) * 4_096


def _answer(body: bytes, *fields: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", *fields, f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (None, ALL_BYTES),
        (None, b""),
        ("gzip", gzip.compress(ALL_BYTES, mtime=0)),
        ("gzip, gzip", gzip.compress(gzip.compress(ALL_BYTES, mtime=0), mtime=0)),
        ("gzip", b"broken gzip"),
        ("br", b"\x0b\x02\x80hello\x03"),
        ("zstd", b"(\xb5/\xfd$\x05)\x00\x00hello"),
        (None, LARGE),
    ],
)
async def test_an_answer_s_bytes_length_and_coding_are_kept(
    store_url: str, tmp_path: Path, method: str, coding: str | None, body: bytes
) -> None:
    """Neither inflated nor framed anew where there is a length."""
    fields = ['ETag: W/"1"', *([f"Content-Encoding: {coding}"] if coding else [])]
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=answering(_answer(body, *fields)))) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7", "Accept-Encoding: zstd, br", method=method)

        assert (answer.status, answer.body, answer.whole) == (200, body, True)
        assert answer.value("Content-Length") == str(len(body))
        assert (answer.value("ETag"), answer.value("Content-Encoding")) == ('W/"1"', coding)
        assert answer.value("Transfer-Encoding") is None


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize("chunks", [(b"abc",), (LARGE, b"end")], ids=["small", "large"])
@pytest.mark.parametrize("closing", [False, True], ids=["chunked", "until-close"])
async def test_an_answer_without_a_length_arrives_whole(
    store_url: str, tmp_path: Path, method: str, chunks: tuple[bytes, ...], closing: bool
) -> None:
    """Chunked, or ended by the connection; the caller's own connection stays usable."""
    data = b"HTTP/1.1 200 OK\r\n"
    if closing:
        data += b"\r\n" + b"".join(chunks)
    else:
        data += b"Transfer-Encoding: chunked\r\n\r\n"
        data += b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=answering(data, close=closing))) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            for _ in range(2):
                token = f"Fencing-Token: {gate.tokens['agent-a']}"
                await client.send(request(method, "/reports/7", token, body=b"{}"))
                answer = await client.answer()
                assert (answer.status, answer.body, answer.whole) == (200, b"".join(chunks), True)

        assert len(gate.upstream.seen) == 2


@pytest.mark.parametrize(
    ("data", "whole_head"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + LARGE, True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n" + LARGE, True),
        (b"HTTP/1.1 200 OK\r\nContent-Len", False),
        (b"nonsense\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", False),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", False),
    ],
)
async def test_a_broken_answer_is_never_a_clean_one(
    store_url: str, tmp_path: Path, data: bytes, whole_head: bool
) -> None:
    """A write's outcome is unknown; what cannot be told by a problem any more is a broken transfer."""
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=answering(data, close=True))) as gate:
        await gate.lease("report/7")
        write = await gate.write("/reports/7")
        read = await ask(gate.port, "GET", "/reports/7")
        gate.upstream.answer = answering(_answer(b"ok"))
        after = await gate.write("/reports/7")

        for answer, decision, status in ((write, "outcome-unknown", 504), (read, "upstream-broken", 502)):
            assert not answer.whole or (answer.status, answer.decision) == (status, decision)
            assert whole_head or answer.status == status
        assert (after.status, after.body) == (200, b"ok")
        assert [seen.line[:3] for seen in gate.upstream.seen] == ["PUT", "GET", "PUT"]


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_a_redirect_is_returned_not_followed(store_url: str, tmp_path: Path, method: str, status: str) -> None:
    """Where it leads is the caller's to judge."""
    data = _answer(b"", "Location: /reports/8", status=status)
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=answering(data))) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7", method=method)

        assert (answer.status, answer.value("Location")) == (int(status[:3]), "/reports/8")
        assert len(gate.upstream.seen) == 1


async def test_one_agent_s_cookies_are_never_sent_for_another(store_url: str, tmp_path: Path) -> None:
    """The upstream is addressed by a name, and its connection is used again."""
    data = _answer(b"", "Set-Cookie: session=a; Path=/")
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=answering(data))) as gate:
        await gate.lease("report/7")
        first = await gate.write("/reports/7")
        await gate.write("/reports/7")
        await ask(gate.port, "GET", "/reports/7")

        assert first.values("Set-Cookie") == ["session=a; Path=/"]
        assert [seen.values("Cookie") for seen in gate.upstream.seen] == [[], [], []]
        assert gate.upstream.connections == 1


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_interim_answers_are_not_the_answer(store_url: str, tmp_path: Path, method: str) -> None:
    """A 100 or 103 of the upstream is read over: the caller gets one answer."""
    data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + _answer(b"ok")
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=answering(data))) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            await client.send(request(method, "/reports/7", f"Fencing-Token: {gate.tokens['agent-a']}", body=b"{}"))
            first = await client.line()

        assert first == b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("method", "data", "length"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "1000"),
        ("HEAD", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", None),
        ("GET", b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 1000\r\n\r\n', "1000"),
        ("PUT", b"HTTP/1.1 204 No Content\r\n\r\n", None),
        ("DELETE", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", None),
    ],
)
async def test_an_answer_that_has_no_body_ends_with_its_head(
    store_url: str, tmp_path: Path, method: str, data: bytes, length: str | None
) -> None:
    """The next answer on the caller's connection is the next request's; a 204 has no length (RFC 9110, section 8.6)."""
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=answering(data))) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            await client.send(request(method, "/reports/7", f"Fencing-Token: {gate.tokens['agent-a']}"))
            answer = await client.answer(method)
            gate.upstream.answer = answering(_answer(b"next"))
            await client.send(request("GET", "/reports/7"))
            following = await client.answer()

        assert (answer.value("Content-Length"), answer.value("Transfer-Encoding")) == (length, None)
        assert (following.status, following.body) == (200, b"next")


@pytest.mark.parametrize(("method", "decision"), [("GET", "passed"), ("PUT", "forwarded")])
async def test_an_event_stream_arrives_event_by_event(
    store_url: str, tmp_path: Path, method: str, decision: str
) -> None:
    """The head before the first event, each event before the next one is made: nothing is held back."""
    go_on = asyncio.Semaphore(0)

    async def events(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for event in (b"data: 1\n\n", b"data: 2\n\n", b""):
            await go_on.acquire()
            writer.write(b"%x\r\n%b\r\n" % (len(event), event))

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=events)) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            await client.send(request(method, "/reports/7", f"Fencing-Token: {gate.tokens['agent-a']}", body=b"{}"))
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += await client.line()
            taken = []
            for _ in range(2):
                go_on.release()
                taken.append([await client.line() for _ in range(4)])
            go_on.release()
            end = [await client.line() for _ in range(2)]

        assert f"Fencing-Decision: {decision}".encode() in head
        assert taken == [[b"9\r\n", b"data: %d\n" % number, b"\n", b"\r\n"] for number in (1, 2)]
        assert end == [b"0\r\n", b"\r\n"]


async def test_a_write_whose_caller_never_reads_its_answer_is_settled(store_url: str, tmp_path: Path) -> None:
    """What the caller does not take in five seconds is read and dropped: the resource is free for the next write."""
    size = 48 << 20

    async def large(seen: Seen, writer: asyncio.StreamWriter) -> None:
        body = bytes(size) if seen.body == b'"large"' else b""
        writer.write(_answer(body))

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=large)) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['agent-a']}"
            await client.send(request("PUT", "/reports/7", token, body=b'"large"'))
            await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
            after = await gate.write("/reports/7")

        assert (after.status, after.value("Fencing-Outcome")) == (200, "applied")
        assert len(gate.upstream.seen) == 2


async def test_a_large_download_costs_no_memory(store_url: str, tmp_path: Path) -> None:
    """The upstream is held back at the caller's pace, and what arrives is whole."""
    size, piece = 64 << 20, bytes(1 << 20)

    async def large(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // len(piece)):
            writer.write(piece)
            await writer.drain()

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=large)) as gate:
        async with RawClient(gate.port) as client:
            tracemalloc.start()
            try:
                await client.send(request("GET", "/reports/7"))
                while await client.line() != b"\r\n":
                    pass
                taken = 0
                while taken < size:
                    taken += len(await client.reader.read(1 << 20))
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

        assert taken == size
        assert peak < 12 << 20


STRIPPED = POLICY.replace("mount: {{path: /reports}}", "mount: {{path: /api, strip: true}}").replace(
    "match: PUT,POST,PATCH,DELETE /reports", "intent: {{mode: optional}}\n    match: PUT /api/reports"
)


@pytest.mark.parametrize("place", ["/reports/8", "http://localhost:{port}/reports/8"])
async def test_a_place_that_an_answer_names_is_one_at_the_gateway(store_url: str, tmp_path: Path, place: str) -> None:
    """Of a redirect of a read too: who follows it stays here. A repeat is told the same."""

    async def moved(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(_answer(b"", f"Location: {place.format(port=gate.upstream.port)}", status="307 X"))

    async with stack(store_url, tmp_path, STRIPPED, RecordingUpstream(answer=moved)) as gate:
        await gate.lease("report/7")
        read = await ask(gate.port, "GET", "/api/reports/7/")
        first, second = [await gate.write("/api/reports/7", "Idempotency-Key: k") for _ in range(2)]

    assert [answer.value("Location") for answer in (read, first, second)] == ["/api/reports/8"] * 3
    assert second.decision == "replayed"


PLACES = [
    *(
        "/reports/8",
        "http://localhost:{port}/reports/8",
        "//localhost:{port}/reports/8",
        "/reports/8#a",
        "/reports?x=1",
    ),
    *("HTTP://localhost:{port}/reports/8", "https://localhost:{port}/reports/8", "http://localhost:1/reports/8", "8"),
    *("?y", "/", "/reports/../x", "/./\\elsewhere.example", "//elsewhere.example/8", "/\\elsewhere.example/8"),
    *("/\t/elsewhere.example/8", "/%2f/elsewhere.example", "/reports/8 9"),
]
QUEUED = STRIPPED.replace("intent: {{mode: optional}}", "intent: {{mode: required}}\n    delivery: queued")


@pytest.mark.parametrize("policy", [STRIPPED, QUEUED], ids=["sent at once", "queued"])
async def test_a_repeat_is_told_the_place_that_the_first_was(store_url: str, tmp_path: Path, policy: str) -> None:
    """Whether it is one at the gateway or stayed as it was; `Content-Location` too."""

    async def made(seen: Seen, writer: asyncio.StreamWriter) -> None:
        place = PLACES[int(seen.body)].format(port=gate.upstream.port)
        writer.write(_answer(b"", f"Location: {place}", f"Content-Location: {place}", status="201 X"))

    async with stack(store_url, tmp_path, policy, RecordingUpstream(answer=made)) as gate:
        await gate.lease("report/7")
        told = []
        for at in range(len(PLACES)):
            fields = (f"Idempotency-Key: k-{at}", "Prefer: wait=20")
            told.append([await gate.write("/api/reports/7", *fields, body=b"%d" % at) for _ in range(2)])

        assert [second.decision for _, second in told] == ["replayed"] * len(PLACES)
        for name in ("Location", "Content-Location"):
            assert [second.value(name) for _, second in told] == [first.value(name) for first, _ in told]
        assert {first.value("Location") == first.value("Content-Location") for first, _ in told} == {True}
        assert told[0][0].value("Location") == "/api/reports/8"
        assert len(gate.upstream.seen) == len(PLACES)
