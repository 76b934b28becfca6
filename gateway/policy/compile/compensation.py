"""A rule's `effect.compensation`: the request that takes its writes back, and what can never be filled in."""

import json
import re
from collections.abc import Iterator

from gateway.core.decision import Refused
from gateway.core.kept_request import is_kept
from gateway.core.prefer import asks_for_later
from gateway.core.rule import Upstream
from gateway.policy import schema
from gateway.policy.compensation import AnswerPart, Compensation, Piece, Slot, Spelling
from gateway.policy.compile.body import kinds_read
from gateway.policy.compile.query import target_fault
from gateway.policy.compile.template import check_path_part
from gateway.policy.entry import Entry
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_that_arrives, header_to_read, header_to_replay, header_to_send
from gateway.policy.part import Part, parse_part
from gateway.policy.pattern import Pattern, rests_of
from gateway.policy.reading.jsonbody import JsonValue, Number, parse_pointer, read_json
from gateway.policy.report import Report
from gateway.policy.source import Path

# A placeholder, a brace that is meant (it is doubled), or one that nobody can have meant.
_TOKEN = re.compile(r"(\{\{|\}\}|\{[^{}]*\}|[{}])")
_METHOD = re.compile("[A-Z]+")
# Whatever takes a write back is a write.
_CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"})
_TEXT = re.compile(r"[\x20-\x7e]*")
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_ANSWER = "response."
# Some APIs take no request without one.
_AGENT = (b"User-Agent", ("fencegate",))


def compile_compensation(
    report: Report, path: Path, rule: schema.Rule, upstream: Upstream, patterns: tuple[Pattern, ...]
) -> Compensation | None:
    """The compensation; None if there is none, or with its faults noted. `path` is that of the rule."""
    shape = rule.effect.compensation
    if shape is None:
        return None
    where: Path = (*path, "effect", "compensation")
    for fault in _never(rule, upstream):
        report.add(where, fault)
    request = report.take((*where, "request"), _request(shape.request, upstream, patterns))
    headers = _headers(report, where, shape, upstream)
    body = None
    if shape.body is not None:
        body = report.take((*where, "body"), _body(shape.body, _content_type(shape)))
    if request is None:
        return None
    compiled = Compensation(upstream, *request, headers, body)
    _check_slots(report, where, compiled, rule, patterns)
    return compiled


def check_compensation_reads(report: Report, path: Path, entry: Entry) -> None:
    """What the compensation reads of the body must be what the rule's other parts read it as."""
    if entry.compensation is None:
        return
    own, others = {part.reads for part in entry.compensation.parts} - {None}, kinds_read(entry)
    if own and len(own | others) > 1 and len(others) < 2:
        report.add(
            (*path, "effect", "compensation"),
            "this rule reads the body as JSON and as a form, and a body is never both; write parts of one of them",
        )


def _never(rule: schema.Rule, upstream: Upstream) -> Iterator[str]:
    """Why no write of this rule could be taken back."""
    if rule.intent.mode == "off":
        yield "only an intent is taken back, and this rule has none; write `intent: {mode: required}` (or `optional`)"
    if rule.mode == "observe":
        yield "a rule that only observes promises nothing of its writes; write `mode: enforce`, or remove this"
    if rule.upgrade is not None:
        yield "what a session did no single request takes back; remove this"
    if upstream.protocol == "mcp":
        yield "a tool's call belongs to its client's session, which is over by then; remove this"


def _request(text: str, upstream: Upstream, patterns: tuple[Pattern, ...]) -> tuple[str, tuple[Piece, ...]] | Wrong:
    method, _, raw = text.partition(" ")
    if not _METHOD.fullmatch(method) or method in _CHANGES_NOTHING or not raw.startswith("/"):
        return Wrong(
            f"`{text}` takes nothing back; write a method that changes something, one blank and a path, such as "
            "`DELETE /x/{response.json:/id}`"
        )
    pieces = _pieces(raw, "encoded", rests_of(patterns))
    if isinstance(pieces, Wrong):
        return pieces
    sample = "".join(piece if isinstance(piece, str) else "x" for piece in pieces)
    return target_fault(sample, upstream.mount) or (method, pieces)


def _headers(
    report: Report, where: Path, shape: schema.Compensation, upstream: Upstream
) -> tuple[tuple[bytes, tuple[Piece, ...]], ...]:
    headers: dict[bytes, tuple[bytes, tuple[Piece, ...]]] = {}
    for name, text in shape.headers.items():
        at: Path = (*where, "headers", name)
        spelled = report.take_key(at, _sent(name, upstream))
        pieces = report.take(at, _field(text))
        if spelled is None or pieces is None:
            continue
        if spelled.lower() in headers:
            report.add(at, f"header `{name}` is set twice; remove one")
        if spelled.lower() == b"prefer" and asks_for_later(text.encode("utf-8", "surrogatepass")):
            report.add(at, "`respond-async` reaches no upstream: what is taken back is done when it answers; remove it")
        headers[spelled.lower()] = (spelled, pieces)
    headers.setdefault(b"user-agent", _AGENT)
    if shape.body is not None:
        headers.setdefault(b"content-type", (b"Content-Type", (_JSON,)))
    return tuple(headers.values())


def _sent(name: str, upstream: Upstream) -> bytes | Wrong:
    """A header that is kept with the request: what lets somebody in is not, and the gateway adds its own."""
    spelled = header_to_send(name)
    if isinstance(spelled, Wrong):
        return spelled
    if is_kept(spelled, upstream):
        return spelled
    return Wrong(f"header `{name}` may hold a secret and is never kept; the upstream's `credentials` are sent anyway")


def _field(text: str) -> tuple[Piece, ...] | Wrong:
    pieces = _pieces(text, "field-piece", frozenset())
    if isinstance(pieces, Wrong):
        return pieces
    if not pieces or not all(isinstance(piece, Slot) or _TEXT.fullmatch(piece) for piece in pieces):
        return Wrong("a header's value is visible ASCII in one line; write such as `{response.header.etag}`")
    if len(pieces) == 1 and isinstance(pieces[0], Slot):
        return (Slot(pieces[0].part, "field"),)
    return pieces


def _content_type(shape: schema.Compensation) -> str:
    given = next((text for name, text in shape.headers.items() if name.lower() == "content-type"), _JSON)
    return given.partition(";")[0].strip().lower()


def _body(text: str, content_type: str) -> tuple[Piece, ...] | Wrong:
    if content_type == _JSON or content_type.endswith("+json"):
        value = read_json(text.encode("utf-8", "surrogatepass"))
        if isinstance(value, Refused):
            return Wrong('this is not JSON; write such as `\'{"id": "{response.json:/id}"}\'`')
        return _joined(_json_pieces(value))
    if content_type == _FORM:
        return _pieces(text, "encoded", frozenset())
    if "{" in text:
        return Wrong(f"a body of type `{content_type}` takes no placeholders; write JSON, or a form with `{_FORM}`")
    return (text,)


def _json_pieces(value: JsonValue) -> Iterator[Piece | Wrong]:
    match value:
        case str():
            yield from _json_text(value)
        case Number(spelled):
            yield spelled
        case list():
            yield "["
            for at, item in enumerate(value):
                yield ", " if at else ""
                yield from _json_pieces(item)
            yield "]"
        case dict():
            yield "{"
            for at, (name, item) in enumerate(value.items()):
                if "{" in name:
                    yield Wrong(f"`{name}` is a name; placeholders stand in values")
                yield f"{', ' if at else ''}{json.dumps(name)}: "
                yield from _json_pieces(item)
            yield "}"
        case _:
            yield json.dumps(value)


def _json_text(text: str) -> Iterator[Piece | Wrong]:
    pieces = _pieces(text, "json-text", frozenset())
    if isinstance(pieces, Wrong):
        yield pieces
    elif len(pieces) == 1 and isinstance(pieces[0], Slot):
        yield Slot(pieces[0].part, "json")
    else:
        yield '"'
        for piece in pieces:
            yield json.dumps(piece)[1:-1] if isinstance(piece, str) else piece
        yield '"'


def _joined(pieces: Iterator[Piece | Wrong]) -> tuple[Piece, ...] | Wrong:
    """The texts between two placeholders as one."""
    joined: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Wrong):
            return piece
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece:
            joined.append(piece)
    return tuple(joined)


def _pieces(text: str, spelling: Spelling, rests: frozenset[str]) -> tuple[Piece, ...] | Wrong:
    """The text and its placeholders; `{{` and `}}` stand for braces."""
    found: list[Piece | Wrong] = []
    for at, token in enumerate(_TOKEN.split(text)):
        if at % 2 == 0 or token in ("{{", "}}"):
            found.append(token[:1] if at % 2 else token)
        elif len(token) == 1:
            return Wrong(f"`{text}` has a single brace; write `{{{{` or `}}}}` where one is meant")
        else:
            part = _part(token[1:-1], rests)
            found.append(part if isinstance(part, Wrong) else Slot(part, spelling))
    return _joined(iter(found))


def _part(text: str, rests: frozenset[str]) -> Part | AnswerPart | Wrong:
    if not text.startswith(_ANSWER):
        return parse_part(text, rests)
    origin = text.removeprefix(_ANSWER)
    if origin.startswith("json:"):
        pointer = parse_pointer(origin.removeprefix("json:"))
        return pointer if isinstance(pointer, Wrong) else AnswerPart(text, pointer=pointer)
    if origin.startswith("header."):
        name = header_to_read(origin.removeprefix("header."))
        # What must not be replayed must not be kept either: a session, an instant that is over.
        wrong = name if isinstance(name, Wrong) else header_to_replay(name)
        return wrong if isinstance(wrong, Wrong) else AnswerPart(text, header=wrong.decode("ascii"))
    return Wrong(f"`{{{text}}}` names no part of an answer; write response.json:/POINTER or response.header.NAME")


def _check_slots(
    report: Report, where: Path, compiled: Compensation, rule: schema.Rule, patterns: tuple[Pattern, ...]
) -> None:
    for one in dict.fromkeys(slot.part for slot in compiled.slots):
        named = f"`{{{one.text}}}`"
        if isinstance(one, AnswerPart):
            if one.pointer is not None and rule.intent.store_response == 0:
                report.add(where, f"{named} is of an answer that `store_response: 0` does not keep; let it be kept")
        elif one.origin == "graphql":
            report.add(where, f"{named} cannot be read here; take a part of the answer, such as `response.json:/id`")
        elif one.origin == "header":
            report.take(where, header_that_arrives(one.name, compiled.upstream))
        elif one.origin == "path" and one.name in rests_of(patterns):
            # Beside slashes of its own, nobody could tell one that was escaped.
            report.add(where, f"{named} is more than one segment, which stand in the path of `request` only; remove it")
        elif one.origin in ("path", "rest"):
            for pattern in patterns:
                check_path_part(report, where, one, pattern)
