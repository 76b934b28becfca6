"""Where a path is another rule's to a server that runs the index of what that rule names.

To it `/docs/index` is `/docs`, which here falls to `/docs/{id}`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.core.target import Target
from gateway.policy.decoded_path import decoded_segments
from gateway.policy.index_path import names_index
from gateway.policy.lenient_patterns import LenientPatterns
from gateway.policy.pattern import Pattern, split_slash

_OF_A_DIRECTORY = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that runs `index` for what stands before it (`/docs/index` for `/docs`) this "
    "is another rule's path. Send that path without it; where it is meant, a rule has to name it in text.",
)


class IndexPaths:
    """Which rule's index is meant, by method."""

    __slots__ = ("_by_method",)

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        found: defaultdict[str, list[Pattern]] = defaultdict(list)
        for pattern in patterns:
            for method in pattern.methods:
                found[method].append(pattern)
        self._by_method = {method: LenientPatterns(own) for method, own in found.items()}

    def refusal(self, method: str, taker: Pattern, target: Target) -> Refused | None:
        """Of a path that `taker` takes. A path that ends in a placeholder is no action's: `/{bucket}` has a file
        `index.html` like any other."""
        if not taker.ends_open or method not in self._by_method:
            return None
        for segments in _ways(target):
            if segments and names_index(segments[-1]):
                found = self._by_method[method].first(segments[:-1])
                if found is not None and not found.ends_open:
                    return _OF_A_DIRECTORY
        return None


def _ways(target: Target) -> Iterator[tuple[str, ...]]:
    """As the segments came, and with encoded slashes for slashes."""
    yield split_slash(target)[0]
    if "%" in target.path:
        yield decoded_segments(target)
