"""What workers and their parent counted, in one answer."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample


class Sum(Collector):
    """Registries as one: a metric that several have is there once, its samples added up."""

    def __init__(self, *registries: CollectorRegistry) -> None:
        self._registries = registries

    def collect(self) -> Iterable[Metric]:
        metrics: dict[str, Metric] = {}
        for registry in self._registries:
            for metric in registry.collect():
                known = metrics.setdefault(metric.name, metric)
                if known is not metric:
                    known.samples = _added(known.samples, metric.samples)
        return metrics.values()


def _added(some: Iterable[Sample], more: Iterable[Sample]) -> list[Sample]:
    """One sample for each name and set of labels."""
    samples: dict[tuple[str, frozenset[tuple[str, str]]], Sample] = {}
    for sample in (*some, *more):
        key = sample.name, frozenset(sample.labels.items())
        known = samples.get(key)
        samples[key] = sample if known is None else sample._replace(value=known.value + sample.value)
    return list(samples.values())
