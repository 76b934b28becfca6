"""The entries of one upstream in the order in which they are asked whether they take a request: one bit for each.

Method and path leave a few of them, or thousands that differ in one value: the method of a call, a tool, a field of
GraphQL. What a condition looks at is read once, and leaves only those that want what was found: a request costs as much
as there are different things to look at, one or two microseconds each, and not as there are entries.

An entry that is out is asked for nothing more: what else it looks at makes no difference then, be it read in two ways.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gateway.core.decision import AMBIGUOUS_TARGET, OF_PATHS, Refused
from gateway.core.request import Request
from gateway.policy.aspect import Aspect, aspects_of
from gateway.policy.condition import read_subject
from gateway.policy.entry import AnyEntry, Closed
from gateway.policy.lenient.paths import LenientPaths
from gateway.policy.lenient.segment import lenient_segments
from gateway.policy.paths import Paths
from gateway.policy.pattern import Pattern
from gateway.policy.reading.body import Body, BodyWanted

# What each text of a path and each value takes in memory grows with the number of entries: so many with four texts of
# their own each take 18 MB. Beyond it time grows instead, by a few microseconds for each batch.
_AT_ONCE = 8192
_OF_ANOTHER_RULE = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that looks at neither case, marks (`-`, `_`, a blank) nor a slash at the end "
    "this is a path of another rule. Spell it as the policy does.",
    OF_PATHS,
)


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry by way of one of its patterns."""

    entry: AnyEntry
    pattern: Pattern

    @property
    def is_anywhere(self) -> bool:
        """Whether its entry has no paths of its own: it is closed at those of all others."""
        return isinstance(self.entry, Closed) and self.entry.anywhere

    @property
    def names_action(self) -> bool:
        """Whether its path is its own and ends in text: what is done, or a thing of which there is one."""
        return not (self.pattern.ends_open or self.is_anywhere)


class Choice:
    """The more specific pattern comes first; with the same path, entries with conditions before the one without, and of
    those with conditions what is closed before what is open."""

    __slots__ = ("_batches", "_lenient", "_lenient_paths")

    def __init__(self, placed: Iterable[Placed], at_once: int = _AT_ONCE) -> None:
        ordered = sorted(placed, key=_rank)
        self._batches = _batches(ordered, at_once)
        self._lenient_paths = LenientPaths([one.pattern for one in ordered])
        lenient = [Placed(one.entry, one.pattern.lenient) for one in ordered] if self._lenient_paths else []
        self._lenient = _batches(lenient, at_once)

    def taker(
        self, request: Request, segments: tuple[str, ...], slash: bool, body: Body
    ) -> Placed | BodyWanted | Refused | None:
        """The first entry that takes the request, None if none does.

        Refused as its conditions are, and as `ambiguous-target` where a lenient server could find a more specific one.
        """
        for batch in self._batches:
            taker = batch.taker(request, segments, slash, body)
            if taker is None:
                continue
            if not (self._lenient and isinstance(taker, Placed)):
                return taker
            is_doubtful = self._lenient_paths.may_be_of_another(taker.pattern, segments)
            return self._unless_of_another(taker, request, segments, body) if is_doubtful else taker
        return None

    def _unless_of_another(
        self, taker: Placed, request: Request, segments: tuple[str, ...], body: Body
    ) -> Placed | BodyWanted | Refused:
        """Of two that differ in nothing but case, marks or a slash, both are the policy's own, and told apart by it."""
        folded = lenient_segments(segments)
        for batch in self._lenient:
            found = batch.taker(request, folded, slash=False, body=body)
            if isinstance(found, Placed):
                return _OF_ANOTHER_RULE if found.pattern.precedence < taker.pattern.precedence else taker
            if found is not None:
                return found
        return taker

    def first_of_path(self, segments: tuple[str, ...], slash: bool) -> Placed | None:
        """The first entry whose pattern takes a path, whatever its methods and conditions."""
        for batch in self._batches:
            first = batch.first_of_path(segments, slash)
            if first is not None:
                return first
        return None


def lenient_choice(placed: Iterable[Placed]) -> Choice:
    """Among segments as the most lenient server compares them."""
    return Choice(replace(one, pattern=one.pattern.lenient) for one in placed)


def _rank(one: Placed) -> tuple[tuple[int, ...], bool, bool]:
    return one.pattern.precedence, not one.entry.matcher.conditions, not isinstance(one.entry, Closed)


def _batches(ordered: Sequence[Placed], at_once: int) -> "tuple[_Batch, ...]":
    return tuple(_Batch(ordered[start : start + at_once]) for start in range(0, len(ordered), at_once))


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
                doubt = aspect.doubt(found, left) if aspect.may_doubt(found) else None
                if doubt is not None:
                    return doubt
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
