"""An answer that is whole here is the same one to another reader of HTTP: drawn answers, and h11."""

import asyncio
import contextlib
import socket
from collections.abc import Callable

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.upstream.exchange import Exchange
from gateway.upstream.wire import Wire

Told = tuple[int, bytes]
Reads = Callable[[bytes], Told | None]
STATUSES = [
    *(f"HTTP/1.1 {status}" for status in ("200 OK", "200 OK", "201", "200 ", "422 \u00e9", "204 No", "304 X", "205 X")),
    *(f"HTTP/1.1 {status}" for status in (" 200 OK", "2000 OK", "099 X", "600 X", "-200 OK")),
    *(f"{version}200 OK" for version in ("HTTP/1.0 ", "HTTP/2.0 ", "http/1.1 ", "HTTP/1.1\t")),
]
LENGTHS = [": 5", ": 5", ": 0", ": 4", ": 05", ": +5", ": 5, 5", ": 0x5", ":5 ", " : 5", ": ", ": 99999999999999999999"]
CODINGS = [": chunked", ": chunked", ": Chunked", ": x", ": gzip, chunked", ": identity", ":\x0bchunked"]
FRAMINGS = [
    *(f"Content-Length{length}" for length in LENGTHS),
    *(f"Transfer-Encoding{coding}" for coding in CODINGS),
    *("Transfer_Encoding: chunked", "Content_Length: 3", "X: 1"),
]
BESIDE = [
    "X-A: 1",
    "X-A: 1\r\n folded",
    "X-A: a\rb",
    "X-A: a\nb",
    ": x",
    "X A: 1",
    "X-A",
    "Connection: close",
    "X-A: \x00",
]
HELLO = "5\r\nhello\r\n"
BODIES = [
    *("hello", "hello", "", "hell", "hello!", f"{HELLO}0\r\n\r\n", f"{HELLO}0\r\n\r\n", f"0{HELLO}0\r\n\r\n", HELLO),
    *(f"{HELLO}0\r\nX: 1\r\n\r\n", f"{HELLO}0\r\n\r\nHTTP/1.1 409 No\r\n\r\n", "2\r\nhe\r\n3\r\nllo\r\n00\r\n\r\n"),
    *(f"{size}\r\nhello\r\n0\r\n\r\n" for size in ("5;a=b", '5;a="\r\n"', "5 ", "0x5", "+5", "FFFFFFFFFFFFFFFF1")),
    *("5\nhello\n0\n\n", "5\r\nhello0\r\n\r\n"),
]
BEFORE = ["", "", "", "\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Hints\r\nContent-Length: 5\r\n\r\n", "x"]


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """Framed once or twice, and ended in some way."""
    lines = [draw(st.sampled_from(STATUSES)), draw(st.sampled_from(FRAMINGS))]
    lines += draw(st.lists(st.sampled_from([*FRAMINGS, *BESIDE]), max_size=1))
    end = draw(st.sampled_from(["\r\n", "\r\n", "\r\n", "\r\n", "\n"]))
    text = draw(st.sampled_from(BEFORE)) + end.join((*lines, "", "")) + draw(st.sampled_from(BODIES))
    return text.encode("latin-1")


def here(answer: bytes) -> Told | None:
    """None of what is broken, or not whole when the connection ends."""

    async def read() -> Told | None:
        one, other = socket.socketpair()
        with contextlib.closing(one), contextlib.closing(other):
            exchange = Exchange(Wire(one), head_only=False, head_limit=64 << 10)
            exchange.feed(answer)
            exchange.end(None)
            if exchange.broken is not None or not exchange.complete:
                return None
            return exchange.status, (await exchange.rest(1 << 20))[1] or b""

    return asyncio.run(read())


def by_h11(answer: bytes) -> Told | None:
    """None of what it refuses."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="PUT", target="/", headers=[("Host", "a")]))
    connection.send(h11.EndOfMessage())
    status, body = 0, b""
    try:
        connection.receive_data(answer)
        connection.receive_data(b"")
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
            elif not isinstance(event, h11.InformationalResponse):
                return (status, body) if isinstance(event, h11.EndOfMessage) else None
    except h11.RemoteProtocolError:
        return None


@given(answers())
@settings(max_examples=250)
@example(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
@example(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
def test_a_whole_answer_is_the_same_to_others(answer: bytes) -> None:
    """Or they refuse it: no other status and no other body is read of it."""
    told, other = here(answer), by_h11(answer)

    assert told is None or other is None or told == other


@pytest.mark.parametrize("reads", [here, by_h11])
def test_a_plain_answer_is_read(reads: Reads) -> None:
    """Else the drawn ones would show nothing."""
    assert reads(b"HTTP/1.1 201 X\r\nContent-Length: 5\r\n\r\nhello") == (201, b"hello")
    assert reads(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n") == (200, b"hello")
