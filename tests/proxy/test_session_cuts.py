"""WebSocket sessions that are cut: in time, with their reason, and before the newer write begins."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from gateway.core.pause import Scope
from gateway.store.intents import pause
from gateway.store.keys import resource_keys
from gateway.store.packed import unpack_event
from gateway.store.pauses import begin_pause
from tests.proxy.rooms import LIVE, ROOM, hurry, in_session, logged, put
from tests.raw import ask
from tests.sessions import KEY, POLICY, Agent, SessionUpstream, cut, frame, lease, switching
from tests.stack import stack
from tests.store.fences import opened
from tests.store.server import Server
from tests.until import until


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


async def test_who_is_overtaken_amid_its_handshake_has_no_session(store_url: str, tmp_path: Path) -> None:
    """Its upstream says yes only then: not a byte of the session reaches it, and the newer write comes last."""
    upstream = SessionUpstream(lambda _: b"")
    async with stack(store_url, tmp_path, POLICY, upstream) as gate:
        token = await lease(gate.port, ROOM)
        async with Agent(gate.port) as agent:
            opening = asyncio.ensure_future(agent.open(LIVE, token, then=frame(b"early")))
            await upstream.until(lambda: bool(upstream.order))
            newer = await lease(gate.port, ROOM, "agent-b", takeover=True)
            await upstream.say(switching(KEY))
            answer = await put(gate.port, newer)
            await asyncio.wait([opening])

    assert (answer.status, upstream.received) == (200, b"")
    assert upstream.order[0] == "asked" and upstream.order[-1].startswith("PUT")


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
