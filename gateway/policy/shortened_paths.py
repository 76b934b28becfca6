"""Where a path is another rule's to a server that drops a program's name or a session from it.

To it `/index.php/admin/purge` is `/admin/purge`, which here falls to `/{rest...}`.
"""

from collections.abc import Iterable

from gateway.core.target import Target
from gateway.policy.lenient_patterns import LenientPatterns
from gateway.policy.pattern import Pattern, by_method, split_slash
from gateway.policy.shortened_path import may_be_shortened, shortened


class ShortenedPaths:
    """Which rule's paths are meant, by method."""

    __slots__ = ("_by_method",)

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._by_method = {method: LenientPatterns(own) for method, own in by_method(patterns).items()}

    def lead_astray(self, method: str, taker: Pattern, target: Target) -> bool:
        """Whether what is left of the target is another pattern's than the one that takes it, and no less exactly."""
        if not may_be_shortened(target.path):
            return False
        segments, _ = split_slash(target)
        for way in shortened(segments, taker.segments):
            found = self._by_method[method].first(way.segments)
            if found is not None and found.shape != taker.lenient.shape and _is_as_exact(found, taker, way.places):
                return True
        return False


def _is_as_exact(found: Pattern, taker: Pattern, places: tuple[int, ...]) -> bool:
    """Whether no segment that is left is text to the taker and any to the other: `lock` in `/files/a.php/lock` is no
    file to `/files/{name}/lock`, though `/files/{name}` is there."""
    return all(found.openness(at) <= taker.openness(place) for at, place in enumerate(places))
