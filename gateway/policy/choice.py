"""The entries of one path, in the order in which they are asked whether they take a request.

Thousands of them may share a path and differ in one value: the method of a call, a tool, a field of GraphQL. They are
found by that value.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.core.decision import Refused
from gateway.core.request import Request
from gateway.policy.body import Body, BodyWanted
from gateway.policy.condition import Condition, first_unmet, is_of_body, read_subject, values_of
from gateway.policy.entry import Entry, ReadOnly
from gateway.policy.pattern import Pattern

# So few are asked one after the other in less time than a value takes to be looked up.
_FEW = 4


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry by way of one of its patterns."""

    entry: Entry | ReadOnly
    pattern: Pattern

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return self.entry.matcher.conditions


class Choice:
    """Those with conditions come before the others; `lint.py` sees to it that no request meets two of them."""

    __slots__ = ("_by_value", "_others", "_shared", "entries")

    def __init__(self, placed: Sequence[Placed]) -> None:
        conditional = [one for one in placed if one.conditions]
        self._others = [one for one in placed if not one.conditions]
        self.entries = (*conditional, *self._others)
        self._shared = _most_telling(conditional) if len(conditional) > _FEW else None
        self._by_value: defaultdict[object, list[Placed]] = defaultdict(list)
        for one in conditional:
            for value in _values(one, self._shared):
                self._by_value[value].append(one)

    def taker(self, request: Request, body: Body) -> Placed | BodyWanted | Refused | None:
        """The first entry that takes the request, None if none does. Refused as their conditions are."""
        candidates = self._candidates(request, body)
        if isinstance(candidates, BodyWanted | Refused):
            return candidates
        for placed in candidates:
            unmet = first_unmet(placed.conditions, request, body)
            if unmet is None:
                return placed
            if isinstance(unmet, BodyWanted | Refused):
                return unmet
        return None

    def _candidates(self, request: Request, body: Body) -> Sequence[Placed] | BodyWanted | Refused:
        if self._shared is None:
            return self.entries
        found = read_subject(self._shared, request, body)
        if isinstance(found, BodyWanted | Refused):
            return found
        named = [one for value in values_of(found) for one in self._by_value.get(value, ())]
        return (*named, *self._others)


def _values(placed: Placed, shared: Condition | None) -> frozenset[object]:
    if shared is None:
        return frozenset()
    return next(frozenset(one.values) for one in placed.conditions if str(one) == str(shared))


def _most_telling(placed: Sequence[Placed]) -> Condition | None:
    """The condition whose subject all entries look at and most tell apart.

    None if the subject is in the body, and one of them looks at something else first: its body may not have to be read.
    """
    subjects = set.intersection(*({str(condition) for condition in one.conditions} for one in placed))
    values: defaultdict[str, set[object]] = defaultdict(set)
    for one in placed:
        for condition in one.conditions:
            values[str(condition)].update(condition.values)
    subject = max(sorted(subjects), key=lambda name: len(values[name]), default=None)
    telling = next((condition for condition in placed[0].conditions if str(condition) == subject), None)
    if telling is None or not is_of_body(telling):
        return telling
    return telling if all(is_of_body(one.conditions[0]) for one in placed) else None
