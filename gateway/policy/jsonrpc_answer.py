"""What the answer of an MCP server says of the one call that it was sent for.

Only a message with this call's id speaks for it (JSON-RPC 2.0, section 5): what names another call, or none, proves
nothing, and neither do two answers to one call, or a result beside an error.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.policy.jsonbody import JsonValue, Number
from gateway.policy.jsonrpc import DATA_LINE, VERSION, is_event_stream

_INPUT_REQUIRED = "input_required"
_CALLERS_ERRORS = frozenset({-32700, -32600, -32601, -32602, -32020, -32021, -32022})
# WHATWG HTML, section 9.2.6: an empty line ends an event, and the `data` lines of one are one text.
_BETWEEN_EVENTS = re.compile(rb"(?:\r\n|\n|\r){2,}")

_Members = dict[str, object]


@dataclass(frozen=True, slots=True)
class Said:
    """`status`: the HTTP status that the answer stands for, None where it says nothing of the call.

    `asks`: for more input, so that the same action goes on with another call (MCP 2026-07-28). `alone`: no answer to
    another call, and no batch, is in it: with another id it is the answer to a repeat.
    """

    status: int | None
    asks: bool = False
    alone: bool = True


def id_of(call: JsonValue) -> str | None:
    """The id of a JSON-RPC call, as ids are compared here; None for a call without one, and for what is no call."""
    if not isinstance(call, dict):
        return None
    own = call.get("id")
    return _comparable(float(own.spelled) if isinstance(own, Number) else own)


def said_of(call: str | None, status: int, content_type: bytes, body: bytes) -> Said:
    """What an answer with an HTTP status of 2xx says of the call whose id is `call`.

    Invalid requests and headers are errors of the caller, found before anything is done (JSON-RPC 2.0, section 5.1;
    MCP 2026-07-28, -32020 to -32022). All other errors are the server's. A result is one even if its tool says
    `isError`: it has run. To what has no id there is no answer: its status counts, unless an error or a stream comes.
    """
    is_stream = is_event_stream(content_type)
    values = [_read(text) for text in (_events(body) if is_stream else (body,))]
    answers = [message for value in values for message in _messages(value) if _is_answer(message)]
    if call is None:
        return Said(None if is_stream or any("error" in answer for answer in answers) else status)
    own = [answer for answer in answers if _comparable(answer.get("id")) == call]
    alone = len(own) == len(answers) and not any(isinstance(value, list) for value in values)
    if len(own) != 1 or ("result" in own[0]) == ("error" in own[0]):
        return Said(None, alone=alone)
    if "result" in own[0]:
        result = own[0]["result"]
        asks = isinstance(result, dict) and result.get("resultType") == _INPUT_REQUIRED
        return Said(status, asks, alone)
    error = own[0]["error"]
    code = error.get("code") if isinstance(error, dict) else None
    return Said(400 if type(code) is int and code in _CALLERS_ERRORS else 500, alone=alone)


def _comparable(own: object) -> str | None:
    """An id, numbers by their value as a double: servers that keep them so spell them anew. Some make texts of them."""
    if isinstance(own, str):
        return own
    if isinstance(own, bool) or not isinstance(own, int | float):
        return None
    try:
        return f"{float(own):.17g}"
    except OverflowError:
        return None


def _events(body: bytes) -> Iterator[bytes]:
    """The data of each event that has one line of it; a message in several lines is none to those who read by lines."""
    for event in _BETWEEN_EVENTS.split(body):
        lines = [line[2] for line in DATA_LINE.finditer(event)]
        if len(lines) == 1:
            yield lines[0]


def _read(text: bytes) -> object:
    """The value, None for what is no JSON. A tool's content may be what requests are refused for: only its envelope
    counts here, and an object with the same name twice is no envelope."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None


def _object(pairs: list[tuple[str, object]]) -> _Members:
    members = dict(pairs)
    return members if len(members) == len(pairs) else {}


def _messages(value: object) -> Iterator[_Members]:
    for one in value if isinstance(value, list) else (value,):
        if isinstance(one, dict):
            yield one


def _is_answer(message: _Members) -> bool:
    is_ours = message.get("jsonrpc") == VERSION and "method" not in message
    return is_ours and not message.keys().isdisjoint(("result", "error"))
