"""A session that an API makes of the gateway's credentials reaches no agent, whatever it is an answer to."""

import asyncio
from pathlib import Path

import pytest

from tests.proxy.notes import EVENTS, RESULT, call, chunk, post, whole
from tests.proxy.notes import POLICY as NOTES
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import RecordingUpstream, answering
from tests.sessions import HANDSHAKE, SessionUpstream, lease, switching
from tests.sessions import POLICY as ROOMS
from tests.stack import POLICY, stack

CREDENTIALS = "credentials: [{{header: Authorization, value: Basic Z2F0ZQ==}}]\n"
COOKIES = b"Set-Cookie: session=a; Path=/\r\nSET-COOKIE: b=c\r\nset_cookie2: d=e\r\n"


def cookies(answer: RawAnswer) -> list[str]:
    return [value for name in ("Set-Cookie", "Set_Cookie2") for value in answer.values(name)]


def ok(body: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\n%bETag: a\r\nContent-Length: %d\r\n\r\n%b" % (COOKIES, len(body), body)


@pytest.mark.parametrize(
    ("lines", "dropped"),
    [(CREDENTIALS, True), (CREDENTIALS + "set_cookie: pass\n", False), ("", False), ("set_cookie: drop\n", True)],
    ids=["credentials", "credentials, pass", "nothing", "drop"],
)
async def test_no_answer_to_a_read_or_a_write_has_it(store_url: str, tmp_path: Path, lines: str, dropped: bool) -> None:
    """Nor a refusal, nor one that ends with its head; all other fields are there."""
    upstream = RecordingUpstream(answer=answering(ok(b"body")))
    async with stack(store_url, tmp_path, POLICY.replace("writes:", lines + "writes:"), upstream) as gate:
        await gate.lease("report/7")
        answers = [await ask(gate.port, "GET", "/reports/7"), await gate.write("/reports/7")]
        upstream.answer = answering(ok().replace(b"200 OK", b"422 No"))
        answers.append(await gate.write("/reports/7"))
        upstream.answer = answering(ok().replace(b"200 OK", b"304 Not Modified"))
        answers.append(await ask(gate.port, "GET", "/reports/7"))

        assert [answer.status for answer in answers] == [200, 200, 422, 304]
        assert [answer.value("ETag") for answer in answers] == ["a"] * 4
        told = [] if dropped else ["session=a; Path=/", "b=c", "d=e"]
        assert [cookies(answer) for answer in answers] == [told] * 4


async def test_an_mcp_servers_answers_have_their_session_and_no_cookie(store_url: str, tmp_path: Path) -> None:
    """`Mcp-Session-Id` proves nothing: without it a call belongs to no session. In streams too."""
    session = COOKIES + b"Mcp-Session-Id: s-1\r\n\r\n"
    policy = NOTES.replace("writes:", CREDENTIALS + "writes:")
    upstream = RecordingUpstream(answer=answering(whole(RESULT).replace(b"\r\n\r\n", b"\r\n" + session)))
    async with stack(store_url, tmp_path, policy, upstream) as gate:
        await gate.lease("note/7")
        answers = [await post(gate, b'{"jsonrpc": "2.0", "id": 7, "method": "initialize"}')]
        events = EVENTS.replace(b"\r\n\r\n", b"\r\n" + session) + chunk(b"data: " + RESULT + b"\n\n") + chunk(b"")
        upstream.answer = answering(events)
        answers.append(await post(gate, call(), f"Fencing-Token: {gate.tokens['agent-a']}"))

        assert [answer.decision for answer in answers] == ["passed", "forwarded"]
        assert [answer.value("Mcp-Session-Id") for answer in answers] == ["s-1", "s-1"]
        assert [cookies(answer) for answer in answers] == [[], []]


@pytest.mark.parametrize("switched", [True, False], ids=["101", "404"])
async def test_neither_the_switch_to_a_session_nor_its_refusal_has_it(
    store_url: str, tmp_path: Path, switched: bool
) -> None:
    """It would be one of the API's, beside the one that the gateway fences."""
    fields = (*COOKIES.removesuffix(b"\r\n").split(b"\r\n"), b"X-Room: 7")
    declined = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n" + b"\r\n".join(fields) + b"\r\n\r\n"
    upstream = SessionUpstream(lambda key: switching(key, *fields) if switched else declined)
    policy = ROOMS.replace("writes:", CREDENTIALS + "writes:")
    async with stack(store_url, tmp_path, policy, upstream) as gate:
        token = await lease(gate.port, "room/7")
        async with RawClient(gate.port) as client:
            await client.send(request("GET", "/rooms/7/live", *HANDSHAKE, f"Fencing-Token: {token}"))
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += await client.line()

        assert head.startswith(b"HTTP/1.1 101" if switched else b"HTTP/1.1 404")
        assert b"X-Room: 7\r\n" in head
        assert b"cookie" not in head.lower()


async def test_neither_an_interim_answer_nor_a_trailer_has_it(store_url: str, tmp_path: Path) -> None:
    """An early 103 (RFC 8297) is read over, and a trailer (RFC 9112, section 7.1.2) is dropped."""
    interim = b"HTTP/1.1 103 Early Hints\r\n%bLink: </a>\r\n\r\n" % COOKIES
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n"
    upstream = RecordingUpstream(answer=answering(interim + chunked + chunk(b"{}") + b"0\r\n%b\r\n" % COOKIES))
    async with stack(store_url, tmp_path, POLICY.replace("writes:", CREDENTIALS + "writes:"), upstream) as gate:
        await gate.lease("report/7")
        for method in ("GET", "PUT"):
            fields = (f"Fencing-Token: {gate.tokens['agent-a']}", "Connection: close")
            async with RawClient(gate.port) as client, asyncio.timeout(20):
                await client.send(request(method, "/reports/7", *fields, body=b"{}"))
                told = await client.reader.read()

            assert told.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"{}" in told
            assert b"session=a" not in told and b"b=c" not in told and b"d=e" not in told
