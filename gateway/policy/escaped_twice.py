"""Where a path with an escape of an escape is another rule's to a server behind one that undoes the first.

To it `/m/7%252Fpublish` is `/m/7/publish`, which here falls to `/m/{id}`.
"""

from collections.abc import Iterable, Iterator

from gateway.core.target import Target
from gateway.policy.decoded_path import decoded_segments, is_escaped_twice
from gateway.policy.paths import Paths
from gateway.policy.pattern import Pattern

# As many as `choice` takes at once, and for the same reason.
_AT_ONCE = 8192


class EscapedTwice:
    """Which rule's paths are meant. They are put together once a request is spelled so: nearly none ever is."""

    __slots__ = ("_at_once", "_batches", "_opaque_slash", "_patterns")

    def __init__(self, patterns: Iterable[Pattern], *, opaque_slash: bool, at_once: int = _AT_ONCE) -> None:
        self._at_once = at_once
        self._patterns = tuple(patterns)
        self._opaque_slash = opaque_slash
        self._batches: tuple[tuple[Paths, list[Pattern]], ...] | None = None

    def leads_astray(self, taker: Pattern, target: Target) -> bool:
        """Whether another pattern than the one that takes the target takes what comes of it, whatever the method, the
        case and a slash at the end."""
        if not is_escaped_twice(target):
            return False
        segments = tuple(map(str.casefold, decoded_segments(target, opaque_slash=self._opaque_slash)))
        if self._batches is None:
            self._batches = tuple(_batches(self._patterns, self._at_once))
        for paths, patterns in self._batches:
            takers = paths.takers(segments, slash=False)
            if takers:
                return patterns[(takers & -takers).bit_length() - 1].shape != taker.lenient.shape
        return False


def _batches(patterns: Iterable[Pattern], at_once: int) -> Iterator[tuple[Paths, list[Pattern]]]:
    lenient = {pattern.lenient.shape: pattern.lenient for pattern in patterns}
    ordered = sorted(lenient.values(), key=lambda pattern: pattern.precedence)
    for start in range(0, len(ordered), at_once):
        batch = ordered[start : start + at_once]
        yield Paths(batch), batch
