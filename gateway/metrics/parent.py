"""What a gateway answers a scraper: its own counts and those of all its workers, dead ones included."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from gateway.core.budget import Fullest
from gateway.core.census import Census, Writers
from gateway.core.rule import NotifyEvent
from gateway.core.write import Incident
from gateway.metrics.incidents import faults_in, incidents_in
from gateway.metrics.of_store import OfStore
from gateway.metrics.process import store_up_in, version_in
from gateway.metrics.sum import Sum
from gateway.tally import keep_ended

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ParentMetrics:
    """What only the parent knows, and what it read from its workers' files in `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.registry = CollectorRegistry()
        """Of what the parent knows by itself; its workers' are read at each exposition."""
        version_in(self.registry)
        self._store_up = store_up_in(self.registry)
        self._store_safe = Gauge(
            "fencegate_store_safe",
            "Whether everything that keeps the store's records safe was in order when it was last looked at.",
            registry=self.registry,
        )
        self._workers_ready = Gauge(
            "fencegate_workers_ready", "Worker processes that accept requests.", registry=self.registry
        )
        self._worker_exits = Counter(
            "fencegate_worker_exits", "Worker processes that ended without being told to.", registry=self.registry
        )
        self._reloads = Counter(
            "fencegate_policy_reloads", "Reloads of the policies.", ["result"], registry=self.registry
        )
        for result in ("loaded", "failed"):
            self._reloads.labels(result)
        self._policies_current = Gauge(
            "fencegate_policies_current",
            "Whether what is in force is what the policy files say now: 0 while they have errors.",
            registry=self.registry,
        )
        # With files that have errors nothing starts.
        self._policies_current.set(1)
        self._incidents, self._faults = incidents_in(self.registry), faults_in(self.registry)
        self._of_store = OfStore(self.registry)
        self._notifications = Counter(
            "fencegate_notifications",
            "Attempts to tell people of an event, by what became of them: failed ones are made again, dead ones not.",
            ["event", "result"],
            registry=self.registry,
        )
        # An alert on dead letters needs the series before the first one.
        for event in get_args(NotifyEvent):
            self._notifications.labels(event, "dead")

    def policies_reloaded(self, result: Literal["loaded", "failed"]) -> None:
        self._reloads.labels(result).inc()
        self._policies_current.set(result == "loaded")

    def store_examined(self, *, safe: bool) -> None:
        """The store's settings were looked at."""
        self._store_safe.set(safe)

    def worker_ended(self, pid: int) -> None:
        """A worker is gone: what it had in flight is no longer, what it counted stays."""
        mark_process_dead(pid, str(self._directory))  # type: ignore[no-untyped-call]  # the library has no types here
        keep_ended(self._directory, pid)

    def worker_died(self) -> None:
        self._worker_exits.inc()

    def incident(self, kind: Incident) -> None:
        """As a worker's: what the parent found out by asking an upstream."""
        self._incidents.labels(kind).inc()

    def fault(self) -> None:
        """As a worker's: something of the parent's own failed by a bug."""
        self._faults.inc()

    def notified(self, event: NotifyEvent, result: Literal["sent", "failed", "dead"]) -> None:
        """An attempt to tell people of an event has ended."""
        self._notifications.labels(event, result).inc()

    def exposition(
        self,
        *,
        store_up: bool,
        workers_ready: int,
        census: Census | None,
        writers: Mapping[str, Writers],
        budgets: Iterable[Fullest] = (),
    ) -> bytes:
        """All metrics in Prometheus' text format.

        `census`: what there is in the store, None if nobody knows; `writers`: who writes at each upstream by it;
        `budgets`: what is used of those of the rules in force.
        """
        self._store_up.set(store_up)
        self._workers_ready.set(workers_ready)
        self._of_store.set(census, writers)
        self._of_store.set_budgets(budgets)
        workers = CollectorRegistry()
        MultiProcessCollector(workers, str(self._directory))  # type: ignore[no-untyped-call]  # the library has no types here
        together = CollectorRegistry()
        together.register(Sum(workers, self.registry))
        return generate_latest(together)
