"""Goal 2: how long a write takes, alone and beside others at a constant rate."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.bench.constant_rate import Paced, paced
from tests.bench.figure import Figure, at_most, percentile
from tests.bench.stage import Stage
from tests.bench.trial import Case, Plan, in_turn, rates
from tests.bench.wrk import Shape

_CALM, _BUSY = 0.2, 0.8


def measure(stage: Stage, plan: Plan) -> Iterator[Figure]:
    fenced = stage.yardstick.fenced
    with stage.gateway() as ours:
        one = Shape(connections=1)
        alone = in_turn({"ours": Case(ours, one), "fenced": Case(fenced, one)}, plan)
        most = in_turn({"ours": Case(ours), "fenced": Case(fenced)}, plan)
        capacity, theirs = (statistics.median(rates(most[name])) for name in ("ours", "fenced"))
        spreads, beside = [], []
        for _ in range(plan.rounds):
            spreads.append(_Spread(*(paced(ours, capacity * part, plan.seconds) for part in (_CALM, _BUSY))))
            beside.append(_Spread(*(paced(fenced, theirs * part, plan.seconds) for part in (_CALM, _BUSY))))
    medians = ([trial.report.p50_ms for trial in alone[name]] for name in ("ours", "fenced"))
    yield Figure("one connection, median", "ms", at_most(1.3)).compared(*medians)
    yield Figure("median at 20 % of its capacity", "ms").compared(_calm(spreads), _calm(beside))
    rate = f"{capacity * _BUSY:.0f} and {theirs * _BUSY:.0f} writes/s"
    yield Figure("p99 at 80 % of its capacity", "ms", note=rate).compared(_busy(spreads), _busy(beside))
    late = f"the load itself was up to {statistics.median(spread.late_ms for spread in spreads):.2f} ms late (p99)"
    yield Figure("p99 at 80 % over the median at 20 %", "times", at_most(2), late).of(_growth(spreads))
    yield Figure("the same of fenced nginx", "times").of(_growth(beside))


@dataclass(frozen=True, slots=True)
class _Spread:
    """Few requests, then many."""

    calm: Paced
    busy: Paced

    @property
    def late_ms(self) -> float:
        return percentile(self.busy.late_s, 99) * 1000


def _calm(spreads: Sequence[_Spread]) -> list[float]:
    return [percentile(spread.calm.took_s, 50) * 1000 for spread in spreads]


def _busy(spreads: Sequence[_Spread]) -> list[float]:
    return [percentile(spread.busy.took_s, 99) * 1000 for spread in spreads]


def _growth(spreads: Sequence[_Spread]) -> list[float]:
    return [busy / calm for busy, calm in zip(_busy(spreads), _calm(spreads), strict=True)]
