"""Counts that are written a little later."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.mmap_dict import MmapedDict

from gateway.tally import Tallies, keep_ended


class Turn:
    """An event loop whose time comes when the test says so."""

    def __init__(self) -> None:
        self.due: list[Callable[[], None]] = []

    def later(self, _seconds: float, call: Callable[[], None]) -> None:
        self.due.append(call)

    def come(self) -> None:
        due, self.due = self.due, []
        for call in due:
            call()


def test_what_is_counted_is_written_once_for_all() -> None:
    """However often and whatever is counted meanwhile, one timer runs."""
    registry, turn = CollectorRegistry(), Turn()
    tallies = Tallies(turn.later)
    sent = tallies.tally(Counter("sent", "Sent.", registry=registry))
    flying = tallies.tally(Gauge("flying", "In flight.", registry=registry))

    for _ in range(3):
        sent.add()
        flying.add()
    flying.add(-1)

    assert registry.get_sample_value("sent_total") == 0
    assert len(turn.due) == 1
    turn.come()
    assert registry.get_sample_value("sent_total") == 3
    assert registry.get_sample_value("flying") == 2


def test_counting_goes_on_after_it_was_written() -> None:
    """Nothing is written twice, and nothing is lost."""
    registry, turn = CollectorRegistry(), Turn()
    sent = Tallies(turn.later).tally(Counter("sent", "Sent.", registry=registry))

    for expected in (1, 2, 3):
        sent.add()
        turn.come()
        assert registry.get_sample_value("sent_total") == expected
    turn.come()
    assert registry.get_sample_value("sent_total") == 3


@pytest.mark.parametrize("values", [(0.05,), (0.1,), (0.2, 0.05, 0.1, 7.0), (1.0, 1.0, 1.5)], ids=str)
def test_a_distribution_is_what_the_histogram_would_have_been(values: tuple[float, ...]) -> None:
    """Every sample of it, bounds included: the library's own `observe` is the model."""
    bounds = (0.1, 1.0)
    written, observed, turn = CollectorRegistry(), CollectorRegistry(), Turn()
    distribution = Tallies(turn.later).distribution(Histogram("s", "S.", registry=written, buckets=bounds), bounds)
    histogram = Histogram("s", "S.", registry=observed, buckets=bounds)

    for _ in range(2):
        for value in values:
            distribution.observe(value)
            histogram.observe(value)
        turn.come()

    assert samples(written) == samples(observed)


def test_without_an_event_loop_everything_is_written_at_once() -> None:
    """As in a program that ends before any timer."""
    registry = CollectorRegistry()

    Tallies(None).tally(Counter("sent", "Sent.", registry=registry)).add()

    assert registry.get_sample_value("sent_total") == 1


def written(path: Path, counts: dict[str, float]) -> None:
    """A file as a process leaves it."""
    file = MmapedDict(str(path))
    for key, value in counts.items():
        file.write_value(key, value, 0.0)
    file.close()


def read(path: Path) -> dict[str, float]:
    return {key: value for key, value, _, _ in MmapedDict.read_all_values_from_file(str(path))}


def test_the_counts_of_who_has_ended_are_added_up(tmp_path: Path) -> None:
    """What is new is kept beside them, however much it is."""
    many = {f"a long enough name of a count {number}": 1.0 for number in range(2_000)}
    for pid, counts in ((7, {"a": 1.0}), (8, {"a": 2.0, "b": 5.0}), (9, many)):
        written(tmp_path / f"counter_{pid}.db", counts)
        keep_ended(tmp_path, pid)

    assert [path.name for path in tmp_path.iterdir()] == ["counter_ended.db"]
    assert read(tmp_path / "counter_ended.db") == {"a": 3.0, "b": 5.0, **many}


@pytest.mark.parametrize("broken", [b"", b"\xff\xff\0\0" + bytes(60_000)], ids=["empty", "not whole"])
def test_a_file_that_nobody_can_read_does_not_stay(tmp_path: Path, broken: bytes) -> None:
    """Who was killed while it made it has counted nothing; no scrape would be answered any more."""
    (tmp_path / "counter_7.db").write_bytes(broken)

    keep_ended(tmp_path, 7)

    assert list(tmp_path.iterdir()) == []


def test_without_room_on_the_disk_counts_stay_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted there too."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    written(tmp_path / "counter_7.db", {"a": 1.0})
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)

    keep_ended(tmp_path, 7)

    assert read(tmp_path / "counter_7.db") == {"a": 1.0}
    # Else a scrape would stumble over it.
    assert not (tmp_path / "counter_ended.db").exists()


def samples(registry: CollectorRegistry) -> dict[tuple[str, str], float]:
    return {
        (sample.name, sample.labels.get("le", "")): sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if not sample.name.endswith("_created")
    }
