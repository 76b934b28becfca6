"""Where a path could be a more specific rule's to a server that tells neither case nor a slash at the end apart, nor
the marks in a segment.

Express, ASP.NET and IIS are such servers: they run what `/admin/{id}` guards also for `/ADMIN/7`, which here falls to
`/{kind}/{id}`; CherryPy runs what `/docs/publish_all` guards for `/docs/publish-all`.
"""

from collections.abc import Sequence

from gateway.policy.lenient.segment import lenient_segment
from gateway.policy.pattern import Pattern


class LenientPaths:
    """Tells in a look-up for each placeholder whether patterns have to be compared as such a server would.

    False where that can be no request's case: no text stands where another pattern has a placeholder.
    """

    __slots__ = ("_ends_differ", "_folded")

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        deepest = max((len(pattern.segments) for pattern in patterns), default=0)
        self._folded = tuple(_texts_beside_placeholders(patterns, place) for place in range(deepest))
        self._ends_differ = len({pattern.slash for pattern in patterns}) > 1

    def __bool__(self) -> bool:
        return self._ends_differ or any(self._folded)

    def may_be_of_another(self, taker: Pattern, segments: tuple[str, ...]) -> bool:
        """Whether something that `taker` has a placeholder for is another pattern's text, in any case and marks."""
        if self._ends_differ and (taker.names or taker.rest):
            return True
        for place, _ in taker.names:
            if self._folded[place] and lenient_segment(segments[place]) in self._folded[place]:
                return True
        if taker.rest is not None:
            for place in range(len(taker.segments), min(len(segments), len(self._folded))):
                if lenient_segment(segments[place]) in self._folded[place]:
                    return True
        return False


def _texts_beside_placeholders(patterns: Sequence[Pattern], place: int) -> frozenset[str]:
    """The texts that stand at a place of some patterns, as they are compared; none where all have a text there."""
    if not any(_takes_any(pattern, place) for pattern in patterns):
        return frozenset()
    own = (pattern.segments[place] for pattern in patterns if place < len(pattern.segments))
    return frozenset(lenient_segment(text) for text in own if text is not None)


def _takes_any(pattern: Pattern, place: int) -> bool:
    return pattern.segments[place] is None if place < len(pattern.segments) else pattern.rest is not None
