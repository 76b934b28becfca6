"""Requests with `Upgrade` that are no handshake which a rule takes: refused before anything is asked or sent."""

from pathlib import Path

import pytest

from tests.raw import RawClient, request
from tests.sessions import HANDSHAKE, POLICY, SessionUpstream, lease
from tests.stack import stack

CONNECTION, UPGRADE, VERSION, KEY = HANDSHAKE
LIVE = "GET /rooms/7/live HTTP/1.1"
FAULTS = {
    "a path that no rule names": ("GET /rooms/7 HTTP/1.1", HANDSHAKE),
    "a path of no upstream's rules": ("GET /rooms/7/live/more HTTP/1.1", HANDSHAKE),
    "the agents' own calls": ("GET /-/fence/leases?resource=room/7 HTTP/1.1", HANDSHAKE),
    "a write": ("PUT /rooms/7 HTTP/1.1", HANDSHAKE),
    "a POST": ("POST /rooms/7/live HTTP/1.1", HANDSHAKE),
    "HTTP/1.0": ("GET /rooms/7/live HTTP/1.0", HANDSHAKE),
    "h2c": (LIVE, (CONNECTION, "Upgrade: h2c", VERSION, KEY)),
    "two protocols": (LIVE, (CONNECTION, "Upgrade: websocket, h2c", VERSION, KEY)),
    "two protocols, the other first": (LIVE, (CONNECTION, "Upgrade: h2c, websocket", VERSION, KEY)),
    "TLS": (LIVE, (CONNECTION, "Upgrade: TLS/1.0", VERSION, KEY)),
    "two lines of protocols": (LIVE, (*HANDSHAKE, "Upgrade: websocket")),
    "another version of the protocol": (LIVE, (CONNECTION, "Upgrade: websocket/13", VERSION, KEY)),
    "no Connection": (LIVE, (UPGRADE, VERSION, KEY)),
    "another Connection": (LIVE, ("Connection: keep-alive", UPGRADE, VERSION, KEY)),
    "no version": (LIVE, (CONNECTION, UPGRADE, KEY)),
    "version 8": (LIVE, (CONNECTION, UPGRADE, "Sec-WebSocket-Version: 8", KEY)),
    "two versions": (LIVE, (*HANDSHAKE, "Sec-WebSocket-Version: 13")),
    "no key": (LIVE, (CONNECTION, UPGRADE, VERSION)),
    "two keys": (LIVE, (*HANDSHAKE, KEY)),
    "a short key": (LIVE, (CONNECTION, UPGRADE, VERSION, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ")),
    "a key of 17 bytes": (LIVE, (CONNECTION, UPGRADE, VERSION, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAA=")),
    "a key that is no base64": (LIVE, (CONNECTION, UPGRADE, VERSION, "Sec-WebSocket-Key: ******************AAAA==")),
    "a body": (LIVE, (*HANDSHAKE, "Content-Length: 5")),
    "a body in chunks": (LIVE, (*HANDSHAKE, "Transfer-Encoding: chunked")),
}
HIDDEN = request("PUT", "/rooms/7", "Fencing-Token: TOKEN", body=b"hidden")


@pytest.mark.parametrize(("line", "fields"), FAULTS.values(), ids=FAULTS)
async def test_what_no_rule_takes_is_a_bad_request_and_the_connection_s_last(
    store_url: str, tmp_path: Path, line: str, fields: tuple[str, ...]
) -> None:
    """One 400; what stands behind it is neither a session's nor a request; nothing is sent, no epoch moves."""
    async with stack(store_url, tmp_path, POLICY, SessionUpstream()) as gate:
        token = (await lease(gate.port, "room/7")).encode()
        before = await gate.highest("room/7")
        head = "\r\n".join((line, "Host: gateway", *fields)).encode()
        async with RawClient(gate.port) as client:
            await client.send(head + b"\r\nFencing-Token: " + token + b"\r\n\r\n" + HIDDEN.replace(b"TOKEN", token))
            answer = await client.answer()
            end = await client.line()

        assert (answer.status, answer.decision, answer.value("Connection"), end) == (400, "bad-request", "close", b"")
        assert (gate.upstream.order, await gate.highest("room/7")) == ([], before)


async def test_lines_of_connection_that_parsers_read_differently_open_nothing(store_url: str, tmp_path: Path) -> None:
    """Whether Connection's lines are one or two: it is a session with all that follows, or a refusal and the end."""
    async with stack(store_url, tmp_path, POLICY, SessionUpstream()) as gate:
        token = (await lease(gate.port, "room/7")).encode()
        fields = ("Connection: keep-alive", "Connection: Upgrade", UPGRADE, VERSION, KEY)
        async with RawClient(gate.port) as client:
            head = request("GET", "/rooms/7/live", f"Fencing-Token: {token.decode()}", *fields)
            await client.send(head + HIDDEN.replace(b"TOKEN", token))
            status = int((await client.line()).split(b" ")[1])
            if status == 101:
                await gate.upstream.until(lambda: bool(gate.upstream.received))

        assert status in (101, 400)
        assert not [event for event in gate.upstream.order if event.startswith("PUT")]
