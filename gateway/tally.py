"""Counts that are added up in memory and written to the metrics a few times a second.

In prometheus_client's multiprocess mode each addition takes a lock, asks the kernel who is calling and writes to a
mapped file; a write through the gateway makes eleven of them, which was a tenth of its whole cost.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from prometheus_client import Counter, Gauge, Histogram

# Whoever scrapes does so every few seconds; a worker that is killed takes at most this much with it.
_WRITTEN_WITHIN_S = 0.1

Later = Callable[[float, Callable[[], None]], object]


class Tallies:
    """Makes the tallies of one process. `later` is an event loop's `call_later`; without one nothing is put off."""

    def __init__(self, later: Later | None) -> None:
        self._later = later
        self._unwritten: list[Tally | Distribution] = []

    def tally(self, metric: Counter | Gauge) -> "Tally":
        return Tally(self, metric)

    def distribution(self, metric: Histogram, bounds: Sequence[float]) -> "Distribution":
        """`bounds` are the buckets that the histogram was made with."""
        return Distribution(self, metric, bounds)

    def written_later(self, tally: "Tally | Distribution") -> None:
        """This one has begun to count."""
        if self._later is None:
            tally.write()
            return
        if not self._unwritten:
            self._later(_WRITTEN_WITHIN_S, self.write)
        self._unwritten.append(tally)

    def write(self) -> None:
        """Write out what was counted."""
        unwritten, self._unwritten = self._unwritten, []
        for tally in unwritten:
            tally.write()


class Tally:
    """Of a counter, or of a gauge that goes up and down."""

    __slots__ = ("_count", "_metric", "_tallies", "_waits")

    def __init__(self, tallies: Tallies, metric: Counter | Gauge) -> None:
        self._tallies = tallies
        self._metric = metric
        self._count = 0
        self._waits = False

    def add(self, count: int = 1) -> None:
        self._count += count
        if not self._waits:
            self._waits = True
            self._tallies.written_later(self)

    def write(self) -> None:
        self._waits = False
        count, self._count = self._count, 0
        self._metric.inc(count)


class Distribution:
    """Of a histogram."""

    __slots__ = ("_bounds", "_counts", "_metric", "_sum", "_tallies", "_waits")

    def __init__(self, tallies: Tallies, metric: Histogram, bounds: Sequence[float]) -> None:
        self._tallies = tallies
        self._metric = metric
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        self._waits = False

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value
        if not self._waits:
            self._waits = True
            self._tallies.written_later(self)

    def write(self) -> None:
        self._waits = False
        # prometheus_client offers no way to add many observations at once; these are what its `observe` adds to.
        self._metric._sum.inc(self._sum)
        self._sum = 0.0
        for at, count in enumerate(self._counts):
            if count:
                self._metric._buckets[at].inc(count)
                self._counts[at] = 0
