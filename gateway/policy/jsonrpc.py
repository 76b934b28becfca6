"""JSON-RPC 2.0, and MCP over it: what of a request names its call and not its action, and answers to another call.

A repeated call has another `id`, and so have the answers to it. An MCP call that was answered with `input_required` is
repeated with what was asked for, as another call and the same action (MCP 2026-07-28, multi round-trip requests).
"""

import re
from collections.abc import Mapping

from gateway.core.decision import Refused
from gateway.policy.jsonbody import JsonValue, Member, Number, read_json, read_members

_VERSION = "2.0"
# Answers to what the server asked for, and its own notes for the next round.
_ROUND_TRIP = ("inputResponses", "requestState")
# Clients take the call's id for the first, and instrument each attempt with the others; none says what is to be done.
_CORRELATION = ("progressToken", "traceparent", "tracestate")
_INPUT_REQUIRED = "input_required"
_CALLERS_ERRORS = frozenset({"-32700", "-32600", "-32601", "-32602", "-32020", "-32021", "-32022"})
_DATA_LINE = re.compile(rb"(?:(?<=[\r\n])|\A)(data: ?)([^\r\n]+)")


def action_of(value: JsonValue) -> JsonValue:
    """A JSON value without what differs between two calls of one action; the value itself if it is no JSON-RPC.

    The calls of a batch keep their ids: its answers come in any order, and could not be told apart without them.
    """
    return _message(value)


def _message(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict) or value.get("jsonrpc") != _VERSION:
        return value
    message = _without(value, ("id",))
    params = message.get("params")
    if isinstance(params, dict):
        params = message["params"] = _without(params, _ROUND_TRIP)
        meta = params.get("_meta")
        if isinstance(meta, dict):
            params["_meta"] = _without(meta, _CORRELATION)
    return message


def _without(members: Mapping[str, JsonValue], names: tuple[str, ...]) -> dict[str, JsonValue]:
    return {name: value for name, value in members.items() if name not in names}


def with_id(answer: bytes, request: bytes, content_type: bytes = b"application/json") -> bytes:
    """A kept answer as the answer to `request`: its `id` is spelled as the request's, all other bytes stay.

    `content_type` is the answer's: in an event stream each `data` line is an answer of its own. Unchanged is what is
    no JSON-RPC answer, or none with an id; a batch, whose order says nothing; and everything else where in doubt.
    """
    spelled = call_id(request)
    if spelled is None:
        return answer
    if not _is_event_stream(content_type):
        return _spliced(answer, spelled)
    return _DATA_LINE.sub(lambda line: line[1] + _spliced(line[2], spelled), answer)


def call_id(request: bytes) -> str | None:
    """The id of a call as it is spelled; None for a notification, a batch, and what is no JSON-RPC call."""
    asked = _read(request)
    if asked is None or "method" not in asked[1]:
        return None
    text, members = asked
    own = members.get("id")
    return text[own.start : own.end] if own is not None and isinstance(own.value, str | Number) else None


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
    return (text, members) if version is not None and version.value == _VERSION else None


def asks_for_input(status: int, content_type: bytes, body: bytes) -> bool:
    """Whether an MCP answer is not the last one: the same action goes on with another call.

    In an event stream any of its messages may be the answer; the server's own requests and notes come before it.
    """
    if not 200 <= status < 300 or _INPUT_REQUIRED.encode() not in body:
        return False
    messages = [line[2] for line in _DATA_LINE.finditer(body)] if _is_event_stream(content_type) else [body]
    return any(map(_wants_input, messages))


def status_of(status: int, content_type: bytes, body: bytes) -> int:
    """The HTTP status that an MCP answer of `status` 2xx stands for: that of its error, if it is one.

    Invalid requests and headers are errors of the caller, found before anything is done (JSON-RPC 2.0, section 5.1;
    MCP 2026-07-28, -32020 to -32022). All other errors are the server's, as is a stream that ended without an answer.
    A result is one even if its tool says `isError`: it has run.
    """
    is_stream = _is_event_stream(content_type)
    for message in [line[2] for line in _DATA_LINE.finditer(body)] if is_stream else [body]:
        value = read_json(message)
        if not isinstance(value, dict) or value.get("jsonrpc") != _VERSION or "method" in value:
            continue
        error = value.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            return 400 if isinstance(code, Number) and code.spelled in _CALLERS_ERRORS else 500
        if "result" in value:
            return status
    return 500 if is_stream else status


def _wants_input(message: bytes) -> bool:
    value = read_json(message)
    if isinstance(value, Refused) or not isinstance(value, dict) or value.get("jsonrpc") != _VERSION:
        return False
    result = value.get("result")
    return isinstance(result, dict) and result.get("resultType") == _INPUT_REQUIRED


def _is_event_stream(content_type: bytes) -> bool:
    return content_type.partition(b";")[0].strip().lower() == b"text/event-stream"
