"""Handshakes of WebSocket sessions: admitted like any write, declined, or answered by what is no switch."""

from pathlib import Path

import pytest

from tests.proxy.rooms import LIVE, ROOM, logged, put
from tests.raw import ask, request
from tests.sessions import HANDSHAKE, KEY, POLICY, Agent, SessionUpstream, frame, lease, switching
from tests.stack import stack
from tests.store.fences import opened
from tests.until import until


@pytest.mark.parametrize(("status", "outcome"), [(b"403 Forbidden", "not_applied"), (b"200 OK", "applied")])
async def test_an_upstream_that_declines_is_passed_on_and_what_stood_behind_the_handshake_is_not(
    store_url: str, tmp_path: Path, status: bytes, outcome: str
) -> None:
    """Judged by `outcomes` like any answer; neither the early bytes nor the request hidden in them go anywhere."""
    declined = b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\nno"
    hidden = b"PUT /rooms/7 HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\n\r\n"
    upstream = SessionUpstream(lambda _: declined)
    async with stack(store_url, tmp_path, POLICY, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            answer = await agent.open(LIVE, token, then=hidden)
            assert await agent.rest() == b""
        await upstream.until(lambda: upstream.order[-1] in ("ended", "reset"))
        after = await put(gate.port, token)

    assert (answer.status, answer.body, answer.value("Fencing-Outcome")) == (int(status[:3]), b"no", outcome)
    assert answer.value("Connection") == "close"
    assert (upstream.received, after.status) == (b"", 200)


BROKEN = {
    "another key's": switching(b"AAAAAAAAAAAAAAAAAAAAAA=="),
    "no proof": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "another protocol": switching(KEY).replace(b"Upgrade: websocket", b"Upgrade: h2c"),
    "no protocol": switching(KEY).replace(b"Upgrade: websocket\r\n", b""),
    "no connection": switching(KEY).replace(b"Connection: Upgrade\r\n", b""),
    "two proofs": switching(KEY, b"Sec-WebSocket-Accept: x"),
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
async def test_a_switch_that_is_not_this_handshake_s_is_unknown(store_url: str, tmp_path: Path, answer: bytes) -> None:
    """Whatever it switched to, nothing is sent there; nobody knows what the handshake did."""
    upstream = SessionUpstream(lambda _: answer)
    async with stack(store_url, tmp_path, POLICY, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            told = await agent.open(LIVE, token, then=frame(b"early"))
            assert await agent.rest() == b""
        await upstream.until(lambda: upstream.order[-1] in ("ended", "reset"))

    assert (told.status, told.decision, upstream.received) == (504, "outcome-unknown", b"")


async def test_a_session_occupies_its_resource(store_url: str, tmp_path: Path) -> None:
    """Under `serial`, for its whole life: a lookup says so, and another write or session of the epoch has to wait."""
    upstream = SessionUpstream()
    policy = POLICY.replace("upgrade: websocket", "upgrade: websocket\n    fence: {{queue_timeout: 100ms}}")
    async with stack(store_url, tmp_path, policy, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent, Agent(gate.port) as second:
            await agent.open(LIVE, token)
            told = [await put(gate.port, token), await second.open(LIVE, token)]
            async with opened(store_url) as store:
                record = await store.look(ROOM)

    assert [(answer.status, answer.decision) for answer in told] == [(503, "resource-busy")] * 2
    assert record is not None and record.in_flight == 1
    assert len(upstream.handshakes) == 1


async def test_a_handshake_is_refused_like_any_write(store_url: str, tmp_path: Path) -> None:
    """Without a token, with an old one: the upstream sees nothing, and a plain GET of the path is a read."""
    upstream = SessionUpstream()
    async with stack(store_url, tmp_path, POLICY, upstream) as gate:
        old = await lease(gate.port, ROOM)
        await lease(gate.port, ROOM, "agent-b", takeover=True)
        told = []
        for token in ("", old, "1.malformed"):
            async with Agent(gate.port) as agent:
                answer = await agent.open(LIVE, token)
                told.append((answer.status, answer.decision, await agent.rest()))
        read = await ask(gate.port, "GET", LIVE)

    assert told == [(400, "token-malformed", b""), (412, "stale-epoch", b""), (400, "token-malformed", b"")]
    assert (read.status, read.decision, upstream.order) == (200, "passed", ["GET "])


@pytest.mark.parametrize(
    "fields",
    [
        HANDSHAKE[:1] + HANDSHAKE[2:],
        HANDSHAKE[2:],
        ("Connection: Up_grade", "Up_grade: websocket", *HANDSHAKE[2:]),
        ("Connection: upgrade", "up.grade: websocket", *HANDSHAKE[2:]),
    ],
    ids=["no upgrade", "a key alone", "an underscore", "a dot"],
)
async def test_what_only_looks_like_a_handshake_opens_nothing(
    store_url: str, tmp_path: Path, fields: tuple[str, ...]
) -> None:
    """It is a read, to the API too; a frame behind it is no request, which parsers see sooner or later."""
    upstream = SessionUpstream()
    async with stack(store_url, tmp_path, POLICY, upstream) as gate:
        read = await ask(gate.port, "GET", LIVE, *fields)
        async with Agent(gate.port) as agent:
            await agent.send(request("GET", LIVE, *fields) + frame(b"early"))
            early = await agent.answer("GET")

    assert read.decision == "passed"
    assert early.decision in ("passed", "bad-request")
    assert upstream.order == ["GET "] * (1 + (early.decision == "passed"))
    assert (upstream.handshakes, upstream.received) == ([], b"")


async def test_sessions_have_a_limit_of_their_own(store_url: str, tmp_path: Path) -> None:
    """Beyond it nothing is sent; writes do not wait for a session's connection, and an ended one makes room."""
    upstream = SessionUpstream()
    policy = POLICY.replace("timeouts:", "limits: {{sessions: 1, connections: 1}}\ntimeouts:")
    async with stack(store_url, tmp_path, policy, upstream) as gate:
        tokens = {room: await lease(gate.port, f"room/{room}") for room in ("7", "8", "9")}
        async with Agent(gate.port) as first, Agent(gate.port) as second:
            await first.open(LIVE, tokens["7"])
            refused = await second.open("/rooms/8/live", tokens["8"])
            write = await ask(gate.port, "PUT", "/rooms/9", f"Fencing-Token: {tokens['9']}", body=b"")
            first.writer.close()
            await upstream.until(lambda: "ended" in upstream.order or "reset" in upstream.order)
        await until(lambda: bool(logged(gate.log)))
        async with Agent(gate.port) as third:
            again = await third.open("/rooms/8/live", tokens["8"])

    assert (refused.status, refused.decision) == (502, "upstream-unreachable")
    assert (write.status, again.status) == (200, 101)


async def test_an_upstream_that_is_away_costs_nothing(store_url: str, tmp_path: Path) -> None:
    """Proved not sent."""
    async with SessionUpstream() as gone:
        port = gone.port
    async with stack(store_url, tmp_path, POLICY.replace("{port}", str(port))) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            answer = await agent.open(LIVE, token)

    assert (answer.status, answer.decision) == (502, "upstream-unreachable")
