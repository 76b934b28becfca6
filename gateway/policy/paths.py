"""Which of thousands of patterns take a path, told without going back: one bit for each pattern.

A tree of segments has to try the literal and the placeholder at each of them, and n segments have 2^n ways through it.
An automaton without ways back can have as many states. Here each segment costs one look-up and one `&` of as many bits
as there are patterns, whatever they are. They take as many bits of memory for each text that stands at some place.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate
from operator import or_

from gateway.policy.pattern import Pattern

# By the text of one segment, the patterns that take it at this place; and those that take any other text there.
_Place = tuple[dict[str, int], int]


class Paths:
    """Patterns in their order. The first one's bit is the lowest."""

    __slots__ = ("_by_length", "_places")

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        deepest = max((len(pattern.segments) for pattern in patterns), default=0)
        self._by_length = {slash: _by_length(patterns, deepest, slash=slash) for slash in (False, True)}
        self._places = _places(patterns, deepest)

    def takers(self, segments: tuple[str, ...], slash: bool) -> int:
        """The patterns that take the path with these segments, and with a slash at its end or without."""
        by_length = self._by_length[slash]
        found = by_length[min(len(segments), len(by_length) - 1)]
        for segment, (literals, others) in zip(segments, self._places, strict=False):
            found &= literals.get(segment, others)
        return found


def _by_length(patterns: Sequence[Pattern], deepest: int, *, slash: bool) -> list[int]:
    """The patterns that take a path of so many segments. The last number is that of all longer paths."""
    exact, rests = [0] * (deepest + 2), [0] * (deepest + 2)
    for at, pattern in enumerate(patterns):
        if pattern.slash is slash and pattern.rest is None:
            exact[len(pattern.segments)] |= 1 << at
        elif pattern.slash is slash:
            rests[len(pattern.segments) + 1] |= 1 << at
    return list(map(or_, exact, accumulate(rests, or_)))


def _places(patterns: Sequence[Pattern], deepest: int) -> tuple[_Place, ...]:
    """What is taken at each place. A pattern that ends before it is told by its length, and here takes anything."""
    literals: list[defaultdict[str, int]] = [defaultdict(int) for _ in range(deepest)]
    anything, ended = [0] * deepest, [0] * (deepest + 1)
    for at, pattern in enumerate(patterns):
        ended[len(pattern.segments)] |= 1 << at
        for place, own in enumerate(pattern.segments):
            if own is None:
                anything[place] |= 1 << at
            else:
                literals[place][own] |= 1 << at
    others = map(or_, anything, accumulate(ended, or_))
    return tuple(
        ({text: bits | other for text, bits in by_text.items()}, other)
        for by_text, other in zip(literals, others, strict=True)
    )
