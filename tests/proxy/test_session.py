"""WebSocket sessions through the gate, as whole conversations: what both ends say passes on untouched."""

import asyncio
import contextlib
from pathlib import Path

import pytest
import websockets

from tests.issuer import SECRET, Issuer
from tests.proxy.rooms import LIVE, ROOM, in_session, logged, put
from tests.sessions import KEY, POLICY, Agent, SessionUpstream, frame, lease, switching
from tests.stack import stack
from tests.until import until


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
