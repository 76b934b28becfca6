"""The metrics: what is counted under which labels, and that several processes add up."""

import subprocess
import sys
from pathlib import Path

from prometheus_client import CollectorRegistry

from gateway import settings
from gateway.core.rule import Origin, Upstream
from gateway.metrics import Metrics, ParentMetrics

REPORTS = Upstream("reports", Origin("http", "127.0.0.1", 9000))

# A worker as far as its metrics go: counts, with one write left in flight, and ends.
_WORKER = """
from prometheus_client import CollectorRegistry
from gateway.core.rule import Origin, Upstream
from gateway.metrics import Metrics

metrics = Metrics(CollectorRegistry())
metrics.decided("reports", "replace-body", "forwarded", 0.003)
metrics.decided("reports", "replace-body", "stale-epoch", 0.001)
metrics.store_called("admit", 0.0002)
metrics.sent(Upstream("reports", Origin("http", "127.0.0.1", 9000)))
"""


def run_worker(directory: Path) -> int:
    environment = settings.environment() | {"PROMETHEUS_MULTIPROC_DIR": str(directory)}
    with subprocess.Popen([sys.executable, "-c", _WORKER], env=environment) as worker:
        assert worker.wait() == 0
        return worker.pid


def sample(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


def test_every_request_is_counted_by_its_decision() -> None:
    """Rejections of the fence are counted a second time, by their reason; others are not."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    for decision in ("forwarded", "stale-epoch", "stale-epoch", "no-policy"):
        metrics.decided("reports", "replace-body", decision, 0.01)

    labels = {"upstream": "reports", "rule": "replace-body"}
    assert sample(registry, "fencegate_requests_total", **labels, decision="forwarded") == 1
    assert sample(registry, "fencegate_requests_total", **labels, decision="stale-epoch") == 2
    assert sample(registry, "fencegate_fence_rejections_total", **labels, reason="stale-epoch") == 2
    assert sample(registry, "fencegate_fence_rejections_total", **labels, reason="no-policy") is None
    assert sample(registry, "fencegate_request_seconds_count") == 4


def test_what_is_in_flight_goes_up_and_down() -> None:
    """A write is in flight from its first byte to the end of its answer."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    metrics.sent(REPORTS)
    metrics.sent(REPORTS)
    metrics.ended(REPORTS, 0.5)

    assert sample(registry, "fencegate_in_flight", upstream="reports") == 1
    assert sample(registry, "fencegate_upstream_seconds_sum") == 0.5


def test_renewals_are_counted_by_their_answer() -> None:
    """How late holders renew shows in the histogram; a refused renewal has no remaining term."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    metrics.renewed("renewed")
    metrics.lease_remaining(0.6)
    metrics.renewed("lease-lost")

    assert sample(registry, "fencegate_lease_renewals_total", result="renewed") == 1
    assert sample(registry, "fencegate_lease_renewals_total", result="lease-lost") == 1
    assert sample(registry, "fencegate_lease_remaining_ratio_count") == 1


def test_the_parent_answers_for_all_workers_dead_ones_included(tmp_path: Path) -> None:
    """What a worker counted stays when it ends; what it had in flight does not."""
    parent = ParentMetrics(tmp_path)
    pids = [run_worker(tmp_path), run_worker(tmp_path)]
    before = parent.exposition(store_up=True, workers_ready=2).decode()

    for pid in pids:
        parent.worker_ended(pid)
    after = parent.exposition(store_up=False, workers_ready=0).decode()

    counted = 'fencegate_requests_total{decision="forwarded",rule="replace-body",upstream="reports"} 2.0'
    assert counted in before
    assert counted in after
    assert 'fencegate_store_seconds_count{script="admit"} 2.0' in after
    assert 'fencegate_in_flight{upstream="reports"} 2.0' in before
    assert "fencegate_in_flight{" not in after
    assert "fencegate_store_up 1.0" in before
    assert "fencegate_store_up 0.0" in after


def test_reloads_are_there_before_the_first_one(tmp_path: Path) -> None:
    """An alert on failed reloads needs the series from the start."""
    exposition = ParentMetrics(tmp_path).exposition(store_up=True, workers_ready=1).decode()

    assert 'fencegate_policy_reloads_total{result="failed"} 0.0' in exposition
