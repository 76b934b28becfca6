"""`METHOD[,METHOD] /path/{name}/{rest...}`, compiled once and compared with the segments of a target, not its text."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.core.target import Ambiguous, Target, read_target
from gateway.policy.escape import escaped_path
from gateway.policy.finding import Wrong
from gateway.policy.lenient.segment import lenient_segment
from gateway.policy.reading.hidden import hidden_in

READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

# Refused before any rule is asked, in `gateway.core.framing`.
_NEVER_PASSED = frozenset({"CONNECT", "TRACE"})
_METHOD = re.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)(\.\.\.)?\}")

# The segments, whether a rest follows, and whether a slash does.
Shape = tuple[tuple[str | None, ...], bool, bool]


def shapes_meet(one: Shape, other: Shape) -> bool:
    """Whether some path is of both."""
    (own, rest, slash), (theirs, other_rest, other_slash) = one, other
    fits = (len(theirs) > len(own) or other_rest) if rest else (len(own) == len(theirs) and not other_rest)
    if not (fits or (other_rest and len(own) > len(theirs))) or slash != other_slash:
        return False
    return all(None in (mine, text) or mine == text for mine, text in zip(own, theirs, strict=False))


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which methods and paths are matched.

    A segment is its literal text, or None where a placeholder stands. `rest` names a last placeholder that takes one
    segment or more. `slash`: the path ends with a slash, which is significant; no placeholder takes the empty segment
    behind it.
    """

    text: str
    methods: tuple[str, ...]
    segments: tuple[str | None, ...]
    names: tuple[tuple[int, str], ...]
    rest: str | None
    slash: bool

    @property
    def shape(self) -> Shape:
        """Equal for two patterns if and only if they match the same paths."""
        return (self.segments, self.rest is not None, self.slash)

    @property
    def precedence(self) -> tuple[int, ...]:
        """Of two patterns that take one path, the one with the smaller value is more specific."""
        places = (0 if own is not None else 1 for own in self.segments)
        return (*places, 2) if self.rest is not None else tuple(places)

    def openness(self, place: int) -> int:
        """How much it takes at one place of a path that is its own: text 0, a placeholder 1, the rest 2."""
        return self.precedence[min(place, len(self.precedence) - 1)]

    def names_text(self, place: int) -> bool:
        """Whether text stands at this place, and no placeholder or rest."""
        return place < len(self.segments) and self.segments[place] is not None

    @property
    def lenient(self) -> "Pattern":
        """As a server reads it to which neither case, nor another mark, nor a slash at the end makes another path."""
        folded = tuple(own if own is None else lenient_segment(own) for own in self.segments)
        return replace(self, segments=folded, slash=False)

    @property
    def ends_open(self) -> bool:
        """Whether a placeholder takes the last segment."""
        return self.rest is not None or (bool(self.segments) and self.segments[-1] is None)

    def takes(self, target: Target) -> bool:
        """Whether the path is one of this pattern's, whatever the method."""
        segments, slash = split_slash(target)
        fixed = len(self.segments)
        if slash != self.slash or len(segments) < fixed or (len(segments) > fixed) != (self.rest is not None):
            return False
        return all(own is None or own == other for own, other in zip(self.segments, segments, strict=False))

    def captured(self, segments: tuple[str, ...]) -> Mapping[str, str]:
        """What the placeholders take of a path that is this pattern's.

        The value of the rest keeps the slashes between its segments; one inside a segment becomes `%2F` here, because
        afterwards nobody could tell the two.
        """
        values = {name: segments[at] for at, name in self.names}
        if self.rest is not None:
            values[self.rest] = escaped_path(segments[len(self.segments) :])
        return values


def split_slash(target: Target) -> tuple[tuple[str, ...], bool]:
    """The segments of a path without the empty last one, and whether it was there."""
    segments = target.segments
    return (segments, False) if segments[-1] else (segments[:-1], True)


def by_method(patterns: Iterable[Pattern]) -> Mapping[str, Sequence[Pattern]]:
    """In their order; one that names several methods stands under each."""
    found: defaultdict[str, list[Pattern]] = defaultdict(list)
    for pattern in patterns:
        for method in pattern.methods:
            found[method].append(pattern)
    return dict(found)


def parse_pattern(text: str, *, upgrades: bool = False, closes: bool = False) -> Pattern | Wrong:
    """Compile a `match`, or say what to write instead. `upgrades`: of a rule that takes handshakes, which are GETs.
    `closes`: of an entry that refuses what it takes, reads too; HEAD is GET to a server (RFC 9110, section 9.3.2), and
    PHP and CGI run a program at OPTIONS, too."""
    methods_text, blank, path = text.partition(" ")
    if not blank or not path.startswith("/") or " " in path:
        return Wrong(f"`{text}` is not a match; write a method, one blank and a path, such as `PUT /reports/{{id}}`")
    methods = tuple(methods_text.split(","))
    for method in methods:
        if not _METHOD.fullmatch(method):
            return Wrong(f"`{method}` is not a method; write methods with commas and no blanks, such as `PUT,PATCH`")
        if upgrades and method != "GET":
            return Wrong(f"a WebSocket handshake is a GET; write `GET {path}`, and another rule for {method}")
        if method in READ_METHODS and not (upgrades or closes):
            return Wrong(f"{method} is a read and is never matched; remove it (`reads:` says whether reads pass)")
        if method in _NEVER_PASSED:
            return Wrong(f"{method} is never passed on; remove it")
    if len(set(methods)) < len(methods):
        return Wrong(f"`{methods_text}` names a method twice; remove one")
    if closes and "GET" in methods:
        methods = (*methods, *(method for method in ("HEAD", "OPTIONS") if method not in methods))
    return _parse_path(text, methods, path)


def _parse_path(text: str, methods: tuple[str, ...], path: str) -> Pattern | Wrong:
    pieces = path[1:].split("/")
    slash = not pieces[-1]
    segments: list[str | None] = []
    names: list[tuple[int, str]] = []
    rest: str | None = None
    for at, piece in enumerate(pieces[:-1] if slash else pieces):
        if rest is not None:
            return Wrong(f"`{{{rest}...}}` takes all that follows; make it the last segment")
        found = _PLACEHOLDER.fullmatch(piece)
        if found and found[2]:
            rest = found[1]
        elif found:
            names.append((at, found[1]))
            segments.append(None)
        else:
            literal = _literal(piece)
            if isinstance(literal, Wrong):
                return literal
            segments.append(literal)
    pattern = Pattern(text, methods, tuple(segments), tuple(names), rest, slash)
    twice = _named_twice(pattern)
    return Wrong(f"`{{{twice}}}` stands twice in `{text}`; give each placeholder its own name") if twice else pattern


def _literal(piece: str) -> str | Wrong:
    if "{" in piece or "}" in piece:
        return Wrong(
            f"`{piece}` is neither text nor a placeholder; a placeholder is a whole segment, `{{name}}` or "
            "`{name...}`, of lower-case letters, digits and underscores"
        )
    if "?" in piece:
        return Wrong(f"`{piece}` holds a query; write the path alone and put the query under `when: {{query: ...}}`")
    target = read_target("/" + piece)
    if isinstance(target, Ambiguous) or not piece:
        why = target.why if isinstance(target, Ambiguous) else "the path has an empty segment"
        return Wrong(f"no request can have this path: {why}; spell it as clients send it, percent-encoded")
    hidden = hidden_in(target.segments[0])
    if hidden is not None:
        return Wrong(f"no write can have this path: `{piece}` {hidden}, in which readers differ; write it without")
    return target.segments[0]


def _named_twice(pattern: Pattern) -> str | None:
    names = list(placeholder_names(pattern))
    return next((name for name in names if names.count(name) > 1), None)


def placeholder_names(pattern: Pattern) -> Iterator[str]:
    """The names of the placeholders, from the left."""
    yield from (name for _, name in pattern.names)
    if pattern.rest is not None:
        yield pattern.rest


def rests_of(patterns: Iterable[Pattern]) -> frozenset[str]:
    """The names of the placeholders that take all that follows."""
    return frozenset(pattern.rest for pattern in patterns if pattern.rest is not None)
