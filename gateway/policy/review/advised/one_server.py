"""Two upstreams of one server, of which one's paths lead to what the other is for: past its rules, and its fence."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations

from gateway.core.rule import Upstream
from gateway.policy.entry import Closed, Entry
from gateway.policy.finding import Finding
from gateway.policy.openapi.segment import api_shape, path_segments
from gateway.policy.pattern import Pattern, Shape, shapes_meet
from gateway.policy.producers import skeleton
from gateway.policy.review.advised.warning import and_others, upstream_warning, warning
from gateway.policy.ruleset import RuleSet

_Segments = tuple[str, ...]


def one_server(rules: RuleSet) -> Iterator[Finding]:
    """Upstreams of one origin and site, where some path of the one is forwarded as one of the other."""
    by_origin: defaultdict[object, list[Upstream]] = defaultdict(list)
    for upstream in rules.upstreams:
        site = upstream.mount.host if upstream.preserve_host else None
        by_origin[upstream.origin, site].append(upstream)
    for some in by_origin.values():
        for one, other in permutations(some, 2):
            inner = _inner(one, other, rules.upstreams)
            if inner is not None:
                yield from _told(rules, one, other, inner)


def _inner(one: Upstream, other: Upstream, every: Iterable[Upstream]) -> _Segments | None:
    """Below which path agents of `one` reach what is `other`'s; None: nowhere, as where that is mounted there."""
    begin, end = _sent(one), _sent(other)
    if end[: len(begin)] != begin:
        return None
    inner = (*one.mount.segments, *end[len(begin) :])
    deeper = (
        each.mount.segments
        for each in every
        if each.mount.host in (None, one.mount.host) and len(each.mount.segments) > len(one.mount.segments)
    )
    return None if any(inner[: len(segments)] == segments for segments in deeper) else inner


def _sent(upstream: Upstream) -> _Segments:
    """With what every path begins that its API sees."""
    return (*path_segments(upstream.base_path), *(() if upstream.mount.strip else upstream.mount.segments))


def _told(rules: RuleSet, one: Upstream, other: Upstream, inner: _Segments) -> Iterator[Finding]:
    own = [entry for entry in rules.entries if entry.rule.upstream is one]
    closed = [entry for entry in rules.closed if entry.matcher.upstream is one and not entry.matcher.conditions]
    known = _Known(entry for entry in rules.entries if entry.rule.upstream is other)
    is_within = inner != one.mount.segments
    found = [
        entry
        for entry in own
        if any(
            known.differs(entry, method, api_shape(pattern, one), is_within=is_within)
            for pattern in entry.matcher.patterns
            if _reaches(pattern, inner)
            for method in pattern.methods
            if not _is_closed(closed, method, inner)
        )
    ]
    at = f"`/{'/'.join((*inner, '...'))}`"
    if found:
        yield warning(
            found[0],
            f"{and_others(len(found) - 1)}takes what upstream `{other.name}` is for, at {at}: both send to one server, "
            "and the holder of one's resource does not stop the other's; close that path here, mount the one upstream "
            "below the other, or give both rules one `resource`",
        )
    passes = is_within and one.reads == "pass" and other.reads == "deny" and not _is_closed(closed, "GET", inner)
    if own and passes:
        yield upstream_warning(
            own[0],
            f"lets reads pass at {at} that upstream `{other.name}` denies (`reads: deny`): both send to one server; "
            "close GET of that path here, or mount the one upstream below the other",
        )


class _Known:
    """The rules of an upstream by what its API sees of their paths."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._every: defaultdict[str, list[tuple[Shape, Entry]]] = defaultdict(list)
        # So that thousands of rules are compared with thousands of others in a moment.
        self._near: defaultdict[tuple[str, int], list[tuple[Shape, Entry]]] = defaultdict(list)
        self._resting: defaultdict[str, list[tuple[Shape, Entry]]] = defaultdict(list)
        for entry in entries:
            for pattern in entry.matcher.patterns:
                shape = api_shape(pattern, entry.rule.upstream)
                segments, has_rest, _ = shape
                for method in pattern.methods:
                    self._every[method].append((shape, entry))
                    own = self._resting[method] if has_rest else self._near[method, len(segments)]
                    own.append((shape, entry))

    def differs(self, entry: Entry, method: str, shape: Shape, *, is_within: bool) -> bool:
        """Whether a rule gives another resource to what `entry` takes. `is_within`: so does none, for which the path
        is closed.
        """
        segments, has_rest, _ = shape
        near = self._every[method] if has_rest else (*self._near[method, len(segments)], *self._resting[method])
        met = [other for theirs, other in near if shapes_meet(shape, theirs)]
        return any(skeleton(other.template) != skeleton(entry.template) for other in met) if met else is_within


def _reaches(pattern: Pattern, inner: _Segments) -> bool:
    """Whether some path of the pattern is that one, or goes on behind it."""
    is_long = pattern.rest is not None or len(pattern.segments) >= len(inner)
    pairs = zip(pattern.segments, inner, strict=False)
    return is_long and all(own is None or own == text for own, text in pairs)


def _is_closed(closed: Iterable[Closed], method: str, inner: _Segments) -> bool:
    """Whether all that is below that path is closed, be it from further above."""
    return any(
        method in pattern.methods and pattern.rest is not None and pattern.segments == inner[: len(pattern.segments)]
        for entry in closed
        for pattern in entry.matcher.patterns
    )
