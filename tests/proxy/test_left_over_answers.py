"""What an answer leaves behind on the upstream's connection is no later caller's, and says nothing to anybody."""

import asyncio
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen
from tests.stack import stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs}}
timeouts: {{connect: 5s, total: 8s, late: 1s}}
limits: {{connections: 1}}
writes:
  - {{name: write, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}"}}
"""
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
MORE = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
LENGTH = b"Content-Length: %d\r\n" % len(MORE)
CHUNK = b"%x\r\n%b\r\n0\r\n\r\n" % (len(MORE), MORE)
CHUNKED = b"Transfer-Encoding: chunked\r\n"
ANSWERS = {
    "204 and more": b"HTTP/1.1 204 No Content\r\n\r\n" + MORE,
    "204 with a length and more": b"HTTP/1.1 204 No Content\r\n" + LENGTH + b"\r\n" + MORE,
    "304 with a length and more": b"HTTP/1.1 304 Not Modified\r\n" + LENGTH + b"\r\n" + MORE,
    "205 with a length and more": b"HTTP/1.1 205 Reset Content\r\n" + LENGTH + b"\r\n" + MORE,
    "a length and more": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + MORE,
    "for a HEAD": b"HTTP/1.1 200 OK\r\n" + LENGTH + b"\r\n" + MORE,
    "for a HEAD, in chunks": b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"\r\n" + CHUNK,
    "101 that nobody asked for": b"HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + MORE,
    "100 that nobody asked for": b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
    "103 three times": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 3 + OK,
    "199": b"HTTP/1.1 199 X\r\n\r\n" + OK,
    "000": b"HTTP/1.1 000 X\r\nContent-Length: 2\r\n\r\nok",
    "a signed length": b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + LENGTH + b"\r\n" + MORE,
    "a length and chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + CHUNKED + b"\r\n2\r\nok\r\n0\r\n\r\n" + MORE,
    "a folded length": b"HTTP/1.1 200 OK\r\nX: a\r\n " + LENGTH + b"Content-Length: 2\r\n\r\nok" + MORE,
    "a length with a blank": b"HTTP/1.1 200 OK\r\nContent-Length : 44\r\nContent-Length: 2\r\n\r\nok" + MORE,
    "line feeds": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "chunks in HTTP/1.0": b"HTTP/1.0 200 OK\r\n" + CHUNKED + b"\r\n2\r\nok\r\n0\r\n\r\n",
}


async def told(port: int, method: str, token: str) -> RawAnswer | None:
    """The answer; None where the connection ended before it was whole."""
    try:
        return await ask(port, method, "/docs/7", token, body=b"x" if method == "PUT" else b"")
    except (ConnectionError, asyncio.IncompleteReadError):
        return None


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_no_later_caller_gets_what_is_left_of_an_answer(store_url: str, tmp_path: Path, answer: bytes) -> None:
    """To a write, a read or a HEAD, with one connection for all of them."""
    nexts = []

    async def odd_for_seven(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(answer if "/docs/7" in seen.line else OK)

    async with stack(store_url, tmp_path, POLICY, RecordingUpstream(odd_for_seven)) as gate:
        await gate.lease("doc/7")
        for method in ("PUT", "GET", "HEAD"):
            await told(gate.port, method, f"Fencing-Token: {gate.tokens['agent-a']}")
            nexts += [await ask(gate.port, "GET", "/docs/9") for _ in range(2)]

        assert [(one.status, one.body, one.whole) for one in nexts] == [(200, b"ok", True)] * 6


TRAILED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Fencing-Outcome\r\n\r\n2\r\nok\r\n0\r\n"
TRAILED += b"Fencing-Outcome: applied\r\nFencing-Decision: replayed\r\nSet-Cookie: a=b\r\n\r\n"
SAYING = b"HTTP/1.1 500 X\r\nFencing-Outcome: applied\r\nFencing_Outcome: applied\r\nFencing-Decision: replayed\r\n"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(TRAILED, "applied"), (SAYING + b"Content-Length: 2\r\n\r\nok", "unknown")],
    ids=["in a trailer", "in the head"],
)
async def test_no_answer_says_what_the_gateway_says(
    store_url: str, tmp_path: Path, answer: bytes, outcome: str
) -> None:
    """Nor does what stands behind it reach anybody."""

    async def odd(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    async with stack(store_url, tmp_path, POLICY, RecordingUpstream(odd)) as gate:
        await gate.lease("doc/7")
        written = await gate.write("/docs/7")

        assert written.values("Fencing-Decision") == ["forwarded"]
        assert (written.values("Fencing-Outcome"), written.values("Fencing_Outcome")) == ([outcome], [])
        assert written.values("Set-Cookie") == written.values("Trailer") == []
