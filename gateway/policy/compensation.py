"""A rule's compensation, compiled: the request that takes a write back, filled from the write and its answer.

What is filled in stays one value, whatever it holds: percent-encoded in a target or a form, as JSON in JSON, and in a
header's value only what cannot end it. What does not fit makes the compensation unavailable, never another request.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote, unquote

from gateway.core.caller import Caller
from gateway.core.coding import decoded
from gateway.core.compensation import Unavailable, Undo
from gateway.core.decision import Refused
from gateway.core.format_ending import FormatEndings
from gateway.core.kept_request import keep_request
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.rule import Upstream
from gateway.core.target import Ambiguous, Target, read_target
from gateway.policy.lenient.cut_path import is_divided
from gateway.policy.part import Part, Unfit, read_part
from gateway.policy.pattern import split_slash
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.reading.body_type import Kind
from gateway.policy.reading.fields import read_header
from gateway.policy.reading.jsonbody import JsonReader, JsonValue, Missing, Number, Pointer

# With it the store keeps a second request for each intent; what takes something back is short.
_LONGEST = 64 << 10
# Of an answer so much is read, without its coding: a few milliseconds, in which the event loop waits.
_LONGEST_ANSWER = 128 << 10

# Visible ASCII in one line (RFC 9110, section 5.5), and what is no delimiter between two parts of a value.
_FIELD_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_FIELD_PIECE = re.compile(r"[0-9A-Za-z._~+-]+")
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_SURROGATE = re.compile("[\ud800-\udfff]")

# How a value is written: into a target or a form; as a whole header, or beside other text in one; as a JSON value, or
# inside a JSON text.
Spelling = Literal["encoded", "field", "field-piece", "json", "json-text"]


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A part of the write's answer: a header (lower case), or what a JSON pointer leads to."""

    text: str
    header: str = ""
    pointer: Pointer | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """A placeholder, and how its value is written."""

    part: Part | AnswerPart
    spelling: Spelling


Piece = str | Slot


@dataclass(frozen=True, slots=True)
class Value:
    """What a part has. A JSON number stays one where it is a JSON value of its own."""

    text: str
    is_number: bool = False


Values = Mapping[str, Value | Unavailable]


@dataclass(frozen=True, slots=True)
class Compensation:
    """Compiled. `body` is None where the request has none."""

    upstream: Upstream
    method: str
    target: tuple[Piece, ...]
    headers: tuple[tuple[bytes, tuple[Piece, ...]], ...] = ()
    body: tuple[Piece, ...] | None = None
    reads: Kind | None = field(init=False, repr=False, compare=False)
    reads_query: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Told once: it is asked of each write.
        reads = next((part.reads for part in self.parts if part.reads is not None), None)
        object.__setattr__(self, "reads", reads)
        object.__setattr__(self, "reads_query", any(part.origin == "query" for part in self.parts))

    @property
    def slots(self) -> Iterator[Slot]:
        for pieces in (self.target, *(value for _, value in self.headers), self.body or ()):
            yield from (piece for piece in pieces if isinstance(piece, Slot))

    @property
    def parts(self) -> Iterator[Part]:
        """Those of the write's own request."""
        return (slot.part for slot in self.slots if isinstance(slot.part, Part))

    def wants(self, body: Body) -> bool:
        """Whether the write's own body has still to be read for it. One that is there and cannot be read makes no
        compensation, and is no reason to refuse the write."""
        if self.reads is not None and isinstance(body.lacking(self.reads), BodyWanted):
            return True
        return self.reads_query and isinstance(body.lacking_beside_query(), BodyWanted)

    def begin(self, request: Request, path: Mapping[str, str], caller: Caller, body: Body) -> "Begun":
        """Fill in what the write's own request has."""
        return Begun(self, {part.text: _of_request(part, request, path, caller, body) for part in self.parts})


@dataclass(frozen=True, slots=True)
class Begun:
    """Implements `core.compensation.Rendering`."""

    compensation: Compensation
    values: Values = field(repr=False)

    def render(self, headers: HeaderPairs, body: bytes | None) -> Undo:
        one = self.compensation
        answer = _Answer(Headers(headers), body)
        parts = (slot.part for slot in one.slots)
        values = {**self.values, **{part.text: answer.value(part) for part in parts if isinstance(part, AnswerPart)}}
        try:
            target = read_target(_filled(one.target, values))
            if isinstance(target, Ambiguous):
                return Unavailable(f"its target would be none: {target.why}")
            if is_divided(target, one.upstream.mount):
                return Unavailable("a slash, a mark that ends a path (`?`, `#`, `&`) or an escape is in a part of it")
            if _is_cut_off(one, target):
                return Unavailable("its path would end as a format does, which the API would cut off")
            pairs = tuple((name, _filled(pieces, values).encode("ascii")) for name, pieces in one.headers)
            filled = None if one.body is None else _filled(one.body, values).encode("utf-8")
        except _Unfilled as unfilled:
            return Unavailable(str(unfilled))
        kept = keep_request(Request(one.method, target, Headers(pairs)), filled or b"", one.upstream)
        return kept if len(kept.pack()) <= _LONGEST else Unavailable(f"it would be larger than {_LONGEST} bytes")


def _is_cut_off(one: Compensation, target: Target) -> bool:
    """Whether the upstream would take the end of the path for a format. What the policy itself spells so is meant."""
    formats = one.upstream.mount.format_endings
    if formats is None or not _has_format(formats, target):
        return False
    own = read_target("".join(piece if isinstance(piece, str) else "x" for piece in one.target))
    return isinstance(own, Ambiguous) or not _has_format(formats, own)


def _has_format(formats: FormatEndings, target: Target) -> bool:
    segments, _ = split_slash(target)
    return bool(segments) and formats.has(segments[-1])


class _Unfilled(Exception):
    """A placeholder that cannot be filled, and why."""


def _filled(pieces: tuple[Piece, ...], values: Values) -> str:
    return "".join(piece if isinstance(piece, str) else _spelled(piece, values[piece.part.text]) for piece in pieces)


def _spelled(slot: Slot, value: Value | Unavailable) -> str:
    if isinstance(value, Unavailable):
        raise _Unfilled(value.why)
    text, name = value.text, slot.part.text
    if slot.spelling == "encoded" and isinstance(slot.part, Part) and slot.part.origin == "rest":
        return "/".join(quote(unquote(segment), safe="") for segment in text.split("/"))
    if _SURROGATE.search(text):
        raise _Unfilled(f"`{name}` is not UTF-8")
    match slot.spelling:
        case "encoded":
            return quote(text, safe="")
        case "json":
            return text if value.is_number else json.dumps(text)
        case "json-text":
            return json.dumps(text)[1:-1]
        case "field" | "field-piece":
            allowed = _FIELD_VALUE if slot.spelling == "field" else _FIELD_PIECE
            if not allowed.fullmatch(text):
                raise _Unfilled(f"`{name}` cannot be written into a header")
            return text


def _of_request(
    part: Part, request: Request, path: Mapping[str, str], caller: Caller, body: Body
) -> Value | Unavailable:
    if part.origin == "json":
        assert part.pointer is not None
        return _of_json(part.text, body.find(part.pointer))
    found = read_part(part, request, path, caller, body)
    if isinstance(found, Refused | Unfit):
        return Unavailable(f"`{part.text}` of the request cannot be read in one way")
    return Value(found) if found else Unavailable(f"the request has no `{part.text}`")


def _of_json(name: str, found: JsonValue | Missing | Refused) -> Value | Unavailable:
    match found:
        case str() if found:
            return Value(found)
        case Number(spelled) if _PLAIN_NUMBER.fullmatch(spelled):
            return Value(spelled, is_number=True)
        case Refused():
            return Unavailable(f"`{name}` cannot be read: the body is not JSON that all readers read alike")
        case Missing() | "":
            return Unavailable(f"`{name}` is missing or empty")
    return Unavailable(f"`{name}` is neither text nor a plain number")


class _Answer:
    """A write's answer as its compensation reads it."""

    def __init__(self, headers: Headers, body: bytes | None) -> None:
        self._headers = headers
        self._body = body
        self._json: JsonReader | None = None

    def value(self, part: AnswerPart) -> Value | Unavailable:
        if part.pointer is not None:
            json_body = self._read()
            if isinstance(json_body, Unavailable):
                return json_body
            return _of_json(part.text, json_body.find_in_answer(part.pointer))
        found = read_header(self._headers, part.header)
        return (
            Value(found) if isinstance(found, str) and found else Unavailable(f"the answer has not one `{part.text}`")
        )

    def _read(self) -> JsonReader | Unavailable:
        if self._json is None:
            if self._body is None:
                return Unavailable("its answer was larger than `store_response`")
            plain = decoded(self._body, self._headers.all(b"content-encoding"), _LONGEST_ANSWER)
            if isinstance(plain, Refused) or len(plain) > _LONGEST_ANSWER:
                return Unavailable(f"its answer is larger than {_LONGEST_ANSWER} bytes, or in an unknown coding")
            self._json = JsonReader(plain)
        return self._json
