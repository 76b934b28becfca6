"""A row of the benchmark: a value, what it is compared with, and the goal that is set for it."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound, in the unit of what is judged."""

    bound: float
    is_least: bool

    def met(self, value: float) -> bool:
        return value >= self.bound if self.is_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.is_least else '≤'} {self.bound:g}"


def at_least(bound: float) -> Goal:
    return Goal(bound, is_least=True)


def at_most(bound: float) -> Goal:
    return Goal(bound, is_least=False)


@dataclass(frozen=True, slots=True)
class Figure:
    """`beside` is what `ours` is compared with: the yardstick, or the gateway itself under another load.

    The goal is one for the ratio where there is one, else for `ours`.
    """

    what: str
    unit: str
    goal: Goal | None = None
    note: str = ""
    ours: float | None = None
    beside: float | None = None
    ratio: float | None = None

    @property
    def is_met(self) -> bool | None:
        """None without a goal."""
        judged = self.ours if self.ratio is None else self.ratio
        return None if self.goal is None or judged is None else self.goal.met(judged)

    def of(self, values: Sequence[float]) -> "Figure":
        """The median of what was measured several times."""
        return replace(self, ours=statistics.median(values))

    def compared(self, ours: Sequence[float], beside: Sequence[float]) -> "Figure":
        """Of values that were measured in turn: what slows the machine for a while slows both of a pair."""
        ratio = statistics.median(one / other for one, other in zip(ours, beside, strict=True))
        return replace(self, ours=statistics.median(ours), beside=statistics.median(beside), ratio=ratio)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least so many percent do not exceed. Raises ValueError where there is none."""
    if not values:
        raise ValueError("nothing was measured")
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]
