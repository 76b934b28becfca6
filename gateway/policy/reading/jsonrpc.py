"""JSON-RPC 2.0, and MCP over it: what of a request names its call and not its action, and answers to another call.

A repeated call has another `id`, and so have the answers to it. An MCP call that was answered with `input_required` is
sent anew with what was asked for (MCP 2026-07-28, multi round-trip requests): the same action, in its next round.
"""

import re
from collections.abc import Mapping

from gateway.core.frozen import frozen
from gateway.policy.reading.jsonbody import JsonValue, Member, Number, read_members

VERSION = "2.0"
# Answers to what the server asked for, and its own notes for the next round; to other calls they are arguments.
_ROUND_TRIP = _ANSWERS, _STATE = ("inputResponses", "requestState")
_GOING_ON = frozenset(("tools/call", "prompts/get", "resources/read"))
# Clients take the call's id for the first, and instrument each attempt with the others; none says what is to be done.
_CORRELATION = ("progressToken", "traceparent", "tracestate")
DATA_LINE = re.compile(rb"(?:(?<=[\r\n])|\A)(data: ?)([^\r\n]+)")


def action_of(value: JsonValue) -> JsonValue:
    """A JSON value without what differs between two calls of one action; the value itself if it is no JSON-RPC.

    The calls of a batch keep their ids: its answers come in any order, and could not be told apart without them.
    """
    if not isinstance(value, dict) or value.get("jsonrpc") != VERSION:
        return value
    message = _without(value, ("id",))
    params = message.get("params")
    if isinstance(params, dict):
        goes_on = message.get("method") in _GOING_ON
        params = message["params"] = _without(params, _ROUND_TRIP if goes_on else ())
        meta = params.get("_meta")
        if isinstance(meta, dict):
            params["_meta"] = _without(meta, _CORRELATION)
    return message


def round_of(value: JsonValue) -> JsonValue:
    """What tells the round of a call that goes on, where it was answered with `input_required`; None at its first.

    What the server gave, or else the names that it asked by: an answer in other words is no other round.
    """
    params = value.get("params") if isinstance(value, dict) and value.get("method") in _GOING_ON else None
    if not isinstance(params, dict) or not any(name in params for name in _ROUND_TRIP):
        return None
    given, answers = params.get(_STATE), params.get(_ANSWERS)
    return [given] if given is not None else [None, *sorted(answers)] if isinstance(answers, dict) else [None]


def _without(members: Mapping[str, JsonValue], names: tuple[str, ...]) -> dict[str, JsonValue]:
    return {name: value for name, value in members.items() if name not in names}


def with_id(answer: bytes, request: bytes, content_type: bytes = b"application/json") -> bytes:
    """A kept answer as the answer to `request`: its `id` is spelled as the request's, all other bytes stay.

    `content_type` is the answer's: in an event stream each `data` line is an answer of its own. Unchanged is what is
    no JSON-RPC answer, or none with an id; a batch, whose order says nothing; and everything else where in doubt.
    """
    own = call_id(request)
    if own is None:
        return answer
    spelled = own.spelled.decode()
    if not is_event_stream(content_type):
        return _spliced(answer, spelled)
    return DATA_LINE.sub(lambda line: line[1] + _spliced(line[2], spelled), answer)


@frozen
class Place:
    """Something as it is spelled, so many bytes behind the beginning of a text."""

    spelled: bytes
    at: int


def call_id(request: bytes) -> Place | None:
    """The id of a call; None for a notification, a batch, and what is no JSON-RPC call."""
    asked = _read(request)
    if asked is None or "method" not in asked[1]:
        return None
    text, members = asked
    own = members.get("id")
    if own is None or not isinstance(own.value, str | Number):
        return None
    return Place(text[own.start : own.end].encode(), len(text[: own.start].encode()))


def bare_call(request: bytes) -> bytes:
    """A call with this one's id and nothing else; empty where it has none."""
    own = call_id(request)
    return b"" if own is None else b'{"jsonrpc": "2.0", "id": %b, "method": ""}' % own.spelled


def _spliced(answer: bytes, spelled: str) -> bytes:
    read = _read(answer)
    if read is None:
        return answer
    text, members = read
    own = members.get("id")
    # An error that names no call (null) is not about this one.
    if own is None or own.value is None or not members.keys() & {"result", "error"} or "method" in members:
        return answer
    return f"{text[: own.start]}{spelled}{text[own.end :]}".encode()


def _read(body: bytes) -> tuple[str, Mapping[str, Member]] | None:
    """A JSON-RPC message as text, with the place of each of its members."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    members = read_members(text)
    version = members.get("jsonrpc")
    return (text, members) if version is not None and version.value == VERSION else None


def is_event_stream(content_type: bytes) -> bool:
    return content_type.partition(b";")[0].strip().lower() == b"text/event-stream"
