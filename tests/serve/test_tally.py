"""Counts that are written a little later."""

from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from gateway.tally import Tallies


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


def samples(registry: CollectorRegistry) -> dict[tuple[str, str], float]:
    return {
        (sample.name, sample.labels.get("le", "")): sample.value
        for metric in registry.collect()
        for sample in metric.samples
        if not sample.name.endswith("_created")
    }
