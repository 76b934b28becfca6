"""What the answer of an MCP server says of the one call that it was sent for.

Only a message with this call's id speaks for it (JSON-RPC 2.0, section 5): what names another call, or none, proves
nothing, and neither do two answers to one call, or a result beside an error.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.core.call import Call
from gateway.policy.reading.jsonrpc import VERSION, call_id

_COMPLETE = "complete"
_INPUT_REQUIRED = "input_required"
# JSON-RPC's own, and those of protocols above it (JSON-RPC 2.0, section 5.1).
_RESERVED = range(-32768, -31999)

_Members = dict[str, object]


@dataclass(frozen=True, slots=True)
class Said:
    """`status`: that of HTTP, or the code of a JSON-RPC error; None where it does not tell what became of the call.

    `alone`: no answer to another call, and no batch, is in it: with another id it is the answer to a repeat.
    `is_unheard`: nothing in it says that the call is over. `is_refusal`: under a status of refusal it is one by what
    stands before the tools, as it has no answer to the call, and nobody's result.
    """

    status: int | None
    alone: bool = True
    is_unheard: bool = False
    is_refusal: bool = False


def call_of(body: bytes) -> Call | None:
    """The JSON-RPC call that a body is; None for one without an id, and for what is no call."""
    place = call_id(body)
    if place is None:
        return None
    id = _comparable(json.loads(place.spelled) if place.spelled.startswith(b'"') else float(place.spelled))
    return None if id is None else Call(id, place.spelled, place.at)


class Answers:
    """What a server answers to the call with this id, message by message.

    An error counts by its code, which proves something where a policy says so: any may come from a tool that has acted,
    as SDKs pass on what it raised, also what its own client or another server answered it. A result is one even if its
    tool says `isError`, or asks for more input: it has run, and nobody knows how far, whatever the status. To what has
    no id there is no answer: its status counts, unless an error or a stream comes.
    """

    def __init__(self, id: str | None) -> None:
        self._id = id
        self._own: _Members | None = None
        self._is_single = True
        self._is_alone = True
        self._has_error = self._has_result = False

    def hear(self, text: bytes) -> bool:
        """Take the next text; whether the call's own answer is in it."""
        value = _read(text)
        is_own = False
        self._is_alone &= not isinstance(value, list)
        for message in filter(_is_answer, _messages(value)):
            self._has_error |= "error" in message
            self._has_result |= "result" in message
            if self._id is None or _comparable(message.get("id")) != self._id:
                self._is_alone = False
                continue
            self._is_single &= self._own is None
            self._own, is_own = message, True
        return is_own

    def said(self, status: int, *, is_stream: bool) -> Said:
        if self._id is None:
            return Said(None if is_stream or self._has_error else status)
        own, alone = self._own, self._is_alone
        if own is None:
            return Said(None, alone=alone, is_unheard=True, is_refusal=not is_stream and not self._has_result)
        if not self._is_single or ("result" in own) == ("error" in own):
            return Said(None, alone=alone)
        if "result" in own:
            return _said_by(own["result"], status if status < 400 else None, alone=alone)
        error = own["error"]
        code = error.get("code") if isinstance(error, dict) else None
        return Said(code if type(code) is int and code in _RESERVED else 500, alone=alone)


def _said_by(result: object, status: int | None, *, alone: bool) -> Said:
    """Of a kind of result that is not known, and of a task that was only begun, nobody knows what became of it yet."""
    kind = result.get("resultType", _COMPLETE) if isinstance(result, dict) else _COMPLETE
    if kind not in (_COMPLETE, _INPUT_REQUIRED) or (isinstance(result, dict) and isinstance(result.get("task"), dict)):
        return Said(None, alone=alone, is_unheard=True)
    return Said(status, alone=alone)


def _comparable(own: object) -> str | None:
    """An id, numbers by their value as a double: servers that keep them so spell them anew. Some make texts of them."""
    if isinstance(own, str):
        return own
    if isinstance(own, bool) or not isinstance(own, int | float):
        return None
    try:
        # -0 is 0 to those that write it anew.
        return f"{float(own) + 0.0:.17g}"
    except OverflowError:
        return None


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
