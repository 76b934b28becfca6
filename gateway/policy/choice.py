"""The entries of one upstream in the order in which they are asked whether they take a request: one bit for each.

Method and path leave a few of them, or thousands that differ in one value: the method of a call, a tool, a field of
GraphQL. What a condition looks at is read once, and leaves only those that want what was found: a request costs as much
as there are different things to look at, one or two microseconds each, and not as there are entries.

An entry that is out is asked for nothing more: what else it looks at makes no difference then, be it read in two ways.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateway.core.decision import Refused
from gateway.core.request import Request
from gateway.policy.aspect import Aspect, aspects_of
from gateway.policy.body import Body, BodyWanted
from gateway.policy.condition import read_subject
from gateway.policy.entry import Entry, ReadOnly
from gateway.policy.paths import Paths
from gateway.policy.pattern import Pattern

# What each text of a path and each value takes in memory grows with the number of entries: so many with four texts of
# their own each take 18 MB. Beyond it time grows instead, by a few microseconds for each batch.
_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry by way of one of its patterns."""

    entry: Entry | ReadOnly
    pattern: Pattern


class Choice:
    """The more specific pattern comes first; with the same path, entries with conditions before the one without."""

    __slots__ = ("_batches",)

    def __init__(self, placed: Iterable[Placed], at_once: int = _AT_ONCE) -> None:
        ordered = sorted(placed, key=lambda one: (one.pattern.precedence, not one.entry.matcher.conditions))
        starts = range(0, len(ordered), at_once)
        self._batches = tuple(_Batch(ordered[start : start + at_once]) for start in starts)

    def taker(
        self, request: Request, segments: tuple[str, ...], slash: bool, body: Body
    ) -> Placed | BodyWanted | Refused | None:
        """The first entry that takes the request, None if none does. Refused as its conditions are."""
        for batch in self._batches:
            taker = batch.taker(request, segments, slash, body)
            if taker is not None:
                return taker
        return None

    def first_of_path(self, segments: tuple[str, ...], slash: bool) -> Placed | None:
        """The first entry whose pattern takes a path, whatever its methods and conditions."""
        for batch in self._batches:
            first = batch.first_of_path(segments, slash)
            if first is not None:
                return first
        return None


class _Batch:
    """So many entries as are told at once, in their order."""

    __slots__ = ("_aspects", "_by_method", "_paths", "_placed")

    def __init__(self, placed: Sequence[Placed]) -> None:
        self._placed = placed
        self._paths = Paths([one.pattern for one in self._placed])
        self._aspects = aspects_of([one.entry.matcher.conditions for one in self._placed])
        self._by_method: defaultdict[str, int] = defaultdict(int)
        for at, one in enumerate(self._placed):
            for method in one.pattern.methods:
                self._by_method[method] |= 1 << at

    def taker(
        self, request: Request, segments: tuple[str, ...], slash: bool, body: Body
    ) -> Placed | BodyWanted | Refused | None:
        left = self._by_method.get(request.method, 0) & self._paths.takers(segments, slash)
        asked: set[Aspect] = set()
        while left:
            first = left & -left
            at = first.bit_length() - 1
            for aspect in self._aspects[at]:
                if aspect in asked:
                    continue
                found = read_subject(aspect.condition, request, body)
                if isinstance(found, BodyWanted | Refused):
                    return found
                asked.add(aspect)
                left &= aspect.takers(found)
                if not left & first:
                    break
            else:
                return self._placed[at]
        return None

    def first_of_path(self, segments: tuple[str, ...], slash: bool) -> Placed | None:
        takers = self._paths.takers(segments, slash)
        return self._placed[(takers & -takers).bit_length() - 1] if takers else None
