"""Framing that two readers could take for two requests: 400, closed, and the upstream sees nothing of it."""

from pathlib import Path

import pytest

from tests.raw import RawClient, ask, request
from tests.stack import Stack, stack

PUT = b"PUT /reports/7 HTTP/1.1\r\nHost: gateway\r\nFencing-Token: TOKEN\r\n"
CHUNKED = PUT + b"Transfer-Encoding: chunked\r\n\r\n"
HIDDEN = b"DELETE /reports/7 HTTP/1.1\r\nHost: gateway\r\n\r\n"

FAULTS = {
    "length and chunks": PUT + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "chunks and length": PUT + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "two lengths": PUT + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "two equal lengths": PUT + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "a list of lengths": PUT + b"Content-Length: 3, 3\r\n\r\nabc",
    "a signed length": PUT + b"Content-Length: +3\r\n\r\nabc",
    "a negative length": PUT + b"Content-Length: -3\r\n\r\nabc",
    "an underscored length": PUT + b"Content-Length: 0_3\r\n\r\nabc",
    "a hexadecimal length": PUT + b"Content-Length: 0x3\r\n\r\nabc",
    "an empty length": PUT + b"Content-Length: \r\n\r\nabc",
    "a length beyond 64 bits": PUT + b"Content-Length: 99999999999999999999999\r\n\r\nabc",
    "a blank before the colon": PUT + b"Content-Length : 3\r\n\r\nabc",
    "an unknown coding": PUT + b"Transfer-Encoding: xchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "a coding below chunked": PUT + b"Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "a coding above chunked": PUT + b"Transfer-Encoding: chunked, gzip\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "identity": PUT + b"Transfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc",
    "chunked twice": PUT + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"3\r\nabc\r\n0\r\n\r\n",
    "bare line feeds": b"PUT /reports/7 HTTP/1.1\nHost: gateway\nFencing-Token: TOKEN\nContent-Length: 3\n\nabc",
    "one bare line feed": PUT[:-2] + b"\nContent-Length: 3\r\n\r\nabc",
    "a folded line": PUT + b" X: 1\r\nContent-Length: 3\r\n\r\nabc",
    "a carriage return in a value": PUT + b"X: a\rb\r\nContent-Length: 3\r\n\r\nabc",
    "a NUL in a name": PUT + b"X\0: ab\r\nContent-Length: 3\r\n\r\nabc",
    "a NUL in a value": PUT + b"X: a\0b\r\nContent-Length: 3\r\n\r\nabc",
    "two Hosts": PUT + b"Host: other\r\nContent-Length: 3\r\n\r\nabc",
    "no Host": PUT.replace(b"Host: gateway\r\n", b"") + b"Content-Length: 3\r\n\r\nabc",
    "a Host that is none": PUT.replace(b"gateway", b"a/b") + b"Content-Length: 3\r\n\r\nabc",
    "a line without a colon": PUT + b"X\r\nContent-Length: 3\r\n\r\nabc",
    "a field name with a bracket": PUT + b"X(y): 1\r\nContent-Length: 3\r\n\r\nabc",
    "a field without a name": PUT + b": 1\r\nContent-Length: 3\r\n\r\nabc",
    "more fields than servers take": PUT + b"a: b\r\n" * 300 + b"Content-Length: 3\r\n\r\nabc",
    "a head beyond its limit": PUT + b"X: " + b"a" * 9000 + b"\r\nContent-Length: 3\r\n\r\nabc",
    "a blank in the target": b"PUT /reports/7 x HTTP/1.1\r\nHost: gateway\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/0.9": b"GET /reports/7\r\n\r\n",
    "HTTP/2.0": b"GET /reports/7 HTTP/2.0\r\nHost: gateway\r\n\r\n",
    "HTTP/1.2": b"GET /reports/7 HTTP/1.2\r\nHost: gateway\r\n\r\n",
    "a version in lower case": b"GET /reports/7 http/1.1\r\nHost: gateway\r\n\r\n",
    "a tunnel": b"CONNECT reports:443 HTTP/1.1\r\nHost: gateway\r\n\r\n",
    "a loop back": b"TRACE /reports/7 HTTP/1.1\r\nHost: gateway\r\nFencing-Token: TOKEN\r\n\r\n",
    "a WebSocket": b"GET /reports/7 HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "h2c without its settings": b"GET /reports/7 HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    b"Upgrade: h2c\r\n\r\n",
    "h2c beside WebSocket": b"GET /reports/7 HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    b"Upgrade: h2c, websocket\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
    "h2c in two lines": PUT + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nContent-Length: 3\r\n\r\nabc",
    "h2c that no Connection names": PUT + b"Upgrade: h2c\r\nHTTP2-Settings: AAM\r\nContent-Length: 3\r\n\r\nabc",
    "TLS within a connection": PUT + b"Connection: Upgrade\r\nUpgrade: TLS/1.0\r\nContent-Length: 3\r\n\r\nabc",
    "a WebSocket for a write": PUT + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nContent-Length: 3\r\n\r\nabc",
    "h2c for a write": PUT + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc",
    "an upgrade that no Connection names": PUT + b"Upgrade: anything/1\r\nContent-Length: 3\r\n\r\nabc",
    "h2c by prior knowledge": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a type that Connection takes away": PUT + b"Connection: Content_Type\r\nContent-Length: 0\r\n\r\n",
    "a type that Connection takes away from a body": PUT
    + b"Connection: Content-Type\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    "a coding that Connection takes away from a body": PUT
    + b"Connection: Content-Encoding\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    "a type that Connection takes away by another name": PUT + b"Connection: Content.Type\r\nContent-Length: 0\r\n\r\n",
    "a coding that Connection takes away": PUT + b"Connection: close, content-encoding\r\nContent-Length: 0\r\n\r\n",
    "a condition that Connection takes away": PUT + b"Connection: if-match\r\nIf-Match: *\r\nContent-Length: 0\r\n\r\n",
    "a session that Connection takes away": PUT + b"Connection: Mcp-Session-Id\r\nContent-Length: 0\r\n\r\n",
    "a method that is no token": b"P@T /reports/7 HTTP/1.1\r\nHost: gateway\r\n\r\n",
    "a negative chunk": CHUNKED + b"-3\r\nabc\r\n0\r\n\r\n",
    "a prefixed chunk size": CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n",
    "a chunk size with a blank": CHUNKED + b"3 \r\nabc\r\n0\r\n\r\n",
    "no chunk size": CHUNKED + b"\r\nabc\r\n0\r\n\r\n",
    "a chunk longer than its size": CHUNKED + b"2\r\nabc\r\n0\r\n\r\n",
    "chunks with bare line feeds": CHUNKED + b"3\nabc\n0\n\n",
    "a line feed in a chunk extension": CHUNKED + b"3;a=\nb\r\nabc\r\n0\r\n\r\n",
    "a request in a chunk extension": CHUNKED + b'3;a="\r\n\r\n0\r\n\r\n' + HIDDEN + b'"\r\nabc\r\n0\r\n\r\n',
    "a line feed behind the last chunk": CHUNKED + b"3\r\nabc\r\n0\r\n\n" + HIDDEN,
    "a line feed in the last chunk's extension": CHUNKED + b"3\r\nabc\r\n0;\n\r\n" + HIDDEN,
    "a signed chunk size": CHUNKED + b"+3\r\nabc\r\n0\r\n\r\n",
    "a request behind no body": PUT + b"Content-Length: 0\r\nContent-Length: 46\r\n\r\n" + HIDDEN,
    "a request behind no chunks": PUT + b"Content-Length: 51\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN,
    **{
        f"the coding {coding!r}": PUT + b"Transfer-Encoding: " + coding + b"\r\n\r\n0\r\n\r\n"
        for coding in (
            *(b"\x0bchunked", b"chunked;x=1", b"chunked, chunked", b"identity, chunked", b"chunked, identity"),
            *(b'"chunked"', b"", b"chunked,", b"x, chunked"),
        )
    },
    "a blank before the colon of a coding": PUT + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a coding in a folded line": PUT + b"X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
    "a coding behind a carriage return": PUT + b"X: a\rTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
    "tabs for blanks": b"PUT\t/reports/7\tHTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\n\r\n",
    "something behind the version": PUT.replace(b"HTTP/1.1", b"HTTP/1.1 x") + b"Content-Length: 0\r\n\r\n",
    "a method in small letters": PUT.replace(b"PUT ", b"put ") + b"Content-Length: 0\r\n\r\n",
    "a read in small letters": b"get /reports/7 HTTP/1.1\r\nHost: gateway\r\n\r\n",
    "a field name with a blank": PUT + b"X y: 1\r\nContent-Length: 3\r\n\r\nabc",
}


async def _conversation(gate: Stack, *pieces: bytes) -> bytes:
    """Everything that comes back until the gateway closes; the token is put in for TOKEN."""
    async with RawClient(gate.port) as client:
        for piece in pieces:
            await client.send(piece.replace(b"TOKEN", gate.tokens["agent-a"].encode()))
        taken = b""
        while line := await client.line():
            taken += line
        return taken


async def test_faulty_framing_is_refused_and_its_connection_closed(store_url: str, tmp_path: Path) -> None:
    """One problem comes back for each, then the end; the next write of the resource is admitted."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        before = await gate.highest("report/7")
        told = {name: await _conversation(gate, fault) for name, fault in FAULTS.items()}
        forwarded = [seen.raw for seen in gate.upstream.seen]
        answer = await gate.write("/reports/7")

        assert {name: taken.split(b"\r\n", 1)[0] for name, taken in told.items()} == dict.fromkeys(
            FAULTS, b"HTTP/1.1 400 Bad Request"
        )
        assert [name for name, taken in told.items() if b"\r\nFencing-Decision: bad-request\r\n" not in taken] == []
        assert [name for name, taken in told.items() if taken.count(b"urn:fencegate:") != 1] == []
        assert (forwarded, gate.upstream.partial) == ([], [])
        assert await gate.highest("report/7") == before
        assert answer.status == 200


@pytest.mark.parametrize("protocol", [b"h2c", b"H2C"])
@pytest.mark.parametrize(
    ("method", "body"),
    [
        (b"GET", b"\r\n"),
        (b"PUT", b"Content-Length: 3\r\n\r\nabc"),
        (b"PUT", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    ],
)
async def test_an_offer_of_http2_is_answered_in_http1(
    store_url: str, tmp_path: Path, method: bytes, body: bytes, protocol: bytes
) -> None:
    """As Java's client makes it with any request. The upstream hears nothing of it, and nobody of what is behind it."""
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: " + protocol
    offer += b"\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"
    head = b" /reports/7 HTTP/1.1\r\nHost: gateway\r\nFencing-Token: TOKEN\r\n"
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        behind = b"DELETE" + head + b"\r\n"
        taken = await _conversation(gate, method + head + offer + body + behind)

        assert taken.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"\r\nConnection: close\r\n" in taken
        (seen,) = gate.upstream.seen
        assert seen.line == f"{method.decode()} /reports/7 HTTP/1.1"
        assert seen.body == (b"" if method == b"GET" else b"abc")
        assert [seen.values(name) for name in ("Upgrade", "HTTP2-Settings")] == [[], []]


async def test_as_many_fields_as_servers_take_pass(store_url: str, tmp_path: Path) -> None:
    """A hundred and twenty, each as it came."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7", *["a: b"] * 120)

        assert answer.decision == "forwarded"
        assert gate.upstream.seen[0].values("a") == ["b"] * 120


async def test_a_token_behind_a_body_is_none(store_url: str, tmp_path: Path) -> None:
    """A trailer is not read: what decides about a request comes before its body."""
    trailed = CHUNKED.replace(b"Fencing-Token: TOKEN", b"Trailer: Fencing-Token") + b"3\r\nabc\r\n0\r\n"
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        taken = await _conversation(gate, trailed + b"Fencing-Token: TOKEN\r\n\r\n")

        assert taken.startswith(b"HTTP/1.1 428 ")
        assert b"\r\nFencing-Decision: token-required\r\n" in taken
        assert (gate.upstream.seen, gate.upstream.partial) == ([], [])


async def test_a_fault_inside_a_body_that_is_on_its_way_ends_it(store_url: str, tmp_path: Path) -> None:
    """The upstream never holds a whole request, the outcome is unknown, and the resource is free again."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            await client.send(CHUNKED.replace(b"TOKEN", gate.tokens["agent-a"].encode()) + b"3\r\nabc\r\n")
            await gate.upstream.until(lambda: gate.upstream.connections == 1)
            await client.send(b"zz\r\nabc\r\n0\r\n\r\n")
            answer = await client.answer()
            end = await client.line()
        await gate.upstream.until(lambda: len(gate.upstream.partial) == 1)
        after = await gate.write("/reports/7")

        assert (answer.status, answer.decision, answer.value("Connection")) == (504, "outcome-unknown", "close")
        assert end == b"" or end.startswith(b"HTTP/1.1 400 ")
        assert gate.upstream.partial[0].endswith(b"\r\n\r\n3\r\nabc\r\n")
        assert (after.status, len(gate.upstream.seen)) == (200, 1)


async def test_what_follows_a_body_is_a_request_of_its_own(store_url: str, tmp_path: Path) -> None:
    """A request hidden behind a body's last byte is judged like any other: without a token it is refused."""
    hidden = b"DELETE /reports/7 HTTP/1.1\r\nHost: gateway\r\n\r\n"
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            token = gate.tokens["agent-a"].encode()
            await client.send(PUT.replace(b"TOKEN", token) + b"Content-Length: 3\r\n\r\nabc" + hidden)
            answers = [await client.answer(), await client.answer("DELETE")]

        assert [(answer.status, answer.decision) for answer in answers] == [
            (200, "forwarded"),
            (428, "token-required"),
        ]
        assert [(seen.line, seen.body) for seen in gate.upstream.seen] == [("PUT /reports/7 HTTP/1.1", b"abc")]


async def test_what_follows_a_body_in_chunks_at_once_is_not_looked_at(store_url: str, tmp_path: Path) -> None:
    """It might have been given a trailer's field: the answer to the first request is the connection's last."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        whole = CHUNKED + b"3\r\nabc\r\n0\r\n\r\n"
        taken = await _conversation(gate, whole + whole)

        assert taken.startswith(b"HTTP/1.1 200 OK\r\n")
        assert (taken.count(b"HTTP/1.1 "), taken.count(b"\r\nConnection: close\r\n")) == (1, 1)
        assert [seen.body for seen in gate.upstream.seen] == [b"abc"]


@pytest.mark.parametrize("method", ["PROPFIND", "BREW"])
async def test_a_method_that_no_rule_names_is_never_forwarded(store_url: str, tmp_path: Path, method: str) -> None:
    """Known to the parser or not: a mutating method without a rule, or no method at all."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        taken = await _conversation(gate, PUT.replace(b"PUT", method.encode()) + b"Connection: close\r\n\r\n")

        assert taken.startswith((b"HTTP/1.1 403 Forbidden\r\n", b"HTTP/1.1 400 Bad Request\r\n"))
        assert b"Fencing-Decision: no-policy\r\n" in taken or b"Fencing-Decision: bad-request\r\n" in taken
        assert gate.upstream.seen == []


async def test_what_the_parser_refuses_is_logged(store_url: str, tmp_path: Path) -> None:
    """A line that is no HTTP is a decision too: one log line, without anything of what was sent."""
    async with stack(store_url, tmp_path) as gate:
        async with RawClient(gate.port) as client:
            await client.send(b"secret-looking nonsense\r\n\r\n")
            answer = await client.answer()

        assert answer.decision == "bad-request"
        log = gate.log.read_text()
        assert '"decision":"bad-request"' in log
        assert "nonsense" not in log


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("framing", ["Content-Length: 44", "Transfer-Encoding: chunked"])
async def test_a_read_with_a_body_is_refused(store_url: str, tmp_path: Path, method: str, framing: str) -> None:
    """An upstream that does not read it would execute it as the next request: an unfenced write."""
    hidden = b"PUT /reports/7 HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
    async with stack(store_url, tmp_path) as gate:
        async with RawClient(gate.port) as client:
            await client.send(request(method, "/reports/1", framing) + hidden)
            answer = await client.answer(method)

        assert (answer.status, answer.decision) == (400, "bad-request")
        assert gate.upstream.receiving == 0


@pytest.mark.parametrize(
    "name",
    [
        *("X-HTTP-Method-Override", "x-http-method", "X_Method_Override", "X.HTTP-Method-Override"),
        *("X~HTTP-Method-Override", "X-Original-URL", "X-Rewrite-Url", "SCRIPT_NAME", "Path-Info"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_method_override_is_refused(store_url: str, tmp_path: Path, method: str, name: str) -> None:
    """A read that deletes is two requests in one."""
    async with stack(store_url, tmp_path) as gate:
        answer = await ask(gate.port, method, "/reports/7", f"{name}: DELETE", body=b"{}")

        assert (answer.status, answer.decision) == (400, "ambiguous-target")
        assert gate.upstream.seen == []
