"""Handshakes against a raw upstream: sent once, on a connection of their own, and an honest account of what came."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.outcome import NoReply, NotSent
from gateway.core.rule import Limits, Origin, Rule, Timeouts, Tls, Upstream
from gateway.core.session import Switched
from gateway.core.write import Admitted
from gateway.flow.clock import BootClock
from gateway.upstream.sender import HttpSender, Reply
from tests.certificates import Authority
from tests.sessions import KEY, SessionUpstream, switching
from tests.upstream.given import Given, SetClock, request, upstream_at
from tests.upstream.given import admitted as admitted_at

HANDSHAKE = request("GET", "/rooms/7/live", (b"Sec-WebSocket-Key", KEY))


def admitted(upstream: Upstream) -> Admitted:
    one = admitted_at(upstream)
    return replace(one, write=replace(one.write, rule=Rule("live", upstream, upgrade="websocket")))


async def switch(
    sender: HttpSender, upstream: Upstream, clock: BootClock | None = None
) -> Reply | Switched | NotSent | NoReply:
    deadline = (clock or BootClock()).after(upstream.timeouts.total_s)
    return await sender.switch(admitted(upstream), HANDSHAKE, Given(whole=True), deadline)


async def test_what_comes_with_and_after_the_switch_is_the_session_s(sender: HttpSender) -> None:
    """Interim answers before it are read over."""
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    async with SessionUpstream(lambda key: early + switching(key, b"X: 1") + b"first") as recorder:
        switched = await switch(sender, upstream_at(recorder.port))
        assert isinstance(switched, Switched)
        await recorder.say(b"second")

        assert (switched.status, dict(switched.headers)[b"X"]) == (101, b"1")
        assert [await switched.end.read(), await switched.end.read()] == [b"first", b"second"]
        assert await switched.end.send(b"from here", lambda: True)
        await recorder.until(lambda: recorder.received == b"from here")
        switched.end.abort()
        await recorder.until(lambda: recorder.order[-1] == "reset")


async def test_a_session_over_tls_is_one(sender: HttpSender, tmp_path: Path) -> None:
    """Records that came together with the 101 are the session's first bytes, and the end comes after them."""
    authority = Authority(tmp_path / "ca")

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        # Two records, which leave in one write.
        for piece in (switching(KEY) + b"1", b"2"):
            writer.write(piece)
        writer.write(await reader.readexactly(5))
        writer.close()

    server = await asyncio.start_server(served, "127.0.0.1", 0, ssl=authority.server("server"))
    port = server.sockets[0].getsockname()[1]
    try:
        upstream = Upstream("u", Origin("https", "localhost", port), tls=Tls(ca=str(authority.ca)))
        switched = await switch(sender, upstream)
        assert isinstance(switched, Switched)
        assert await switched.end.send(b"hello", lambda: True)
        taken = b""
        while piece := await switched.end.read():
            taken += piece
        switched.end.abort()
    finally:
        server.close()

    assert taken == b"12hello"


async def test_an_ordinary_answer_is_read_like_any_other_and_its_connection_closed(sender: HttpSender) -> None:
    """It has its body, and its connection is used by nobody else."""
    declined = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone"
    async with SessionUpstream(lambda _: declined) as recorder:
        reply = await switch(sender, upstream_at(recorder.port))
        assert isinstance(reply, Reply)
        assert await reply.read_small(100) == (b"none", True)
        reply.close()
        await recorder.until(lambda: recorder.order[-1] == "ended")

        assert reply.status == 404


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        pytest.param(b"", "timeout", id="nothing"),
        pytest.param(b"HTTP/1.1 101 Switching", "timeout", id="half a head"),
        pytest.param(b"no HTTP\r\n\r\n", "malformed", id="another language"),
        pytest.param(switching(b"AAAAAAAAAAAAAAAAAAAAAA=="), "malformed", id="another handshake's answer"),
    ],
)
async def test_no_whole_answer_is_none(sender: HttpSender, answer: bytes, cause: str) -> None:
    """Within the handshake's time; and its connection is closed."""
    async with SessionUpstream(lambda _: answer) as recorder:
        within_s = 0.2 if cause == "timeout" else 20.0
        told = await switch(sender, upstream_at(recorder.port, timeouts=Timeouts(total_s=within_s)))
        await recorder.until(lambda: recorder.order[-1] in ("ended", "reset"))

    assert isinstance(told, NoReply)
    assert told.cause == cause


async def test_nothing_is_sent_after_the_deadline() -> None:
    """The next try is admitted anew."""
    clock = SetClock()
    sender = HttpSender(clock)
    async with SessionUpstream() as recorder:
        clock.passed = True
        told = await switch(sender, upstream_at(recorder.port), clock)

        assert isinstance(told, NotSent) and told.cause == "late"
        assert recorder.handshakes == []


async def test_every_end_makes_room_for_another_session(sender: HttpSender) -> None:
    """Whatever it was: over the limit nothing is sent."""
    async with SessionUpstream() as recorder:
        upstream = upstream_at(recorder.port, limits=Limits(sessions=1))
        away = replace(upstream, origin=Origin("http", "localhost", 1))
        first = await switch(sender, upstream)
        refused = await switch(sender, upstream)
        assert isinstance(first, Switched)
        first.end.abort()
        first.end.abort()
        unreachable = [await switch(sender, away) for _ in range(2)]
        second = await switch(sender, upstream)
        assert isinstance(second, Switched)
        second.end.abort()

    assert isinstance(refused, NotSent) and "1 sessions" in refused.detail
    assert all(isinstance(one, NotSent) and "sessions" not in one.detail for one in unreachable)
    assert len(recorder.handshakes) == 2


async def test_a_handshake_that_is_interrupted_makes_room_too(sender: HttpSender) -> None:
    """Its gateway is being stopped."""
    async with SessionUpstream(lambda _: b"") as recorder:
        upstream = upstream_at(recorder.port, limits=Limits(sessions=1))
        for _ in range(2):
            asking = asyncio.ensure_future(switch(sender, upstream))
            before = len(recorder.handshakes)
            await recorder.until(lambda before=before: len(recorder.handshakes) > before)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
