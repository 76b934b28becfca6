"""One operation as a rule: what matches it, the resource that it writes, and what the document leaves open."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.core.target import Ambiguous, read_target
from gateway.policy.escape import escaped
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_read, header_to_send
from gateway.policy.openapi.operation import Document, Header, Operation
from gateway.policy.openapi.wording import placeholder_name, reading_word, rule_name
from gateway.policy.pattern import Pattern, parse_pattern
from gateway.policy.template import parse_template

_WHOLE = re.compile(r"\{([^{}]*?)(\+|\*|\.\.\.)?\}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule for one operation. `closed` says why it gets none; `reads_like` the word that makes it look like a read.

    `key` is the header in which the operation takes an idempotency key. `integers`: whether all parameters of its path
    are integers, and so what names the resource.
    """

    operation: Operation
    name: str
    match: str
    resource: str
    parent: bool
    key: Header | None
    conditional: bool
    reads_like: str | None
    closed: str | None
    integers: bool = False


@dataclass(frozen=True, slots=True)
class _Path:
    """A path as patterns spell it, and the resource's part up to its last placeholder.

    `parameters`: the placeholders, as the document calls them.
    """

    match: str
    resource: str
    rests: frozenset[str]
    last: str
    whole: bool
    parameters: frozenset[str] = frozenset()


def native_key(document: Document) -> str | None:
    """The header in which most operations take an idempotency key; None if none does."""
    names = Counter(header.name for each in document.operations for header in each.headers if _names_a_key(header))
    fit = [name for name, _ in names.most_common() if not isinstance(header_to_send(name), Wrong)]
    return fit[0] if fit else None


def _names_a_key(header: Header) -> bool:
    return "idempotency" in header.name.lower() and not isinstance(header_to_read(header.name), Wrong)


def propose(document: Document, upstream: str) -> tuple[Proposal, ...]:
    """One proposal for each writing operation, mounted at `/UPSTREAM`, in the order of the document."""
    proposer = _Proposer(document, upstream)
    return tuple(proposer.propose(operation) for operation in document.operations)


class _Proposer:
    """Knows what the proposals before have taken: names, and which requests belong to which rule."""

    def __init__(self, document: Document, upstream: str) -> None:
        self._server = document.server
        self._upstream = upstream
        self._key = (native_key(document) or "").lower()
        self._names: set[str] = set()
        self._seen: dict[tuple[str, object], str] = {}

    def propose(self, operation: Operation) -> Proposal:
        name = rule_name(operation.operation_id or f"{operation.method.lower()}-{operation.path}", self._names)
        translated = _translated(operation.path)
        closed: str | None
        if isinstance(translated, Wrong):
            path, closed = _Path(operation.path, "", frozenset(), "", whole=True), translated.message
        else:
            path, closed = translated, self._fault(operation, translated, name)
        return Proposal(
            operation,
            name,
            self._match(operation, path),
            self._resource(path),
            parent=operation.method == "POST" and not path.whole,
            key=next((one for one in operation.headers if one.name.lower() == self._key), None),
            conditional=any(header.name.lower() == "if-match" for header in operation.headers),
            reads_like=_reads_like(operation, path.last),
            closed=closed,
            integers=bool(path.parameters) and path.parameters <= operation.integers,
        )

    def _match(self, operation: Operation, path: _Path) -> str:
        return f"{operation.method} /{self._upstream}{path.match}"

    def _resource(self, path: _Path) -> str:
        return f"{self._upstream}/{path.resource}" if path.resource else self._upstream

    def _fault(self, operation: Operation, path: _Path, name: str) -> str | None:
        """Why this operation gets no rule, if so: the policy must load, and no rule may take another one's requests."""
        if operation.server is not None and operation.server != self._server:
            return "it has a server of its own, which is another upstream; write a policy for that one"
        pattern = parse_pattern(self._match(operation, path))
        template = parse_template(self._resource(path), path.rests)
        for compiled in (pattern, template):
            if isinstance(compiled, Wrong):
                return compiled.message
        assert isinstance(pattern, Pattern)
        first = self._seen.setdefault((operation.method, pattern.shape), name)
        return None if first == name else f"it has the same requests as {first}; keep one of the two"


def _translated(path: str) -> _Path | Wrong:
    """A path template of OpenAPI (section 4.8.8) as a match. Wrong: what a match cannot say exactly."""
    if not path.startswith("/"):
        return Wrong("its path does not begin with a slash; correct the document")
    pieces = path[1:].split("/")
    taken: set[str] = set()
    segments: list[str] = []
    resource: list[str] = []
    rests: set[str] = set()
    parameters: set[str] = set()
    kept = 0
    for piece in pieces:
        found = _WHOLE.fullmatch(piece)
        if found is None and ("{" in piece or "}" in piece):
            return Wrong("a segment of its path is text and a placeholder in one, which no match can say exactly")
        if found is None:
            segments.append(piece)
            resource.append(_one_spelling(piece))
            continue
        name = placeholder_name(found[1], taken)
        rests |= {name} if found[2] else set()
        parameters.add(found[1])
        segments.append(f"{{{name}...}}" if found[2] else f"{{{name}}}")
        resource.append(f"{{path.{name}}}")
        kept = len(resource)
    # Behind the last placeholder stand a collection or an action of what it names. Without one, the path is the name.
    named = [piece for piece in resource[: kept or len(resource)] if piece]
    last = next((piece for piece in reversed(pieces) if piece and "{" not in piece), "")
    whole = kept > 0 and kept == len([piece for piece in pieces if piece])
    return _Path("/" + "/".join(segments), "/".join(named), frozenset(rests), last, whole, frozenset(parameters))


def _one_spelling(piece: str) -> str:
    """A literal segment as resources spell it: `%61` and `a` are one. What cannot be matched is refused elsewhere."""
    target = read_target(f"/{piece}")
    return piece if isinstance(target, Ambiguous) or len(target.segments) > 1 else escaped(target.segments[0])


def _reads_like(operation: Operation, last_segment: str) -> str | None:
    if operation.hinted_read:
        return "a hint in the document"
    word = reading_word(operation.operation_id, last_segment) if operation.method == "POST" else None
    return None if word is None else f"`{word}` in its name"


def unread_keys(proposals: Iterable[Proposal]) -> tuple[str, ...]:
    """Operations that take their idempotency key in another header than the one that the capability can name."""
    return tuple(
        f"{each.name} ({each.operation}): takes its key in {header.name}"
        for each in proposals
        for header in each.operation.headers
        if _names_a_key(header) and header is not each.key
    )
