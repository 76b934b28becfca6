"""What the answer of an MCP server says of the one call that it was sent for."""

import json
from dataclasses import replace
from itertools import chain

import pytest

from gateway.core.call import Call
from gateway.policy.reading.event_stream import EventStream
from gateway.policy.reading.jsonrpc import is_event_stream
from gateway.policy.reading.jsonrpc_answer import Answers, Said, call_of

JSON = b"application/json"
EVENTS = b"text/event-stream; charset=utf-8"
APPLIED, FAILED, NOTHING = Said(200), Said(500), Said(None)
UNHEARD, OF_OTHERS = Said(None, is_unheard=True), Said(None, alone=False, is_unheard=True)
REFUSAL, REFUSED_BY_OTHERS = replace(UNHEARD, is_refusal=True), replace(OF_OTHERS, is_refusal=True)


def message(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1} | members).encode()


def error(code: object, **members: object) -> bytes:
    return message(error={"code": code, "message": "x"}, **members)


def events(*messages: bytes, end: bytes = b"\n") -> bytes:
    return b"".join(b"data: " + one + end + end for one in messages)


def said_of(call: str | None, status: int, content_type: bytes, body: bytes) -> Said:
    """Of a whole answer."""
    answers, is_stream = Answers(call), is_event_stream(content_type)
    stream = EventStream(len(body))
    for text in chain(stream.feed(body), stream.end()) if is_stream else (body,):
        answers.hear(text)
    return answers.said(status, is_stream=is_stream)


RESULT = message(result={})
INPUT = message(result={"resultType": "input_required", "requestState": "x"})
PROGRESS = b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"error": {"code": -32602}}}'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (RESULT, APPLIED),
        (message(result={"isError": True}), APPLIED),
        (message(id=1.0, result={}), APPLIED),
        (message(id="1", result={}), APPLIED),
        (message(result={"\0": "\ud800", "n": float("nan")}), APPLIED),
        (error(-32700), Said(-32700)),
        (error(-32022), Said(-32022)),
        (error(-32020), Said(-32020)),
        (error(-32600), Said(-32600)),
        (error(-32601), Said(-32601)),
        (error(-32602), Said(-32602)),
        (error(-32021), Said(-32021)),
        (error(-32603), Said(-32603)),
        (error(-32000), Said(-32000)),
        (error(-32768), Said(-32768)),
        *((error(code), FAILED) for code in (-31999, -32769, 200, 404, True)),
        (error("-32700"), FAILED),
        (error(-32700.0), FAILED),
        (message(error="no"), FAILED),
        (INPUT, APPLIED),
        (message(result={"text": "input_required"}), APPLIED),
        (message(result={"resultType": "complete"}), APPLIED),
        (message(result={"resultType": "task", "taskId": "t", "status": "working"}), UNHEARD),
        (message(result={"resultType": ["complete"]}), UNHEARD),
        (message(result={"task": {"taskId": "t", "status": "working"}}), UNHEARD),
        (error(-32602, result={}), NOTHING),
        (message(id=99, result={}), OF_OTHERS),
        (error(-32602, id=99), REFUSED_BY_OTHERS),
        (error(-32600, id=None), REFUSED_BY_OTHERS),
        (error(-32602, id=True), REFUSED_BY_OTHERS),
        (RESULT.replace(b"2.0", b"1.0"), REFUSAL),
        (RESULT.replace(b'"id"', b'"id": 1, "id"'), REFUSAL),
        (RESULT + b"x", REFUSAL),
        (message(), REFUSAL),
        (message(method="ping", error={"code": -32602}), REFUSAL),
        (b"[" + RESULT + b"]", Said(200, alone=False)),
        (b"[" + error(-32700) + b", " + RESULT + b"]", Said(None, alone=False)),
        (b"[]", REFUSED_BY_OTHERS),
        (b"null", REFUSAL),
        (b"accepted", REFUSAL),
        (b"[" * 100_000, REFUSAL),
        (b"\xff", REFUSAL),
        (b"", REFUSAL),
        (events(RESULT), REFUSAL),
    ],
)
def test_only_the_calls_own_id_speaks_for_it(body: bytes, said: Said) -> None:
    """An error is told by its code; another call's answer, two, or none tell nothing."""
    assert said_of("1", 200, JSON, body) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (events(RESULT), APPLIED),
        (events(RESULT, end=b"\r\n"), APPLIED),
        (events(RESULT, end=b"\r"), APPLIED),
        (events(RESULT).rstrip(), APPLIED),
        (events(PROGRESS, error(-32602)), Said(-32602)),
        (events(PROGRESS, INPUT), APPLIED),
        (events(error(-32602, id=99), RESULT), Said(200, alone=False)),
        (events(error(-32600, id=None), RESULT), Said(200, alone=False)),
        (events(message(id=99, result={}), error(-32700)), Said(-32700, alone=False)),
        (events(message(id=99, result={})), OF_OTHERS),
        (events(error(-32602), RESULT), NOTHING),
        (events(RESULT, RESULT), NOTHING),
        (events(error(-32602, result={})), NOTHING),
        (events(PROGRESS), UNHEARD),
        (b": " + events(error(-32602)) + events(RESULT), APPLIED),
        (b"event: " + events(error(-32602)) + events(RESULT), APPLIED),
        (b'data: {"jsonrpc": "2.0", "id": 1,\ndata: "result": {}}\n\n', UNHEARD),
        (b"data: " + error(-32602) + b"\ndata: x\n\n", UNHEARD),
        (b"data: " + error(-32602) + b"\r\ndata: x\r\n\r\n", UNHEARD),
        (b"\xef\xbb\xbf" + events(RESULT), UNHEARD),
        (b"id: 1\nretry: 10\ndata: \n\n", UNHEARD),
        (RESULT, UNHEARD),
        (b"", UNHEARD),
    ],
)
def test_in_a_stream_any_event_may_be_the_answer(body: bytes, said: Said) -> None:
    """Whatever comes before it; a message in several lines is one to some clients and none to others."""
    assert said_of("1", 200, EVENTS, body) == said


@pytest.mark.parametrize(
    ("content_type", "body", "said"),
    [
        (JSON, b"", Said(202)),
        (b"text/plain", b"accepted", Said(202)),
        (JSON, RESULT, Said(202)),
        (JSON, error(-32600, id=None), NOTHING),
        (EVENTS, events(PROGRESS), NOTHING),
    ],
)
def test_of_a_notification_the_status_tells(content_type: bytes, body: bytes, said: Said) -> None:
    """It has no id to answer to; an error all the same, or a stream, says nothing for certain."""
    assert said_of(None, 202, content_type, body) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (error(-32022), Said(-32022)),
        (error(-32600), Said(-32600)),
        (RESULT, NOTHING),
        (INPUT, NOTHING),
        (error(-32600, id="server-error"), REFUSED_BY_OTHERS),
        (message(id=99, result={}), OF_OTHERS),
        (b"Session not found", REFUSAL),
    ],
)
def test_a_refusal_by_http_is_read_too(body: bytes, said: Said) -> None:
    """Servers send what a tool has raised under 400, as they do what they refuse before any."""
    assert said_of("1", 400, JSON, body) == said


@pytest.mark.parametrize(
    ("id", "found"),
    [
        ("7", "7"),
        ("7.0", "7"),
        ("-0", "0"),
        ('"7"', "7"),
        ('"\\u0061"', "a"),
        ("9007199254740993", "9007199254740992"),
        ("9" * 5_000, None),
        ("true", None),
        ("null", None),
        ("[1]", None),
    ],
    ids=lambda one: None if one is None else one[:20],
)
def test_an_id_is_compared_as_servers_keep_it(id: str, found: str | None) -> None:
    """A number as a double, or a text of it."""
    before = '{"jsonrpc": "2.0", "\N{EURO SIGN}": 1, "id": '.encode()
    call = call_of(before + f'{id}, "method": "x"}}'.encode())

    assert call == (None if found is None else Call(found, id.encode(), len(before)))


@pytest.mark.parametrize("body", [b'{"jsonrpc": "2.0", "id": "e1", "result": {}}', b"{}", b"[]", b"7", b"\xff", b""])
def test_what_is_no_call_has_none(body: bytes) -> None:
    """Nor is it answered."""
    assert call_of(body) is None


@pytest.mark.parametrize("size", [400, 5_000])
def test_an_id_beyond_all_numbers_is_nobodys(size: int) -> None:
    """An answer may have any digits in it."""
    assert said_of("1", 200, JSON, RESULT.replace(b'"id": 1', b'"id": ' + b"9" * size)) in (
        OF_OTHERS,
        REFUSAL,
    )
