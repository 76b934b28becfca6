"""A document compared with the rules of an upstream: writing operations that stay closed, rules that nothing needs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.core.rule import Upstream
from gateway.policy.entry import AnyEntry, Closed, Entry
from gateway.policy.finding import Finding, Wrong
from gateway.policy.openapi.operation import Document, Operation
from gateway.policy.openapi.segment import Slot, api_shape, decoded, parse_segment, path_segments
from gateway.policy.openapi.whole_segment import WholeSegments
from gateway.policy.openapi.wording import comment
from gateway.policy.pattern import shapes_meet
from gateway.policy.ruleset import RuleSet
from gateway.policy.url import parse_url

# A segment's text, or None where anything may stand.
Segments = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class _Reach:
    """The paths that a pattern or an operation takes, as the API sees them. `rest`: one segment or more follows."""

    method: str
    segments: Segments
    rest: bool
    slash: bool

    def covers(self, other: "_Reach") -> bool:
        """Whether every request of `other` is one of this."""
        own, theirs = len(self.segments), len(other.segments)
        fits = theirs + other.rest > own if self.rest else theirs == own and not other.rest
        if not fits or self.method != other.method or self.slash != other.slash:
            return False
        return all(mine in (None, text) for mine, text in zip(self.segments, other.segments, strict=False))

    def meets(self, other: "_Reach") -> bool:
        """Whether some request belongs to both."""
        own, theirs = (self.segments, self.rest, self.slash), (other.segments, other.rest, other.slash)
        return self.method == other.method and shapes_meet(own, theirs)


class _Reaches:
    """Many of them, so that thousands of rules are compared with thousands of operations in a moment."""

    def __init__(self, reaches: Iterable[_Reach]) -> None:
        self._exact: set[_Reach] = set()
        self._by_length: defaultdict[tuple[str, int], list[_Reach]] = defaultdict(list)
        self._resting: list[_Reach] = []
        for reach in reaches:
            if reach in self._exact:
                continue
            self._exact.add(reach)
            (self._resting if reach.rest else self._by_length[(reach.method, len(reach.segments))]).append(reach)

    def cover(self, reach: _Reach) -> bool:
        return reach in self._exact or any(one.covers(reach) for one in self._near(reach))

    def meet(self, reach: _Reach) -> bool:
        return reach in self._exact or any(one.meets(reach) for one in self._near(reach))

    def _near(self, reach: _Reach) -> Iterable[_Reach]:
        if reach.rest:
            return self._exact
        return (*self._by_length.get((reach.method, len(reach.segments)), ()), *self._resting)


def described_upstream(ruleset: RuleSet, document: Document, name: str | None) -> Upstream | Wrong:
    """The upstream that a document describes: the named one, the only one, or the one at the document's server."""
    if name is not None:
        found = [upstream for upstream in ruleset.upstreams if upstream.name == name]
        return found[0] if found else Wrong(f"there is no upstream `{name}` in the policies; name one of them")
    if len(ruleset.upstreams) == 1:
        return ruleset.upstreams[0]
    url = parse_url(document.server or "")
    found = [] if isinstance(url, Wrong) else [each for each in ruleset.upstreams if each.origin == url.origin]
    if len(found) == 1:
        return found[0]
    return Wrong("the document's server does not tell which upstream it describes; say it with `--upstream NAME`")


def uncovered(ruleset: RuleSet, upstream: Upstream, document: Document, file: str) -> tuple[Finding, ...]:
    """A warning for each writing operation that no rule takes or whose bodies are not sent, and for each rule that
    takes no operation.

    A rule with conditions counts as taking its path: which values its operations have, the document does not say.
    """
    every: tuple[AnyEntry, ...] = (*ruleset.entries, *ruleset.read_only, *ruleset.closed)
    entries = [entry for entry in every if entry.matcher.upstream is upstream]
    base = _base(document, upstream)
    operations = [(each, _operation_reach(each, base)) for each in document.operations]
    return (*_gaps(entries, operations, base, upstream, file), *_idle(entries, operations, upstream))


def _gaps(
    entries: list[AnyEntry],
    operations: list[tuple[Operation, _Reach]],
    base: tuple[str, ...],
    upstream: Upstream,
    file: str,
) -> Iterator[Finding]:
    taken = _Reaches(reach for entry in entries for reach in _entry_reaches(entry, upstream))
    opened = (entry for entry in entries if not isinstance(entry, Closed))
    passed = _Reaches(reach for entry in opened for reach in _entry_reaches(entry, upstream))
    whole = WholeSegments(entries, upstream)
    for operation, reach in operations:
        part = whole.of(operation, base)
        if part is not None and part.named_by is not None:
            yield Finding(file, 1, 1, _taken_whole(operation, part.named_by), "warning")
        elif not (taken.cover(reach) if part is None else part.is_taken):
            named = f" ({comment(operation.operation_id)})" if operation.operation_id else ""
            message = (
                f"{comment(str(operation))}{named}: no rule of upstream {upstream.name} takes it, so that agents get "
                "`no-policy`; write a rule, or leave it closed"
            )
            yield Finding(file, 1, 1, message, "warning")
        elif _is_unsent(operation, upstream) and passed.meet(reach):
            message = (
                f"{comment(str(operation))}: its bodies are {comment(' or '.join(operation.body_types or ()))}, and "
                "`mount.bodies` lists none of these, so that agents get `no-policy`; add one there, or leave it closed"
            )
            yield Finding(file, 1, 1, message, "warning")


def _is_unsent(operation: Operation, upstream: Upstream) -> bool:
    """Whether it has a body whose types are told, and none of them is listed."""
    types, listed = operation.body_types, upstream.mount.bodies
    if listed is None or not types or any("*" in one for one in types):
        return False
    return listed.isdisjoint(one.encode("utf-8", "replace") for one in types)


def _taken_whole(operation: Operation, entry: Entry) -> str:
    return (
        f"{comment(str(operation))}: {entry.label} takes it, and names its resource by the whole segment, apart from "
        "what the id alone names; give the rule a form that has no such text, such as `values: word`, or close it"
    )


def _idle(entries: list[AnyEntry], operations: list[tuple[Operation, _Reach]], upstream: Upstream) -> Iterator[Finding]:
    described = _Reaches(reach for _, reach in operations)
    for entry in entries:
        if isinstance(entry, Entry) and entry.rule.upgrade is not None:
            # What OpenAPI has no words for.
            continue
        if isinstance(entry, Closed) and (entry.anywhere or entry.closes_reads):
            # Of reads a document is not asked.
            continue
        if not any(described.meet(reach) for reach in _entry_reaches(entry, upstream)):
            message = f"{entry.label} takes no operation of the document; remove it, or keep it for what is undescribed"
            place = entry.matcher.place
            yield Finding(place.file, place.line, place.column, message, "warning")


def _base(document: Document, upstream: Upstream) -> tuple[str, ...]:
    """What stands before a document's paths, as the API sees them: its server's path, else the policy's."""
    server = document.server
    path = upstream.base_path
    if server is not None and server.startswith("/"):
        path = server
    elif server is not None:
        url = parse_url(server)
        path = path if isinstance(url, Wrong) else url.base_path
    return path_segments(path)


def _operation_reach(operation: Operation, base: tuple[str, ...]) -> _Reach:
    pieces = operation.path.partition("?")[0].removeprefix("/").split("/")
    slash = not pieces[-1]
    # With a placeholder in it, a segment may be any text.
    segments = [None if "{" in piece else decoded(piece) for piece in (pieces[:-1] if slash else pieces)]
    last = parse_segment(pieces[len(segments) - 1]) if segments else ""
    rest = isinstance(last, Slot) and (last.rest or (last.name in operation.rests and not slash))
    return _Reach(operation.method, (*base, *(segments[:-1] if rest else segments)), rest, slash)


def _entry_reaches(entry: AnyEntry, upstream: Upstream) -> Iterator[_Reach]:
    for pattern in entry.matcher.patterns:
        for method in pattern.methods:
            yield _Reach(method, *api_shape(pattern, upstream))
