"""Answers as they come over the wire: whole by their own framing, or broken; never more than one."""

import asyncio
import socket

import pytest

from gateway.core.faults import BrokenAnswer
from gateway.core.outcome import NoReply
from gateway.upstream.exchange import Exchange
from gateway.upstream.sender import HttpSender, Reply
from gateway.upstream.wire import Wire
from tests.recording import OK, RecordingUpstream, Seen, answering
from tests.upstream.given import Given, request, send, upstream_at


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "malformed"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "malformed"),
        (b"SSH-2.0-OpenSSH\r\n", "malformed"),
        (b"RTSP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"ICE/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"\r\nRTSP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 100 Continue\r\n\r\nRTSP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 000 Odd\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 1000 Odd\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nX: a\r\n Fencing-Decision: replayed\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nX: a\rFencing-Decision: replayed\r\nContent-Length: 2\r\n\r\nok", "malformed"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nX-Cut: of", "malformed"),
    ],
    ids=[
        *("two lengths", "length and chunked", "other coding", "upgrade", "not HTTP", "RTSP", "ICE"),
        *("RTSP behind an empty line", "RTSP behind an interim answer", "one length twice"),
        *(
            "a list of lengths",
            "a signed length",
            "a blank before the colon",
            "line feeds",
            "two codings",
            "identity",
            "status 099",
        ),
        *("status 000", "status 1000", "an interim answer alone", "folded field", "bare carriage return"),
        *("head too large", "head cut off"),
    ],
)
async def test_an_answer_without_a_valid_head_is_no_reply(sender: HttpSender, answer: bytes, cause: str) -> None:
    """What cannot be read for certain proves nothing."""
    async with RecordingUpstream(answer=answering(answer, close=True)) as recorder:
        evidence = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))

        assert isinstance(evidence, NoReply) and evidence.cause == cause
        assert len(recorder.seen) == 1


@pytest.mark.parametrize("status", [b"000", b"099", b"001"])
async def test_a_status_that_http_does_not_have_is_not_waited_behind(sender: HttpSender, status: bytes) -> None:
    """It is no interim answer, though it is below 200: the connection is closed, and nothing else is to come."""
    answer = b"HTTP/1.1 " + status + b" Odd\r\nContent-Length: 2\r\n\r\nok"
    async with RecordingUpstream(answer=answering(answer)) as recorder:
        evidence = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))

        assert isinstance(evidence, NoReply) and evidence.cause == "malformed"


INTERIM = b"\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\r\n"


def cut_in_two(answer: bytes, at: int) -> Exchange:
    """An exchange whose answer came in two reads."""
    one, other = socket.socketpair()
    exchange = Exchange(Wire(one), head_only=False, head_limit=64 << 10)
    for piece in filter(None, (answer[:at], answer[at:])):
        exchange.feed(piece)
    one.close()
    other.close()
    return exchange


@pytest.mark.parametrize("protocol", [b"RTSP/1.0", b"ICE/1.0", b"HCPE/1.1"])
async def test_another_protocol_is_none_wherever_the_reads_part(protocol: bytes) -> None:
    """Behind empty lines and interim answers too: its 200 says nothing about a write."""
    answer = INTERIM + protocol + b" 200 OK\r\nContent-Length: 2\r\n\r\nok"
    for at in range(len(answer)):
        exchange = cut_in_two(answer, at)

        assert not exchange.has_head and exchange.broken is not None


async def test_an_answer_is_whole_wherever_the_reads_part() -> None:
    """Behind interim answers, of which nothing is left."""
    answer = INTERIM + b"HTTP/1.1 201 Made\r\nX: 1\r\nContent-Length: 2\r\n\r\nok"
    for at in range(len(answer)):
        exchange = cut_in_two(answer, at)

        assert (exchange.status, exchange.reason, exchange.complete) == (201, b"Made", True)
        assert exchange.headers == ((b"X", b"1"), (b"Content-Length", b"2"))
        assert exchange.bytes_in == len(answer)


async def test_interim_answers_without_end_are_none() -> None:
    """They count as one head."""
    assert cut_in_two(INTERIM * 2_000, 10).broken == "the head of the upstream's answer is larger than 65536 bytes"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n",
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a="\r\n"\r\nok\r\n0\r\n\r\n',
    ],
    ids=["length", "chunked", "bad chunk", "a line's end in a quoted extension"],
)
async def test_an_answer_that_breaks_off_in_its_body_is_broken(sender: HttpSender, answer: bytes) -> None:
    """The head came, the body did not: it is never taken for whole."""
    async with RecordingUpstream(answer=answering(answer, close=True)) as recorder:
        reply = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))
        if isinstance(reply, NoReply):
            return

        assert isinstance(reply, Reply)
        with pytest.raises(BrokenAnswer):
            await reply.read_small(1000)
        reply.close()


async def test_an_answer_may_end_with_the_connection(sender: HttpSender) -> None:
    """Without a length and without chunks the end of the connection is the end of the body (RFC 9112, section 6.3)."""
    async with RecordingUpstream(answer=answering(b"HTTP/1.1 200 OK\r\n\r\nall of it", close=True)) as recorder:
        reply = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))

        assert isinstance(reply, Reply)
        assert await reply.read_small(1000) == (b"all of it", True)
        reply.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 200 + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ],
    ids=["early hints", "one", "two hundred", "an empty line before it"],
)
async def test_interim_answers_are_read_over(sender: HttpSender, answer: bytes) -> None:
    """1xx is not the answer (RFC 9110, section 15.2), and its fields are not the answer's."""
    async with RecordingUpstream(answer=answering(answer)) as recorder:
        reply = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))

        assert isinstance(reply, Reply)
        assert (reply.status, reply.reason, reply.headers) == (200, b"OK", ((b"Content-Length", b"2"),))
        assert await reply.read_small(1000) == (b"ok", True)
        reply.close()


async def test_interim_answers_without_end_are_cut_off(sender: HttpSender) -> None:
    """All that comes before the answer's head counts to its limit, and the connection is closed."""
    flood = b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000
    async with RecordingUpstream(answer=answering(flood + OK)) as recorder:
        evidence = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))
        recorder.answer = answering(OK)
        after = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))

        assert isinstance(evidence, NoReply) and evidence.cause == "malformed"
        assert isinstance(after, Reply) and after.status == 200
        assert recorder.connections == 2
        after.close()


async def test_a_connection_with_surplus_bytes_is_not_used_again(sender: HttpSender) -> None:
    """Bytes after an answer would be read as the next one: that connection is closed."""
    async with RecordingUpstream(answer=answering(OK + b"HTTP/1.1 200 OK\r\n")) as recorder:
        for _ in range(2):
            reply = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))
            assert isinstance(reply, Reply)
            await reply.read_small(1000)
            reply.close()

        assert recorder.connections == 2


@pytest.mark.parametrize(
    ("first", "status", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", 404, b"no"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", 204, b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 44\r\n\r\n", 304, b""),
        (b"HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 304, b""),
    ],
)
async def test_a_second_answer_does_not_speak_for_the_first(
    sender: HttpSender, first: bytes, status: int, body: bytes
) -> None:
    """Both come in one read: status, reason, fields and body are the first one's, and the connection is closed."""
    second = b"HTTP/1.1 500 Other\r\nX-Second: 1\r\nContent-Length: 1\r\n\r\nx"
    async with RecordingUpstream(answer=answering(first + second)) as recorder:
        for _ in range(2):
            reply = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))
            assert isinstance(reply, Reply)
            assert (reply.status, reply.reason) == (status, first.split(b"\r\n")[0][13:])
            assert b"X-Second" not in dict(reply.headers)
            assert await reply.read_small(1000) == (body, True)
            reply.close()

        assert recorder.connections == 2


@pytest.mark.parametrize(
    ("method", "head", "connections"),
    [
        ("HEAD", b"200 OK\r\nContent-Length: 0\r\n", 1),
        ("HEAD", b"200 OK\r\nContent-Length: 500\r\n", 2),
        ("HEAD", b"200 OK\r\nTransfer-Encoding: chunked\r\n", 2),
        ("PUT", b"204 No Content\r\n", 1),
        ("PUT", b"204 No Content\r\nContent-Length: 0\r\n", 1),
        ("PUT", b"204 No Content\r\nContent-Length: 9\r\n", 2),
        ("PUT", b"304 Not Modified\r\nContent-Length: 9\r\n", 2),
    ],
)
async def test_an_answer_without_a_body_that_announces_one_is_its_connections_last(
    sender: HttpSender, method: str, head: bytes, connections: int
) -> None:
    """An API that sends it all the same, and late, would answer the next request with it."""
    async with RecordingUpstream(answer=answering(b"HTTP/1.1 " + head + b"\r\n")) as recorder:
        for _ in range(2):
            reply = await sender.read(upstream_at(recorder.port), request(method), Given(whole=True))
            assert isinstance(reply, Reply)
            assert await reply.read_small(1000) == (b"", True)
            reply.close()

        assert recorder.connections == connections


async def test_a_slow_reader_holds_the_upstream_back(sender: HttpSender) -> None:
    """An answer that nobody reads is left in the kernel: what is held here stays near the high-water mark."""
    size = 64 << 20

    async def much(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size >> 16):
            writer.write(b"x" * 65_536)
            await writer.drain()

    async with RecordingUpstream(answer=much) as recorder:
        reply = await sender.read(upstream_at(recorder.port), request("GET"), Given(whole=True))
        assert isinstance(reply, Reply)
        exchange = reply._exchange
        held = total = 0
        while piece := await reply.read(10):
            total += len(piece)
            held = max(held, exchange._held)
        reply.close()

        assert total == size
        assert held <= (256 << 10) + (64 << 10)
