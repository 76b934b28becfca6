"""An answer that comes before all of its request has left: the rest goes on beside it, within the write's time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from gateway.core.faults import BrokenAnswer, CallerGone
from gateway.core.rule import Timeouts
from gateway.upstream.reply import Reply
from gateway.upstream.sender import HttpSender
from tests.recording import OK, RecordingUpstream, Seen
from tests.upstream.given import Given, request, send, upstream_at

_PIECE = b"x" * 65_536
# More than the buffers of both sides hold.
_PIECES = 128


async def _accept(_: Seen, writer: asyncio.StreamWriter) -> None:
    """At the head."""
    writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok")
    await writer.drain()


async def _nothing(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """It has answered; but another request."""
    if seen.line.startswith("PUT "):
        writer.write(OK)


class Held(Given):
    """The rest of the body comes once it is let go."""

    def __init__(self, *pieces: bytes | Exception) -> None:
        super().__init__(*pieces)
        self.go_on = asyncio.Event()
        self._first = True

    async def read(self) -> bytes:
        if not self._first:
            await self.go_on.wait()
        self._first = False
        return await super().read()


async def _accepted(sender: HttpSender, recorder: RecordingUpstream, body: Given, total_s: float = 20.0) -> Reply:
    upstream = upstream_at(recorder.port, timeouts=Timeouts(total_s=total_s))
    reply = await send(sender, upstream, request("POST"), body)
    assert isinstance(reply, Reply)
    assert (reply.status, reply.is_early) == (202, True)
    return reply


async def test_the_answer_ends_once_the_body_has_left(sender: HttpSender) -> None:
    """The upstream has all of it. Its connection carries no other request: what came behind the answer may have been
    taken for one.
    """
    async with RecordingUpstream(before_body=_accept, answer=_nothing) as recorder:
        body = Held(b"first", b"second")
        reply = await _accepted(sender, recorder, body)
        reading = asyncio.ensure_future(reply.read_small(1000))
        body.go_on.set()

        assert await reading == (b"ok", True)
        assert reply.is_early is False
        reply.close()
        await recorder.until(lambda: len(recorder.seen) == 1)
        recorder.before_body = None
        again = await send(sender, upstream_at(recorder.port), request(), Given(b"{}", whole=True))
        assert isinstance(again, Reply)
        again.close()
        assert [seen.body for seen in recorder.seen] == [b"firstsecond", b"{}"]
        assert recorder.connections == 2


async def test_what_does_not_come_in_time_stays_out(sender: HttpSender) -> None:
    """The answer is whole, its request is not: whoever reads it is told so."""
    async with RecordingUpstream(before_body=_accept, answer=_nothing) as recorder:
        reply = await _accepted(sender, recorder, Held(b"first", b"second"), total_s=0.3)

        assert await reply.read_small(1000) == (b"ok", True)
        assert reply.is_early
        reply.close()
        await recorder.until(lambda: len(recorder.partial) == 1)
        assert recorder.seen == []


async def test_a_body_that_breaks_off_is_not_whole(sender: HttpSender) -> None:
    """Its caller has left; the upstream never holds a whole request."""
    async with RecordingUpstream(before_body=_accept, answer=_nothing) as recorder:
        body = Held(b"first", CallerGone("the caller left"))
        reply = await _accepted(sender, recorder, body)
        body.go_on.set()
        with contextlib.suppress(BrokenAnswer):
            await reply.read_small(1000)

        assert reply.is_early
        reply.close()
        await recorder.until(lambda: len(recorder.partial) == 1)
        assert recorder.seen == []


@contextlib.asynccontextmanager
async def _echo() -> AsyncIterator[int]:
    """An upstream that says each byte of a body back as it reads it; the port."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        left = len(_PIECE) * _PIECES
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % left)
        while left:
            piece = await reader.read(len(_PIECE))
            left -= len(piece)
            writer.write(piece)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_an_upstream_may_answer_as_it_reads(sender: HttpSender) -> None:
    """More than either side would hold: neither waits for the other."""
    async with _echo() as port:
        body = Given(*[_PIECE] * _PIECES, length=len(_PIECE) * _PIECES)
        upstream = upstream_at(port, timeouts=Timeouts(total_s=30.0))
        reply = await send(sender, upstream, request("POST"), body)
        assert isinstance(reply, Reply)
        heard = 0
        while piece := await reply.read(None):
            heard += len(piece)
        reply.close()

    assert heard == len(_PIECE) * _PIECES
    assert reply.is_early is False


@pytest.mark.parametrize("status", [b"401 Unauthorized", b"503 Service Unavailable"])
async def test_behind_a_refusal_nothing_goes_on(sender: HttpSender, status: bytes) -> None:
    """The rest is of no use to whoever has refused it (RFC 9112, section 9.5)."""

    async def refuse(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 %b\r\nContent-Length: 0\r\n\r\n" % status)
        await writer.drain()

    async with RecordingUpstream(before_body=refuse, answer=_nothing) as recorder:
        reply = await send(sender, upstream_at(recorder.port), request("POST"), Held(b"first", b"second"))
        assert isinstance(reply, Reply)

        assert await reply.read_small(1000) == (b"", True)
        assert reply.is_early
        reply.close()
