"""What a process that only delivers counts, and what it answers a scraper."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest

from gateway.metrics.process import store_up_in, version_in
from gateway.metrics.worker import Metrics


class DelivererMetrics:
    """`counted`: as in a worker; what only requests or leases would move stays at zero."""

    def __init__(self, upstreams: Iterable[str]) -> None:
        self._registry = CollectorRegistry()
        version_in(self._registry)
        self._store_up = store_up_in(self._registry)
        self.counted = Metrics(self._registry)
        self.counted.prepare(upstreams, None)

    def exposition(self, *, store_up: bool) -> bytes:
        """Prometheus' text format."""
        self._store_up.set(store_up)
        self.counted.write()
        return generate_latest(self._registry)
