"""The answer of an MCP server, read as it comes."""

import gzip
import zlib
from dataclasses import replace

import pytest

from gateway.policy.reading.jsonrpc_answer import Said
from gateway.policy.reading.jsonrpc_reader import MOST, AnswerReader

ERROR = b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32700, "message": "x"}}'
NOTE = b'data: {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "' + b"x" * 5000 + b'"}}\n\n'
EVENT = b"data: " + ERROR + b"\n\n"
OTHERS = EVENT.replace(b": 1,", b": 99,")
REFUSED, NOTHING, UNHEARD = Said(-32700), Said(None), Said(None, is_unheard=True)
UNREAD = Said(None, alone=False)
_RAW = zlib.compressobj(wbits=-15)
RAW_DEFLATE = _RAW.compress(ERROR) + _RAW.flush()


def read(*pieces: bytes | None, coding: bytes = b"", kind: bytes = b"application/json", id: str | None = "1") -> Said:
    coded = ((b"Content-Encoding", coding),) if coding else ()
    reader = AnswerReader(id, 200, ((b"Content-Type", kind), *coded))
    for piece in pieces:
        reader.add(piece)
    return reader.said()


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([ERROR[:9], ERROR[9:]], REFUSED),
        ([ERROR[:-1], b" " * 100_000, ERROR[-1:]], REFUSED),
        ([ERROR, b" " * MOST], UNREAD),
        ([b" " * MOST, b" ", ERROR], UNREAD),
        ([None], UNREAD),
        ([b""], replace(UNHEARD, is_refusal=True)),
    ],
    ids=["in pieces", "large", "too large", "too large before it", "late and too large", "empty"],
)
def test_an_answer_is_read_whole_or_not_at_all(pieces: list[bytes | None], said: Said) -> None:
    """What is too large says nothing, whatever its first part is."""
    assert read(*pieces) == said


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([NOTE] * 300 + [EVENT], REFUSED),
        ([NOTE] * 300 + [EVENT[:20], EVENT[20:-2]], REFUSED),
        ([EVENT] + [NOTE] * 300, REFUSED),
        ([NOTE] * 300, UNHEARD),
        ([NOTE] * 300 + [OTHERS], Said(None, alone=False, is_unheard=True)),
        ([EVENT, b"data: ", b"x" * MOST, b"\n\n"], UNREAD),
        ([b"data: ", b"x" * MOST, b"\n\n"], Said(None, alone=False, is_unheard=True)),
    ],
    ids=[
        "its answer last",
        "not ended",
        "its answer first",
        "no answer",
        "another's answer",
        "an event too large",
        "no answer, and one too large",
    ],
)
def test_a_stream_of_any_length_is_judged_by_its_calls_answer(pieces: list[bytes | None], said: Said) -> None:
    """Never more of it is held than one event."""
    assert read(*pieces, kind=b"text/event-stream") == said


@pytest.mark.parametrize(
    ("coding", "body", "said"),
    [
        (b"gzip", gzip.compress(ERROR), REFUSED),
        (b"identity", ERROR, REFUSED),
        (b"gzip", gzip.compress(ERROR[:9]) + gzip.compress(ERROR[9:]), UNREAD),
        (b"gzip", gzip.compress(ERROR + b" " * MOST), UNREAD),
        (b"gzip", ERROR, UNREAD),
        (b"deflate", RAW_DEFLATE, UNREAD),
        (b"br", b"\x0b\x02\x80hi\x03", UNREAD),
        (b"utf-8", ERROR, UNREAD),
    ],
    ids=["gzip", "identity", "two members", "bomb", "broken", "raw deflate", "br", "no coding"],
)
def test_what_is_in_a_coding_that_cannot_be_undone_says_nothing(coding: bytes, body: bytes, said: Said) -> None:
    """Its caller may know it, and read an error there."""
    assert read(body, coding=coding) == said


@pytest.mark.parametrize("pieces", [[b"x" * MOST, b"x"], [b"accepted"]], ids=["large", "small"])
def test_where_no_call_is_answered_the_status_tells(pieces: list[bytes | None]) -> None:
    """Below the endpoint an MCP server is ordinary HTTP; in a stream there is nothing for a notification."""
    assert read(*pieces, id=None) == Said(200)
    assert read(*pieces, id=None, kind=b"text/event-stream") == NOTHING


def test_a_streams_own_answer_is_at_hand() -> None:
    """For repeats, where the whole stream is too long to be kept."""
    reader = AnswerReader("1", 200, ((b"Content-Type", b"text/event-stream"),))
    reader.add(NOTE + EVENT + OTHERS)

    assert reader.own == ERROR


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"jsonrpc": "2.0", "id": "own", "error": ' + b"[" * 100_000, NOTHING),
        (b'{"jsonrpc": "2.0", "id": "own", "id": "own", "error": {}}', NOTHING),
        (b'{"jsonrpc": "2.0", "id": "another", "error": ' + b"[" * 100_000, replace(UNHEARD, is_refusal=True)),
    ],
    ids=["too deep", "named twice", "another's"],
)
def test_what_has_the_calls_id_is_no_refusal_by_others(body: bytes, said: Said) -> None:
    """Be it that it cannot be read."""
    assert read(body, id="own") == said
