"""The name of a resource or an intent: text and parts of the request, compiled once and filled for each write.

Two different lists of values never fill a template to the same name: `/`, `%` and control characters in a value are
percent-encoded, and so is the character with which the text behind the value begins.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, OF_ANYTHING, OF_IDS, RESOURCE_UNRESOLVED, Refused
from gateway.core.request import Request
from gateway.policy.escape import PLAIN, escaped, escapes, unescaped
from gateway.policy.finding import Wrong
from gateway.policy.part import Part, Unfit, parse_part, read_part
from gateway.policy.reading.body import Body
from gateway.policy.reading.body_type import Kind
from gateway.policy.reading.hidden import hidden_in
from gateway.policy.value_form import ValueForm, misfit

_BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Naming:
    """What templates of a kind name: as findings call it, as refusals do, and how many characters it may have.

    `bare`: a template that is one placeholder gives its value unescaped.
    """

    noun: str
    whole: str
    example: str
    length: int
    bare: bool = False


# The name is part of every key in the store, of problems and of log lines.
RESOURCE = Naming("a resource", "the resource's name", "report/{path.id}", 512)


@dataclass(frozen=True, slots=True)
class Absent:
    """A part of a template that the request does not have."""

    part: Part


Piece = str | Part


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template. `reads`: what filling it reads the body as; None if it does not.

    `reads_query`: whether it has to be seen that the body is not taken for the query.
    """

    text: str
    pieces: tuple[Piece, ...]
    naming: Naming = RESOURCE
    reads: Kind | None = field(init=False, repr=False, compare=False)
    reads_query: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Told once: it is asked of each write.
        reads = next((part.reads for part in self.parts if part.reads is not None), None)
        object.__setattr__(self, "reads", reads)
        object.__setattr__(self, "reads_query", any(part.origin == "query" for part in self.parts))

    @property
    def parts(self) -> Iterator[Part]:
        return (piece for piece in self.pieces if isinstance(piece, Part))

    @property
    def reads_only_target(self) -> bool:
        """Whether path and query alone make the name, so that a read of it has the same name."""
        return all(part.origin in ("path", "rest", "query") for part in self.parts)

    def fill(self, request: Request, path: Mapping[str, str], caller: Caller, body: Body) -> str | Refused:
        """The name that a request has. Refused with `resource-unresolved` if a part is missing or empty, and with
        `ambiguous-target` if something in one is seen by some readers and not by others."""
        name = self.try_fill(request, path, caller, body)
        return self.unresolved(name.part, "is missing") if isinstance(name, Absent) else name

    def try_fill(self, request: Request, path: Mapping[str, str], caller: Caller, body: Body) -> str | Absent | Refused:
        """As `fill`, but a part that is missing is for the caller to judge."""
        filled: list[str] = []
        bare = self.naming.bare and len(self.pieces) == 1
        for piece in self.pieces:
            if isinstance(piece, str):
                filled.append(piece)
                continue
            value = read_part(piece, request, path, caller, body)
            if value is None:
                return Absent(piece)
            if isinstance(value, Refused):
                return value
            if isinstance(value, Unfit):
                return self.unresolved(piece, value.why)
            if not value:
                return self.unresolved(piece, "is empty")
            hidden = hidden_in(value)
            if hidden is not None:
                return self._ambiguous(piece, hidden)
            odd = None if piece.form == "any" else _odd(piece, value)
            if odd is not None:
                return self._misspelled(piece, odd)
            filled.append(value if bare or piece.origin == "rest" else escaped(value, piece.escapes))
        name = "".join(filled)
        if len(name) > self.naming.length:
            detail = f"Nothing was forwarded: {self.naming.whole} would be longer than {self.naming.length} characters."
            return Refused(RESOURCE_UNRESOLVED, f"{detail} Send shorter names.")
        return name

    def unresolved(self, part: Part, what: str) -> Refused:
        """The refusal of a request whose `part` is what `what` says."""
        detail = f"Nothing was forwarded: {part.told}, a part of {self.naming.whole}, {what}. Send it and try again."
        return Refused(RESOURCE_UNRESOLVED, detail)

    def _ambiguous(self, part: Part, what: str) -> Refused:
        detail = f"Nothing was forwarded: {part.told}, a part of {self.naming.whole}, {what}: readers differ in it."
        return Refused(AMBIGUOUS_TARGET, f"{detail} Send it without.", OF_ANYTHING)

    def _misspelled(self, part: Part, what: str) -> Refused:
        detail = f"Nothing was forwarded: {part.told}, a part of {self.naming.whole}, {what}."
        advice = "Another spelling may name another thing: send it as the API does"
        if part.form == "unreserved":
            advice += ", and where it is spelled so, the policy has to say `values: any`"
        return Refused(AMBIGUOUS_TARGET, f"{detail} {advice}.", OF_IDS)

    def matches(self, name: str, caller: Caller | None) -> bool:
        """Whether some request of `caller` fills the template to `name`; None: some request of anybody."""
        at = 0
        for piece in self.pieces:
            if isinstance(piece, str):
                if not name.startswith(piece, at):
                    return False
                at += len(piece)
                continue
            end = name.find(piece.stop, at) if piece.stop else len(name)
            if end < 0 or not _is_value(piece, name[at:end], caller):
                return False
            at = end
        return at == len(name) <= self.naming.length


def _is_value(part: Part, text: str, caller: Caller | None) -> bool:
    match part.origin:
        case "principal" if caller is not None:
            return text == escaped(caller.principal, part.escapes)
        case "tenant" if caller is not None:
            return text == escaped(caller.tenant, part.escapes)
        case "rest":
            return all(_is_plain(segment, PLAIN, part.form) for segment in text.split("/"))
    return _is_plain(text, part.escapes, part.form)


def misspelled_place(places: Iterable[Part], path: Mapping[str, str]) -> Refused | None:
    """The refusal of a path in which a placeholder that names no resource has another form than the policy says."""
    for part in places:
        value = path.get(part.name)
        odd = None if value is None else hidden_in(value) or _odd(part, value)
        if odd is not None:
            advice = "Another spelling may be another thing: send it as the API does."
            return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {part.told} {odd}. {advice}", OF_IDS)
    return None


def _odd(part: Part, value: str) -> str | None:
    """Why the value is not of the part's form, of a rest the first segment that is not."""
    values = value.split("/") if part.origin == "rest" else (value,)
    return next((why for why in (misfit(part.form, one) for one in values) if why is not None), None)


def _is_plain(text: str, table: Mapping[int, str], form: ValueForm) -> bool:
    """Whether some value that fills a template is spelled so."""
    value = unescaped(text, table)
    return value is not None and value != "" and hidden_in(value) is None and misfit(form, value) is None


def parse_template(text: str, rests: frozenset[str] = frozenset(), naming: Naming = RESOURCE) -> Template | Wrong:
    """Compile a template, or say what to write instead. `rests` are the path's placeholders that take all that follows.

    Whether the path has the other placeholders is for the caller to check, who knows each of the rule's patterns.
    """
    pieces: list[Piece] = []
    texts = _BRACES.split(text)
    for at, piece in enumerate(texts):
        if at % 2:
            part = parse_part(piece, rests)
            if isinstance(part, Wrong):
                return part
            if pieces and isinstance(pieces[-1], Part):
                return Wrong(f"`{{{pieces[-1].text}}}{{{piece}}}`: put text between two placeholders, such as a slash")
            pieces.append(part)
        elif piece:
            wrong = _literal_fault(piece, pieces, naming)
            if wrong:
                return wrong
            if pieces and isinstance(pieces[-1], Part):
                pieces[-1] = _stopped(pieces[-1], piece[0])
            pieces.append(piece)
    if not pieces:
        return Wrong(f"{naming.noun} cannot be empty; write such as `{naming.example}`")
    return Template(text, tuple(pieces), naming)


def _stopped(part: Part, stop: str) -> Part:
    return replace(part, stop=stop, escapes=escapes(stop))


def _literal_fault(literal: str, before: list[Piece], naming: Naming) -> Wrong | None:
    if "{" in literal or "}" in literal:
        return Wrong(f"`{literal}` has a single brace; write a placeholder as `{{path.name}}`")
    if not literal.isprintable():
        return Wrong(f"{naming.noun} may hold no control character; remove it")
    if len(literal) > naming.length:
        return Wrong(f"{naming.noun} has at most {naming.length} characters; shorten the text")
    if not before or isinstance(before[-1], str):
        return None
    if before[-1].origin == "rest":
        return Wrong(f"`{{{before[-1].text}}}` takes all that follows; put it at the end of {naming.whole}")
    if literal[0].isalnum() or literal[0] == "%":
        return Wrong(f"`{literal}` behind a placeholder must begin with punctuation, such as `/`, `:` or `-`")
    return None
