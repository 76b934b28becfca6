"""A request that stands in the body of one that is refused: it is read over with that body, or the connection ends."""

from pathlib import Path

import pytest

from tests.raw import RawClient, request
from tests.stack import POLICY, Stack, stack

HIDDEN = b"GET /reports/hidden HTTP/1.1\r\nHost: gateway\r\n\r\n"
NEXT = b"GET /reports/next HTTP/1.1\r\nHost: gateway\r\n\r\n"
BOUNDED = POLICY.replace("timeouts:", "limits: {{body: 1KiB, stream: 1KiB}}\ntimeouts:")
LENGTH, CHUNKS = f"Content-Length: {len(HIDDEN)}", "Transfer-Encoding: chunked"
REFUSED = {
    "no token": ("PUT", "/reports/7"),
    "a token that is none": ("PUT", "/reports/7", "Fencing-Token: x"),
    "no rule": ("PUT", "/reports/7/parts"),
    "no upstream": ("POST", "/nowhere"),
    "no path": ("PUT", "/reports/%zz"),
    "two paths": ("PUT", "/reports/../7"),
    "another method named": ("PUT", "/reports/7", "X-HTTP-Method-Override: DELETE"),
    "a lease call": ("POST", "/-/fence/leases"),
    "a call that there is not": ("POST", "/-/fence/zzz"),
    "a body that is asked about": ("PUT", "/reports/7", "Expect: 100-continue"),
}
LAST = {
    "a read": request("GET", "/reports/7", LENGTH),
    "a lookup": request("GET", "/-/fence/leases?resource=report/7", LENGTH),
    "a handshake": request("GET", "/reports/7", "Connection: Upgrade", "Upgrade: websocket", LENGTH),
    "a body that is too long": request("PUT", "/reports/7", "Content-Length: 999999999"),
    "a tunnel": b"CONNECT gateway:1 HTTP/1.1\r\nHost: gateway:1\r\n\r\n",
    "a loop back": request("TRACE", "/reports/7"),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a signed length": request("PUT", "/reports/7", "Content-Length: +5") + b"abcde",
    "a length of a kind": request("PUT", "/reports/7", "Content_Length: 5") + b"abcde",
    "a chunk of 17 digits": request("PUT", "/reports/7", CHUNKS) + b"10000000000000000\r\n",
}


async def told(gate: Stack, data: bytes) -> bytes:
    """All that comes back, until the gateway closes."""
    async with RawClient(gate.port) as client:
        await client.send(data)
        return await client.reader.read()


@pytest.mark.parametrize("framing", [LENGTH, CHUNKS], ids=["with a length", "in chunks"])
@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
async def test_it_is_never_answered(store_url: str, tmp_path: Path, refused: tuple[str, ...], framing: str) -> None:
    """One refusal; then the request that really follows, or nothing more."""
    method, target, *fields = refused
    body = HIDDEN if framing == LENGTH else b"%x\r\n%b\r\n0\r\n\r\n" % (len(HIDDEN), HIDDEN)
    async with stack(store_url, tmp_path, BOUNDED) as gate:
        data = (
            request(method, target, *fields, framing)
            + body
            + NEXT.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        )
        answers = await told(gate, data)

        assert answers.startswith((b"HTTP/1.1 4", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 4"))
        assert answers.count(b"\r\nFencing-Decision: passed\r\n") == len(gate.upstream.seen)
        assert {seen.line for seen in gate.upstream.seen} <= {"GET /reports/next HTTP/1.1"}
        assert (gate.upstream.partial, answers.count(b"Fencing-Decision: ")) == ([], 1 + len(gate.upstream.seen))


@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
async def test_where_nobody_can_tell_the_end_of_its_body_the_connection_ends(
    store_url: str, tmp_path: Path, last: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answer, and no other; nothing is sent."""
    monkeypatch.setattr("gateway.proxy.reply._DROP_WITHIN_S", 0.1)
    async with stack(store_url, tmp_path, BOUNDED) as gate:
        answers = await told(gate, last + HIDDEN)

        assert answers.startswith(b"HTTP/1.1 4")
        assert answers.count(b"Fencing-Decision: ") == 1
        assert (gate.upstream.seen, gate.upstream.partial) == ([], [])
