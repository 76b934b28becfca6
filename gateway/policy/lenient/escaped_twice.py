"""Where a path with an escape of an escape is another rule's to a server behind one that undoes the first.

To it `/m/7%252Fpublish` is `/m/7/publish`, which here falls to `/m/{id}`.
"""

from collections.abc import Iterable

from gateway.core.target import Target
from gateway.policy.lenient.decoded_path import decoded_segments, is_escaped_twice
from gateway.policy.lenient.patterns import LenientPatterns
from gateway.policy.pattern import Pattern


class EscapedTwice:
    """Which rule's paths are meant."""

    __slots__ = ("_opaque_slash", "_patterns")

    def __init__(self, patterns: Iterable[Pattern], *, opaque_slash: bool) -> None:
        self._patterns = LenientPatterns(patterns)
        self._opaque_slash = opaque_slash

    def leads_astray(self, taker: Pattern, target: Target) -> bool:
        """Whether another pattern than the one that takes the target takes what comes of it, whatever the method, the
        case, the marks and a slash at the end."""
        if not is_escaped_twice(target):
            return False
        found = self._patterns.first(decoded_segments(target, opaque_slash=self._opaque_slash))
        return found is not None and found.shape != taker.lenient.shape
