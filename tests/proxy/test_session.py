"""WebSocket sessions through the gate, as whole conversations: passed on untouched, fenced, and cut in time."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import websockets

from gateway.core.pause import Scope
from gateway.core.write import ResourceKey
from gateway.store.intents import pause
from gateway.store.keys import resource_keys
from gateway.store.packed import unpack_event
from gateway.store.pauses import begin_pause
from tests.issuer import SECRET, Issuer
from tests.raw import RawAnswer, ask
from tests.sessions import KEY, POLICY, Agent, SessionUpstream, cut, frame, lease, switching
from tests.stack import Stack, stack
from tests.store.fences import opened
from tests.store.server import Server
from tests.until import until

ROOM = ResourceKey("room/7")
LIVE = "/rooms/7/live"


@contextlib.asynccontextmanager
async def in_session(
    store_url: str, directory: Path, upstream: SessionUpstream | None = None
) -> AsyncIterator[tuple[Stack, Agent, SessionUpstream, str]]:
    """A gate, an agent whose session in the room has begun, the upstream, and the agent's token."""
    upstream = upstream or SessionUpstream()
    async with stack(store_url, directory, POLICY, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            await agent.open(LIVE, token)
            yield gate, agent, upstream, token


async def put(port: int, token: str) -> RawAnswer:
    return await ask(port, "PUT", "/rooms/7", f"Fencing-Token: {token}", body=b"new")


def logged(log: Path) -> list[dict[str, Any]]:
    """What was logged of sessions that have ended."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line for line in lines if line.get("status") == 101]


def hurry(raw: Any) -> None:
    """Wake the gateway that holds the room's session, as a change of the resource does."""
    (watcher,) = {field.decode().partition("/")[0] for field in raw.hkeys(resource_keys(ROOM)[3])}
    raw.publish(f"fg:wake:{watcher}", ROOM)


async def test_bytes_pass_untouched_in_both_directions(store_url: str, tmp_path: Path) -> None:
    """Subprotocol and extensions too; the token stays here, and the fence's words stand beside the 101."""
    upstream = SessionUpstream(lambda key: switching(key, b"Sec-WebSocket-Protocol: chat", b"Content-Length: 0"))
    async with stack(store_url, tmp_path, POLICY, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            answer = await agent.open(LIVE, token, "Sec-WebSocket-Protocol: chat", "Sec-WebSocket-Extensions: x")
            sent, said = bytes(range(256)) * 2000, frame(b"hello", masked=False) + bytes(range(256)) * 3000
            await agent.send(sent)
            await upstream.until(lambda: len(upstream.received) == len(sent))
            saying = asyncio.ensure_future(upstream.say(said))
            taken = await agent.take(len(said))
            await saying

        (head,) = upstream.handshakes
        fields = {line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:] if line}
        assert (upstream.received, taken) == (sent, said)
        assert answer.values("Upgrade") + answer.values("Connection") == ["websocket", "Upgrade"]
        assert (answer.value("Sec-WebSocket-Protocol"), answer.value("Content-Length")) == ("chat", None)
        assert (answer.decision, answer.value("Fencing-Outcome")) == ("forwarded", "applied")
        assert answer.value("Fencing-Epoch") == token.partition(".")[0]
        assert b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" in head
        assert b"\r\nSec-WebSocket-Key: " + KEY + b"\r\n" in head
        assert {b"sec-websocket-version", b"sec-websocket-protocol", b"sec-websocket-extensions"} <= fields
        assert not any(field.startswith(b"fencing") for field in fields)


@pytest.mark.parametrize("exp", [1e308, 2**64 - 1])
async def test_a_claim_may_end_far_beyond_any_clock(store_url: str, tmp_path: Path, exp: float) -> None:
    """Its session lives as any other."""
    signed = f"    authority: {{{{signed: {{{{keys: {{{{secret: {SECRET}}}}}, algorithms: [HS256]}}}}}}}}\n"
    policy = POLICY.replace("    resource: room/{{path.id}}\n", "    resource: room/{{path.id}}\n" + signed)
    upstream = SessionUpstream()
    async with stack(store_url, tmp_path, policy, upstream) as gate, Agent(gate.port) as agent:
        answer = await agent.open(LIVE, Issuer(SECRET, "HS256", resource=ROOM).claim(42, exp=exp))
        await agent.send(frame(b"here"))
        await upstream.until(lambda: len(upstream.received) == len(frame(b"here")))

        assert answer.status == 101


async def test_libraries_of_both_ends_do_not_notice_the_gateway(store_url: str, tmp_path: Path) -> None:
    """Compressed messages, fragments, pings, and the closing handshake with its code."""

    async def echo(connection: websockets.ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async with websockets.serve(echo, "127.0.0.1", 0) as served:
        port = served.sockets[0].getsockname()[1]
        async with stack(store_url, tmp_path, POLICY.replace("{port}", str(port))) as gate:
            shown = {"Fencing-Token": await lease(gate.port, ROOM)}
            url = f"ws://127.0.0.1:{gate.port}{LIVE}"
            async with websockets.connect(url, additional_headers=shown) as agent:
                await agent.send("a" * 300_000)
                assert await agent.recv() == "a" * 300_000
                await agent.send([b"b", b"c"])
                assert await agent.recv() == b"bc"
                await (await agent.ping())
                await agent.close(4000, "enough")
            assert agent.close_code == 4000
            await until(lambda: bool(logged(gate.log)))
            (line,) = logged(gate.log)

    assert (line["decision"], line["outcome"], line["rule"]) == ("forwarded", "applied", "live")
    assert line["why"] in ("the agent left", "the upstream closed")


async def test_an_overtaken_session_ends_before_the_newer_write_begins(
    store_url: str, tmp_path: Path, raw: Any
) -> None:
    """G3: the upstream sees the session's end and then the write; the agent is told why; all of it is on record."""
    async with in_session(store_url, tmp_path) as (gate, agent, upstream, _token):
        await agent.send(frame(b"old"))
        await upstream.until(lambda: bool(upstream.received))
        newer = await lease(gate.port, ROOM, "agent-b", takeover=True)
        answer = await put(gate.port, newer)
        assert await agent.rest() == cut(1008, "stale-epoch")
        await until(lambda: bool(logged(gate.log)))

    events = [unpack_event(fields[b"e"]) for _, fields in raw.xrange(resource_keys(ROOM)[5])]
    reasons = [event.reason for event in events if event.before == "in_flight"]
    assert answer.status == 200
    assert [event.partition(" ")[0] for event in upstream.order] == ["asked", "began", "got", "reset", "PUT"]
    assert logged(gate.log)[0]["why"] == "cut: stale-epoch"
    assert reasons[0].startswith("a session of ")
    assert reasons[0].endswith(" s; cut: stale-epoch")


async def test_a_session_that_never_stops_sending_is_cut_all_the_same(store_url: str, tmp_path: Path) -> None:
    """The newer write does not wait for it to say less. What the upstream had taken by then is its own to read."""
    async with in_session(store_url, tmp_path) as (gate, agent, upstream, _token):

        async def flood() -> None:
            while True:
                await agent.send(frame(b"x" * 100) * 500)

        flooding = asyncio.ensure_future(flood())
        await upstream.until(lambda: len(upstream.received) > 1_000_000)
        newer = await lease(gate.port, ROOM, "agent-b", takeover=True)
        answer = await put(gate.port, newer)
        await upstream.until(lambda: "reset" in upstream.order)
        flooding.cancel()
        await asyncio.wait([flooding])

    assert answer.status == 200


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("expired", "lease-expired"),
        ("released", "lease-expired"),
        ("its resource paused", "paused"),
        ("its rule paused", "paused"),
    ],
)
async def test_a_session_ends_when_a_write_of_its_token_would_be_refused(
    store_url: str, tmp_path: Path, raw: Any, how: str, reason: str
) -> None:
    """With 1008 and the decision's name; the upstream's end breaks off."""
    async with in_session(store_url, tmp_path) as (gate, agent, upstream, token):
        await until(lambda: bool(raw.exists(resource_keys(ROOM)[3])))
        if how == "expired":
            raw.hset(resource_keys(ROOM)[0], "x", 1)
            hurry(raw)
        elif how == "released":
            await ask(gate.port, "POST", "/-/fence/leases/release", f"Fencing-Token: {token}",
                      body=b'{"resource": "room/7"}')  # fmt: skip
        else:
            async with opened(store_url) as store:
                if how == "its rule paused":
                    await begin_pause(store, Scope("rule", "live", "rooms"), id="p", reason="", by="operator")
                else:
                    await pause(store, ROOM, id="p", reason="", by="operator")
        assert await agent.rest() == cut(1008, reason)
        await upstream.until(lambda: upstream.order[-1] == "reset")


async def test_a_session_ends_at_the_instant_its_lease_does(
    store_url: str, tmp_path: Path, raw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not the next question to the store that ends it."""
    monkeypatch.setattr("gateway.flow.session._EXTEND_EVERY_S", 4.0)
    monkeypatch.setattr("gateway.flow.session._SHORTEST_TURN_S", 4.0)
    async with in_session(store_url, tmp_path) as (_gate, agent, _upstream, _token):
        await until(lambda: bool(raw.exists(resource_keys(ROOM)[3])))
        seconds, micros = raw.time()
        raw.hset(resource_keys(ROOM)[0], "x", seconds * 1000 + micros // 1000 + 300)
        hurry(raw)
        assert await agent.rest() == cut(1008, "lease-expired")


async def test_a_session_in_the_middle_of_a_frame_breaks_off(store_url: str, tmp_path: Path) -> None:
    """A close frame would be read as a part of the frame that is on its way."""
    async with in_session(store_url, tmp_path) as (gate, agent, upstream, _token):
        await upstream.say(frame(b"hello", masked=False)[:4])
        assert await agent.take(4) == b"\x81\x05he"
        await lease(gate.port, ROOM, "agent-b", takeover=True)

        assert await agent.rest() == b""


async def test_a_store_that_is_away_for_longer_than_a_ticket_lives_ends_sessions(
    store_url: str, tmp_path: Path, store_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can tell whether a newer epoch has come."""
    monkeypatch.setattr("gateway.flow.session.LIFE_S", 0.3)
    monkeypatch.setattr("gateway.flow.session._EXTEND_EVERY_S", 0.05)
    async with in_session(store_url, tmp_path) as (gate, agent, upstream, _token):
        await agent.send(frame(b"a"))
        await upstream.until(lambda: bool(upstream.received))
        store_server.pause()
        try:
            assert await agent.rest() == cut(1013, "store-unavailable")
            await upstream.until(lambda: upstream.order[-1] == "reset")
        finally:
            store_server.resume()
        await until(lambda: bool(logged(gate.log)))


async def test_a_stopping_gateway_tells_its_agents_and_settles(store_url: str, tmp_path: Path, raw: Any) -> None:
    """After the grace: 1001, and no ticket is left to lapse."""
    async with contextlib.AsyncExitStack() as agents:
        async with stack(store_url, tmp_path, POLICY, SessionUpstream(), grace_s=0.1) as gate:
            agent = await agents.enter_async_context(Agent(gate.port))
            await agent.open(LIVE, await lease(gate.port, ROOM))
        assert await agent.rest() == cut(1001, "the gateway stops")

    assert raw.hlen(resource_keys(ROOM)[1]) == 0
    assert logged(tmp_path / "gateway.log")[0]["why"] == "cut: the gateway stops"


async def test_an_end_that_its_upstream_makes_reaches_the_agent_whole(store_url: str, tmp_path: Path) -> None:
    """The last bytes come before the end, and the resource is free."""
    async with in_session(store_url, tmp_path) as (gate, agent, upstream, token):
        upstream.writers[-1].write(frame(b"bye", masked=False) * 1000)
        upstream.writers[-1].close()
        assert await agent.rest() == frame(b"bye", masked=False) * 1000
        assert (await put(gate.port, token)).status == 200


async def test_an_agent_that_has_said_all_still_hears_its_upstream(store_url: str, tmp_path: Path) -> None:
    """One half of its connection is closed: the upstream gets all that was sent and the end, and answers."""
    upstream = SessionUpstream(farewell=frame(b"bye", masked=False))
    async with in_session(store_url, tmp_path, upstream) as (gate, agent, _upstream, token):
        await agent.send(frame(b"last words"))
        agent.writer.write_eof()
        await upstream.until(lambda: upstream.order[-1] == "ended")
        assert upstream.received == frame(b"last words")
        assert await agent.rest() == upstream.farewell
        assert (await put(gate.port, token)).status == 200


async def test_an_upstream_that_declines_is_passed_on_and_what_stood_behind_the_handshake_is_not(
    store_url: str, tmp_path: Path
) -> None:
    """Judged by `outcomes` like any answer; neither the early bytes nor the request hidden in them go anywhere."""
    declined = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"
    hidden = b"PUT /rooms/7 HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\n\r\n"
    upstream = SessionUpstream(lambda _: declined)
    async with stack(store_url, tmp_path, POLICY, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            answer = await agent.open(LIVE, token, then=hidden)
            assert await agent.rest() == b""
        await upstream.until(lambda: upstream.order[-1] in ("ended", "reset"))
        after = await put(gate.port, token)

    assert (answer.status, answer.body, answer.value("Fencing-Outcome")) == (403, b"no", "not_applied")
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


async def test_what_is_sent_early_waits_for_the_switch(store_url: str, tmp_path: Path) -> None:
    """Bytes in the same packet as the handshake are the session's first; what comes with the 101 is the answer's."""
    upstream = SessionUpstream(lambda key: switching(key) + frame(b"first", masked=False))
    async with stack(store_url, tmp_path, POLICY, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            await agent.open(LIVE, token, then=frame(b"early"))
            assert await agent.take(7) == frame(b"first", masked=False)
            await upstream.until(lambda: upstream.received == frame(b"early"))

    assert upstream.order[:2] == ["asked", "began"]


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


@pytest.mark.parametrize("slow", ["the upstream", "the agent"])
async def test_a_slow_end_slows_the_other_down(store_url: str, tmp_path: Path, slow: str) -> None:
    """What it does not take stays with its sender: neither end fills the gateway's memory. It is cut all the same."""
    upstream = SessionUpstream(reads=slow != "the upstream")
    async with in_session(store_url, tmp_path, upstream) as (gate, agent, _upstream, _token):
        await upstream.until(lambda: bool(upstream.writers))
        send = agent.send if slow == "the upstream" else upstream.say
        taken = 0
        # The kernel's buffers on both sides hold some megabytes each.
        with contextlib.suppress(TimeoutError, ConnectionError):
            while taken < 128 << 20:
                async with asyncio.timeout(0.3):
                    await send(b"x" * (1 << 20))
                taken += 1 << 20
        newer = await lease(gate.port, ROOM, "agent-b", takeover=True)
        answer = await put(gate.port, newer)

    assert taken < 64 << 20
    assert answer.status == 200
