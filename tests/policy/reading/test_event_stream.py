"""The events of a stream, as they come."""

import pytest

from gateway.policy.reading.event_stream import EventStream

STREAM = b"event: a\r\ndata: one\r\n\r\n: ping\n\ndata:two\r\r\n\ndata: x\r\ndata: y\r\n\r\ndata: three\n\r\ndata: four"


def texts(stream: EventStream, *pieces: bytes) -> list[bytes]:
    return [text for piece in pieces for text in stream.feed(piece)] + list(stream.end())


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(STREAM)])
def test_events_are_the_same_however_they_come(size: int) -> None:
    """In any pieces, with any ends of lines; one with two lines of data has no text, and the last needs no end."""
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]

    assert texts(EventStream(100), *pieces) == [b"one", b"two", b"three", b"four"]


def test_any_number_of_events_is_read() -> None:
    """The limit is for one of them."""
    stream = EventStream(20)

    assert texts(stream, *[b"data: 12345\n\n"] * 100) == [b"12345"] * 100
    assert not stream.is_lost


def test_an_event_over_the_limit_ends_the_reading() -> None:
    """It may be anything: nothing of it, and nothing behind it, is read."""
    stream = EventStream(20)

    assert texts(stream, b"data: 1\n\n", b"data: 0123", b"45678901234", b"\n\ndata: 2\n\n") == [b"1"]
    assert stream.is_lost


@pytest.mark.parametrize(
    ("came", "is_between", "has_ids"),
    [
        (b"", True, False),
        (b"data: 1\r\n\r\n", True, False),
        (b": ping\n\n", True, False),
        (b"data: 1\n", False, False),
        (b"data: 1\n\ndata", False, False),
        (b"id: 1\ndata: 1\n\n", True, True),
        (b"event: x\rid:1\r\r", True, True),
        (b"data: id:1\n\n", True, False),
    ],
)
def test_it_is_known_where_the_stream_stands(came: bytes, *, is_between: bool, has_ids: bool) -> None:
    """Whether another event may follow, and whether its reader may come back."""
    stream = EventStream(100)
    list(stream.feed(came))

    assert (stream.is_between, stream.has_ids) == (is_between, has_ids)


def test_a_line_end_that_comes_in_two_pieces_is_one() -> None:
    """It begins no event."""
    stream = EventStream(100)

    assert [text for piece in (b"data: 1\r\n\r", b"\n") for text in stream.feed(piece)] == [b"1"]
    assert stream.is_between
