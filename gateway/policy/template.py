"""A resource's name: literal text and parts of the request, compiled once and filled for each write.

Two different lists of values never fill a template to the same name: `/`, `%` and control characters in a value are
percent-encoded, and so is the character with which the text behind the value begins.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gateway.core.caller import Caller
from gateway.core.decision import RESOURCE_UNRESOLVED, Refused
from gateway.core.request import Request
from gateway.policy.escape import PLAIN, escaped, escapes, is_escaped
from gateway.policy.fields import read_header, read_query
from gateway.policy.finding import Wrong
from gateway.policy.jsonbody import JsonReader, Missing, Number, Pointer, parse_pointer

# The name is part of every key in the store, of problems and of log lines.
RESOURCE_LENGTH = 512

Origin = Literal["path", "rest", "query", "header", "json", "principal", "tenant"]

_BRACES = re.compile(r"\{([^{}]*)\}")
# One spelling for each value: 7, 7.0 and 7e0 are one number, and must not be three resources.
_ONE_SPELLING = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")
_HEADER_NAME = re.compile("[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Part:
    """One placeholder. `text` is as the policy spells it, `name` what follows the dot, `stop` what must be escaped."""

    text: str
    origin: Origin
    name: str = ""
    pointer: Pointer | None = None
    stop: str = ""
    escapes: Mapping[int, str] = field(default_factory=lambda: PLAIN, repr=False, compare=False)


Piece = str | Part


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template. `needs_json`: filling it reads the body."""

    text: str
    pieces: tuple[Piece, ...]

    @property
    def parts(self) -> Iterator[Part]:
        return (piece for piece in self.pieces if isinstance(piece, Part))

    @property
    def needs_json(self) -> bool:
        return any(part.origin == "json" for part in self.parts)

    @property
    def reads_only_target(self) -> bool:
        """Whether path and query alone make the name, so that a read of it has the same name."""
        return all(part.origin in ("path", "rest", "query") for part in self.parts)

    def fill(self, request: Request, path: Mapping[str, str], caller: Caller, json: JsonReader) -> str | Refused:
        """The resource that a request names. Refused with `resource-unresolved` if a part is missing or empty."""
        filled: list[str] = []
        for piece in self.pieces:
            if isinstance(piece, str):
                filled.append(piece)
                continue
            value = _value(piece, request, path, caller, json)
            if isinstance(value, Refused):
                return value
            if not value:
                return _unresolved(piece, "is missing or empty")
            filled.append(value if piece.origin == "rest" else escaped(value, piece.escapes))
        resource = "".join(filled)
        if len(resource) > RESOURCE_LENGTH:
            detail = f"Nothing was forwarded: the resource's name would be longer than {RESOURCE_LENGTH} characters."
            return Refused(RESOURCE_UNRESOLVED, f"{detail} Send shorter names.")
        return resource

    def matches(self, resource: str, caller: Caller) -> bool:
        """Whether some request of `caller` fills the template to `resource`."""
        at = 0
        for piece in self.pieces:
            if isinstance(piece, str):
                if not resource.startswith(piece, at):
                    return False
                at += len(piece)
                continue
            end = resource.find(piece.stop, at) if piece.stop else len(resource)
            if end < 0 or not _is_value(piece, resource[at:end], caller):
                return False
            at = end
        return at == len(resource) <= RESOURCE_LENGTH


def _value(
    part: Part, request: Request, path: Mapping[str, str], caller: Caller, json: JsonReader
) -> str | Refused | None:
    match part.origin:
        case "path" | "rest":
            return path.get(part.name)
        case "query":
            return read_query(request.target, part.name)
        case "header":
            return read_header(request.headers, part.name)
        case "principal":
            return caller.principal
        case "tenant":
            return caller.tenant
        case "json":
            return _json_value(part, json)


def _json_value(part: Part, json: JsonReader) -> str | Refused | None:
    assert part.pointer is not None
    found = json.find(part.pointer)
    match found:
        case Refused() | str():
            return found
        case Missing():
            return None
        case Number(spelled) if _ONE_SPELLING.fullmatch(spelled) and spelled != "-0":
            return spelled
        case Number():
            return _unresolved(part, "is a number in an unusual spelling; write it without exponent or ending zeros,")
    return _unresolved(part, "is neither text nor a number")


def _unresolved(part: Part, what: str) -> Refused:
    detail = f"Nothing was forwarded: `{part.text}`, a part of the resource's name, {what}. Send it and try again."
    return Refused(RESOURCE_UNRESOLVED, detail)


def _is_value(part: Part, text: str, caller: Caller) -> bool:
    match part.origin:
        case "principal":
            return text == escaped(caller.principal, part.escapes)
        case "tenant":
            return text == escaped(caller.tenant, part.escapes)
        case "rest":
            return all(segment and is_escaped(segment) for segment in text.split("/"))
    return bool(text) and is_escaped(text, part.escapes)


def parse_template(text: str, rests: frozenset[str] = frozenset()) -> Template | Wrong:
    """Compile a template, or say what to write instead. `rests` are the path's placeholders that take all that follows.

    Whether the path has the other placeholders is for the caller to check, who knows each of the rule's patterns.
    """
    pieces: list[Piece] = []
    texts = _BRACES.split(text)
    for at, piece in enumerate(texts):
        if at % 2:
            part = _parse_part(piece, rests)
            if isinstance(part, Wrong):
                return part
            if pieces and isinstance(pieces[-1], Part):
                return Wrong(f"`{{{pieces[-1].text}}}{{{piece}}}`: put text between two placeholders, such as a slash")
            pieces.append(part)
        elif piece:
            wrong = _literal_fault(piece, pieces)
            if wrong:
                return wrong
            if pieces and isinstance(pieces[-1], Part):
                pieces[-1] = _stopped(pieces[-1], piece[0])
            pieces.append(piece)
    if not pieces:
        return Wrong("a resource cannot be empty; write such as `report/{path.id}`")
    return Template(text, tuple(pieces))


def _stopped(part: Part, stop: str) -> Part:
    return Part(part.text, part.origin, part.name, part.pointer, stop, escapes(stop))


def _literal_fault(literal: str, before: list[Piece]) -> Wrong | None:
    if "{" in literal or "}" in literal:
        return Wrong(f"`{literal}` has a single brace; write a placeholder as `{{path.name}}`")
    if not literal.isprintable():
        return Wrong("a resource may hold no control character; remove it")
    if len(literal) > RESOURCE_LENGTH:
        return Wrong(f"a resource has at most {RESOURCE_LENGTH} characters; shorten the text")
    if not before or isinstance(before[-1], str):
        return None
    if before[-1].origin == "rest":
        return Wrong(f"`{{{before[-1].text}}}` takes all that follows; put it at the end of the resource")
    if literal[0].isalnum() or literal[0] == "%":
        return Wrong(f"`{literal}` behind a placeholder must begin with punctuation, such as `/`, `:` or `-`")
    return None


def _parse_part(text: str, rests: frozenset[str]) -> Part | Wrong:
    if text == "principal":
        return Part(text, "principal")
    if text == "tenant":
        return Part(text, "tenant")
    if text.startswith("json:"):
        pointer = parse_pointer(text[5:])
        return pointer if isinstance(pointer, Wrong) else Part(text, "json", text[5:], pointer)
    origin, _, name = text.partition(".")
    match origin:
        case "path" if name:
            return Part(text, "rest" if name in rests else "path", name)
        case "query" if name:
            return Part(text, "query", name)
        case "header" if name:
            return _header_part(text, name)
    return Wrong(
        f"`{{{text}}}` names no part of a request; write path.NAME, query.NAME, header.NAME, json:/POINTER, principal "
        "or tenant"
    )


def _header_part(text: str, name: str) -> Part | Wrong:
    if not _HEADER_NAME.fullmatch(name):
        return Wrong(f"`{{{text}}}` must name the header in lower case, such as `{{header.x-document}}`")
    return Part(text, "header", name)
