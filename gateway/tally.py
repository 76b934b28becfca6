"""Counts that are added up in memory and written to the metrics a few times a second; and those of processes that have
ended, added up in one file.

In prometheus_client's multiprocess mode each addition takes a lock, asks the kernel who is calling and writes to a
mapped file; a write through the gateway makes eleven of them, which was a tenth of its whole cost.
"""

import os
import struct
import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.mmap_dict import MmapedDict

# Whoever scrapes does so every few seconds; a worker that is killed takes at most this much with it.
_WRITTEN_WITHIN_S = 0.1

Later = Callable[[float, Callable[[], None]], object]
# Each count's name, value and time.
_Counts = list[tuple[str, float, float]]


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


def keep_ended(directory: Path, pid: int) -> None:
    """Add the counts of a process that has ended to those of the ones before it, in prometheus_client's files.

    Left where they are, the files of each would be read at every scrape: of a worker that dies at its start, thousands.
    Where the disk has no room they are left there all the same.
    """
    for kind in ("counter", "histogram"):
        path, ended = directory / f"{kind}_{pid}.db", directory / f"{kind}_ended.db"
        if not path.exists():
            continue
        counts = _read(path)
        if not counts:
            # Killed while it made the file: nobody could read that one, nor any of the others at a scrape.
            path.unlink()
        elif _has_room(ended, path):
            _add(ended, counts)
            path.unlink()


def _read(path: Path) -> _Counts:
    """Nothing of a file that is not whole."""
    try:
        found = MmapedDict.read_all_values_from_file(str(path))  # type: ignore[no-untyped-call]  # the library has no types here
        return [(name, value, time) for name, value, time, _ in found]
    except (struct.error, RuntimeError, UnicodeDecodeError):
        return []


def _add(ended: Path, counts: _Counts) -> None:
    together: Any = MmapedDict(str(ended))  # type: ignore[no-untyped-call]  # the library has no types here
    for name, value, time in counts:
        together.write_value(name, together.read_value(name)[0] + value, time)
    together.close()


def _has_room(ended: Path, path: Path) -> bool:
    """Whether the first can take all of the second. It is mapped into memory: without a place on the disk, writing to
    it would kill the process (as in `Metrics.prepare`).
    """
    if not hasattr(os, "posix_fallocate"):
        return True
    before = ended.stat().st_size if ended.exists() else 0
    size = max(before, path.stat().st_size)
    if before and _used(ended) + _used(path) > size:
        size *= 2
    try:
        with ended.open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError:
        if not before:
            ended.unlink(missing_ok=True)
        return False
    return True


def _used(path: Path) -> int:
    """How many bytes of a file hold counts: its first four say so."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(4), sys.byteorder)
