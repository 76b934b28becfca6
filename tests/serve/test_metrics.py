"""The metrics: what is counted under which labels, and that several processes add up."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from gateway import __version__, settings
from gateway.core.census import Census, Writers
from gateway.core.decision import (
    ANSWER_NOT_KEPT,
    FORWARDED,
    INTENT_IN_PROGRESS,
    INTENT_MISMATCH,
    NO_POLICY,
    OBSERVED,
    OUTCOME_UNKNOWN,
    REPLAYED,
    STALE_EPOCH,
    STILL_UNKNOWN,
    Decision,
)
from gateway.core.rule import Origin, Rule, Upstream
from gateway.metrics.parent import ParentMetrics
from gateway.metrics.worker import Metrics
from tests.gateway_process import GatewayProcess, call, running, write_policy
from tests.recording import RecordingUpstream
from tests.until import until

REPORTS = Upstream("reports", Origin("http", "127.0.0.1", 9000))

# A worker as far as its metrics go: counts, with one write left in flight, and ends.
_WORKER = """
from prometheus_client import CollectorRegistry
from gateway.core.decision import FORWARDED, STALE_EPOCH
from gateway.core.rule import Origin, Upstream
from gateway.metrics.worker import Metrics

metrics = Metrics(CollectorRegistry())
metrics.decided("reports", "replace-body", FORWARDED, 0.003)
metrics.decided("reports", "replace-body", STALE_EPOCH, 0.001)
metrics.incident("late-write")
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


def test_a_session_is_counted_while_it_lasts_and_its_length_is_no_latency() -> None:
    """A dashboard of latencies would show hours."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.session_began(REPORTS)
    metrics.session_began(REPORTS)
    metrics.session_ended(REPORTS)
    metrics.decided("reports", "live", FORWARDED, None)

    assert sample(registry, "fencegate_sessions", upstream="reports") == 1
    counted = {"upstream": "reports", "rule": "live", "decision": "forwarded"}
    assert sample(registry, "fencegate_requests_total", **counted) == 1
    assert sample(registry, "fencegate_request_seconds_count") == 0


def test_what_was_only_observed_is_counted_by_what_it_would_have_been() -> None:
    """And not as a rejection: nothing was rejected."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    metrics.decided("reports", "replace-body", OBSERVED, 0.01)
    metrics.observed("reports", "replace-body", STALE_EPOCH)

    labels = {"upstream": "reports", "rule": "replace-body"}
    assert sample(registry, "fencegate_requests_total", **labels, decision="observed") == 1
    assert sample(registry, "fencegate_observed_total", **labels, would="stale-epoch") == 1
    assert sample(registry, "fencegate_fence_rejections_total", **labels, reason="stale-epoch") is None


def test_a_late_result_is_counted_by_how_much_of_it_was_kept() -> None:
    """What was lost is what an alert wants."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    rule = Rule("replace-body", REPORTS, on_stale="quarantine")

    for extent in ("whole", "whole", "nothing"):
        metrics.quarantined(rule, extent)

    labels = {"upstream": "reports", "rule": "replace-body"}
    assert sample(registry, "fencegate_quarantined_total", **labels, kept="whole") == 2
    assert sample(registry, "fencegate_quarantined_total", **labels, kept="nothing") == 1


def test_every_request_is_counted_by_its_decision() -> None:
    """Rejections of the fence are counted a second time, by their reason; others are not."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    for decision in (FORWARDED, STALE_EPOCH, STALE_EPOCH, NO_POLICY):
        metrics.decided("reports", "replace-body", decision, 0.01)

    labels = {"upstream": "reports", "rule": "replace-body"}
    assert sample(registry, "fencegate_requests_total", **labels, decision="forwarded") == 1
    assert sample(registry, "fencegate_requests_total", **labels, decision="stale-epoch") == 2
    assert sample(registry, "fencegate_fence_rejections_total", **labels, reason="stale-epoch") == 2
    assert sample(registry, "fencegate_fence_rejections_total", **labels, reason="no-policy") is None
    assert sample(registry, "fencegate_request_seconds_count") == 4


@pytest.mark.parametrize(
    ("decision", "hits"),
    [
        (REPLAYED, 1),
        (ANSWER_NOT_KEPT, 1),
        (INTENT_IN_PROGRESS, 1),
        (STILL_UNKNOWN, 1),
        (OUTCOME_UNKNOWN, None),
        (INTENT_MISMATCH, None),
        (FORWARDED, None),
    ],
    ids=lambda value: f"{value.name} {value.status}" if isinstance(value, Decision) else "",
)
def test_a_repeat_that_is_not_forwarded_is_a_hit(decision: Decision, hits: int | None) -> None:
    """Whatever its record says. The first unknown outcome was forwarded; another request under the key is no repeat."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    metrics.decided("reports", "replace-body", decision, 0.01)

    labels = {"upstream": "reports", "rule": "replace-body"}
    assert sample(registry, "fencegate_dedupe_hits_total", **labels) == hits
    assert sample(registry, "fencegate_requests_total", **labels, decision=decision.name) == 1


def test_an_outcome_that_was_unknown_and_is_still_is_one_decision() -> None:
    """The word is the same; that one of them was a repeat shows in the hits."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    for decision in (OUTCOME_UNKNOWN, STILL_UNKNOWN, STILL_UNKNOWN, OUTCOME_UNKNOWN):
        metrics.decided("reports", "replace-body", decision, 0.01)

    labels = {"upstream": "reports", "rule": "replace-body"}
    assert sample(registry, "fencegate_requests_total", **labels, decision="outcome-unknown") == 4
    assert sample(registry, "fencegate_dedupe_hits_total", **labels) == 2


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
    before = parent.exposition(store_up=True, workers_ready=2, census=None, writers={}).decode()

    for pid in pids:
        parent.worker_ended(pid)
    after = parent.exposition(store_up=False, workers_ready=0, census=None, writers={}).decode()

    counted = 'fencegate_requests_total{decision="forwarded",rule="replace-body",upstream="reports"} 2.0'
    assert counted in before
    assert counted in after
    assert 'fencegate_store_seconds_count{script="admit"} 2.0' in after
    assert 'fencegate_in_flight{upstream="reports"} 2.0' in before
    assert "fencegate_in_flight{" not in after
    assert "fencegate_store_up 1.0" in before
    assert "fencegate_store_up 0.0" in after


def test_workers_that_end_leave_one_file_of_a_kind(tmp_path: Path) -> None:
    """Whoever dies again and again makes no scrape slower, and no counter ever falls."""
    parent = ParentMetrics(tmp_path)
    counts = []
    for _ in range(3):
        parent.worker_ended(run_worker(tmp_path))
        exposition = parent.exposition(store_up=True, workers_ready=0, census=None, writers={}).decode()
        families = text_string_to_metric_families(exposition)
        samples = {
            (each.name, *dict(sorted(each.labels.items())).values()): each.value
            for family in families
            for each in family.samples
        }
        counts.append(samples)

    assert {path.name for path in tmp_path.iterdir()} == {"counter_ended.db", "histogram_ended.db"}
    assert [each["fencegate_incidents_total", "late-write"] for each in counts] == [1, 2, 3]
    assert [each["fencegate_store_seconds_bucket", "0.00025", "admit"] for each in counts] == [1, 2, 3]
    assert [each["fencegate_store_seconds_sum", "admit"] for each in counts] == pytest.approx([0.0002, 0.0004, 0.0006])


def test_incidents_of_the_parent_and_of_its_workers_are_one_series(tmp_path: Path) -> None:
    """A scraper takes each metric once; whoever finds an incident, it is counted."""
    parent = ParentMetrics(tmp_path)
    run_worker(tmp_path)
    parent.incident("late-write")
    parent.incident("duplicate-effect")

    exposition = parent.exposition(store_up=True, workers_ready=1, census=None, writers={}).decode()

    names = [family.name for family in text_string_to_metric_families(exposition)]
    assert len(names) == len(set(names))
    assert exposition.count("# TYPE fencegate_incidents_total counter") == 1
    assert 'fencegate_incidents_total{kind="late-write"} 2.0' in exposition
    assert 'fencegate_incidents_total{kind="duplicate-effect"} 1.0' in exposition


def test_the_store_is_told_of_as_it_is_now(tmp_path: Path) -> None:
    """Where it says nothing, there is no number: the last one would hide that nobody knows."""
    parent = ParentMetrics(tmp_path)
    census = Census(
        {"in_flight": 3, "unknown": 2, "applied": 1_000_000},
        {"unknown": 90.5},
        {"resource": 1},
        {"dead": 4},
        in_flight=(),
        regressed=True,
    )
    told = {"reports": Writers(holders=3, resources=2)}

    known = parent.exposition(store_up=True, workers_ready=1, census=census, writers=told).decode().splitlines()
    lost = parent.exposition(store_up=False, workers_ready=1, census=None, writers=told).decode().splitlines()

    of_store = {
        'fencegate_intents{state="unknown"} 2.0',
        'fencegate_intents{state="applied"} 1e+06',
        'fencegate_oldest_seconds{state="unknown"} 90.5',
        'fencegate_pauses{selector="resource"} 1.0',
        'fencegate_notifications_kept{state="dead"} 4.0',
        'fencegate_active_holders{upstream="reports"} 3.0',
        'fencegate_active_resources{upstream="reports"} 2.0',
    }
    assert of_store | {"fencegate_store_regressed 1.0"} <= set(known)
    names = tuple(line.partition("{")[0] + "{" for line in of_store)
    assert not [line for line in lost if line.startswith(names)]
    assert "fencegate_store_regressed NaN" in lost


def test_the_version_is_a_label(tmp_path: Path) -> None:
    """A dashboard shows when a release came."""
    exposition = ParentMetrics(tmp_path).exposition(store_up=True, workers_ready=1, census=None, writers={}).decode()

    assert f'fencegate_build_info{{version="{__version__}"}} 1.0' in exposition


def test_what_the_gateway_itself_takes_is_a_histogram_of_its_own() -> None:
    """No difference of two others has quantiles."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)

    metrics.overhead(0.0004)

    assert sample(registry, "fencegate_overhead_seconds_bucket", le="0.0005") == 1
    assert sample(registry, "fencegate_overhead_seconds_bucket", le="0.00025") == 0


def test_what_alerts_ask_for_is_there_before_the_first_one(tmp_path: Path) -> None:
    """Failed reloads, incidents and dead letters: a series that begins with one shows no increase."""
    exposition = ParentMetrics(tmp_path).exposition(store_up=True, workers_ready=1, census=None, writers={}).decode()

    assert 'fencegate_policy_reloads_total{result="failed"} 0.0' in exposition
    assert 'fencegate_incidents_total{kind="duplicate-effect"} 0.0' in exposition
    assert 'fencegate_incidents_total{kind="late-write"} 0.0' in exposition
    assert 'fencegate_notifications_total{event="unknown",result="dead"} 0.0' in exposition


def test_attempts_to_tell_people_are_counted(tmp_path: Path) -> None:
    """By the event, and by what became of them."""
    parent = ParentMetrics(tmp_path)
    parent.notified("incident", "failed")
    parent.notified("incident", "sent")

    exposition = parent.exposition(store_up=True, workers_ready=1, census=None, writers={}).decode()

    for result in ("failed", "sent"):
        assert f'fencegate_notifications_total{{event="incident",result="{result}"}} 1.0' in exposition


def test_who_waits_and_who_was_turned_away_is_counted_by_what_there_was_no_more_of() -> None:
    """An alert on what is shed needs each series before the first one."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.prepare((), None)

    metrics.waits("body", 1)
    metrics.waits("body", 1)
    metrics.waits("body", -1)
    metrics.shed("caller")

    assert sample(registry, "fencegate_waiting", what="body") == 1
    assert sample(registry, "fencegate_shed_total", what="caller") == 1
    for what in ("admission", "body", "connection", "lease", "answer", "memory"):
        assert sample(registry, "fencegate_shed_total", what=what) == 0


@pytest.mark.slow
async def test_no_counter_falls_when_a_worker_is_killed(tmp_path: Path) -> None:
    """It is replaced, and what it counted stays; what it had in flight is no longer."""
    async with RecordingUpstream() as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path, "--workers", "2") as gateway:
            token = await gateway.lease("report/7")
            for _ in range(20):
                await call(gateway.proxy, "PUT", "/reports/7", f"Fencing-Token: {token}", body=b"{}")
            await until(lambda: has_counted(gateway, 20))
            for worker in gateway.workers():
                os.kill(worker, signal.SIGKILL)

            await until(lambda: len(gateway.workers()) == 4)

            assert await has_counted(gateway, 20)
            metrics = (await gateway.operate("GET", "/metrics")).body.decode()
            assert "fencegate_worker_exits_total 2.0" in metrics
            assert 'fencegate_in_flight{upstream="reports"} 0.0' in metrics


async def has_counted(gateway: GatewayProcess, writes: int) -> bool:
    metrics = (await gateway.operate("GET", "/metrics")).body.decode()
    labels = 'decision="forwarded",rule="write",upstream="reports"'
    return f"fencegate_requests_total{{{labels}}} {writes}.0" in metrics
