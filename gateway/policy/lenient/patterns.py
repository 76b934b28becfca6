"""The patterns of one upstream as the most lenient server reads them, to tell whose path another spelling is."""

from collections.abc import Iterable, Iterator

from gateway.policy.lenient.segment import lenient_segments
from gateway.policy.paths import Paths
from gateway.policy.pattern import Pattern

# As many as `choice` takes at once, and for the same reason.
_AT_ONCE = 8192


class LenientPatterns:
    """They are put together at the first question: of most upstreams nobody ever asks."""

    __slots__ = ("_at_once", "_batches", "_patterns")

    def __init__(self, patterns: Iterable[Pattern], at_once: int = _AT_ONCE) -> None:
        self._at_once = at_once
        self._patterns = tuple(patterns)
        self._batches: tuple[tuple[Paths, list[Pattern]], ...] | None = None

    def first(self, segments: tuple[str, ...]) -> Pattern | None:
        """The most specific one that takes a path, itself as lenient as it is compared; None if none does."""
        if self._batches is None:
            self._batches = tuple(_batches(self._patterns, self._at_once))
        own = lenient_segments(segments)
        for paths, patterns in self._batches:
            takers = paths.takers(own, slash=False)
            if takers:
                return patterns[(takers & -takers).bit_length() - 1]
        return None


def _batches(patterns: Iterable[Pattern], at_once: int) -> Iterator[tuple[Paths, list[Pattern]]]:
    lenient = {pattern.lenient.shape: pattern.lenient for pattern in patterns}
    ordered = sorted(lenient.values(), key=lambda pattern: pattern.precedence)
    for start in range(0, len(ordered), at_once):
        batch = ordered[start : start + at_once]
        yield Paths(batch), batch
