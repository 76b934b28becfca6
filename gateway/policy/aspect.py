"""What conditions look at in a request, such as a header or a pointer, and which entries want which of its values.

An entry is a bit: one reading of a request tells of thousands of them whether it can be theirs.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from operator import and_, or_

from gateway.core.decision import Refused
from gateway.policy.condition import Condition, GraphqlCondition, JsonCondition, Subject
from gateway.policy.doubtful_value import Trait, doubt_of, is_plain, is_respelled, may_be_in_doubt, traits_of
from gateway.policy.reading.operation import Operation


class Aspect:
    """One thing that is looked at. `condition` is any of the conditions that look at it."""

    __slots__ = ("_of_kind", "_others", "_traits", "_wanting", "condition", "has_doubts", "is_json")

    def __init__(self, wanted: Sequence[tuple[int, Condition]], everybody: int) -> None:
        """`wanted` are the conditions with their entries' places, `everybody` the bits of all entries."""
        self.condition = wanted[0][1]
        self._others = everybody & ~reduce(or_, (1 << at for at, _ in wanted))
        self._wanting: defaultdict[object, int] = defaultdict(int)
        self._of_kind: defaultdict[str, int] = defaultdict(int)
        self._traits: defaultdict[Trait, int] = defaultdict(int)
        for at, condition in wanted:
            for value in condition.values:
                self._wanting[value] |= 1 << at
                for trait in traits_of(value):
                    self._traits[trait] |= 1 << at
            if isinstance(condition, GraphqlCondition):
                for kind, _ in condition.values:
                    self._of_kind[kind] |= 1 << at
        self.has_doubts = not all(map(is_plain, self._traits))
        """Whether there may be a value that is taken for one that is wanted."""
        self.is_json = isinstance(self.condition, JsonCondition)
        """Whether a list, an object or a number may be taken for one, whatever is wanted."""

    def takers(self, found: Subject) -> int:
        """The entries that want what a request has there, and those that do not look."""
        if not isinstance(found, Operation):
            return self._others | self._wanting.get(found, 0)
        named = (self._wanting.get((found.kind, name), 0) for name in found.fields)
        return self._others | self._wanting.get((found.kind, None), 0) | reduce(and_, named)

    def may_doubt(self, found: Subject) -> bool:
        """Whether what a request has there may be taken for what is wanted; told sooner than which entries that are."""
        if self.has_doubts or (self.is_json and may_be_in_doubt(found)):
            return True
        return found not in self._wanting and is_respelled(self.condition, found, self._traits.__contains__)

    def doubt(self, found: Subject, left: int) -> Refused | None:
        """The refusal of a value that none of the entries `left` wants, and that some API takes for one they do."""
        if self._wanting.get(found, 0) & left:
            return None
        return doubt_of(self.condition, found, lambda trait: bool(self._traits.get(trait, 0) & left))

    def rivals(self, condition: Condition) -> int:
        """The entries that some request suits as well as it suits `condition`, for all that this aspect tells."""
        bits = self._others
        for value in condition.values:
            bits |= self._wanting.get(value, 0)
        if isinstance(condition, GraphqlCondition):
            for kind, name in condition.values:
                bits |= self._of_kind.get(kind, 0) if name is None else self._wanting.get((kind, None), 0)
        return bits


def aspects_of(entries: Sequence[tuple[Condition, ...]]) -> list[tuple[Aspect, ...]]:
    """For the conditions of each entry what they look at, in their order."""
    wanted: defaultdict[str, list[tuple[int, Condition]]] = defaultdict(list)
    for at, conditions in enumerate(entries):
        for condition in conditions:
            wanted[str(condition)].append((at, condition))
    everybody = (1 << len(entries)) - 1
    aspects = {name: Aspect(found, everybody) for name, found in wanted.items()}
    return [tuple(aspects[str(condition)] for condition in conditions) for conditions in entries]
