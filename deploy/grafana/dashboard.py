"""The Grafana dashboard as code: `python -m deploy.grafana.dashboard` writes `fencegate.json` beside this file.

Every expression stands here once. `$job` is one store with all its gateways; what they tell of the store is the same at
each, and taken by `max`. D, F and I are the rules' (../prometheus/rules.yml).
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

TARGET = Path(__file__).with_name("fencegate.json")

Kind = Literal["timeseries", "stat"]

_WIDTH, _ROW_HEIGHT = 24, 8
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_JOB = 'job=~"$job"'
_RATE = "[$__rate_interval]"


@dataclass(frozen=True, slots=True)
class Query:
    """What is drawn, and how its lines are named."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel. `description` is for whoever looks at it in the night. `rare`: empty where nothing of it happened."""

    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str = "short"
    kind: Kind = "timeseries"
    width: int = 8
    height: int = _ROW_HEIGHT
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    panels: tuple[Panel, ...]


def rate(metric: str, by: str, matchers: str = "") -> str:
    """How often a second, by some labels."""
    return f"sum by ({by}) (rate({metric}{{{_JOB}{matchers}}}{_RATE}))"


def quantile(of: float, metric: str, by: str = "") -> str:
    """Of a histogram, by the labels of `by`, which end in a comma."""
    return f"histogram_quantile({of}, sum by ({by}le) (rate({metric}_bucket{{{_JOB}}}{_RATE})))"


def quantiles(metric: str) -> tuple[Query, ...]:
    return Query(quantile(0.5, metric), "p50"), Query(quantile(0.99, metric), "p99")


def stat(title: str, description: str, expr: str, unit: str = "short") -> Panel:
    return Panel(title, description, (Query(expr),), unit, kind="stat", width=3, height=4)


_NOW = Row(
    "Now",
    (
        stat("Gateways", "Those that answer Prometheus.", f"sum(up{{{_JOB}}})"),
        stat("Workers", "Processes that take requests.", f"sum(fencegate_workers_ready{{{_JOB}}})"),
        stat("Store up", "0: a gateway gets no answer.", f"min(fencegate_store_up{{{_JOB}}})"),
        stat("Store safe", "0: `fencegate doctor` says why.", f"min(fencegate_store_safe{{{_JOB}}})"),
        stat("Unknown", "`fencegate intents list`", f'max(fencegate_intents{{{_JOB},state="unknown"}})'),
        stat(
            "Awaiting approval",
            "`fencegate approvals`",
            f'max(fencegate_intents{{{_JOB},state="awaiting_approval"}})',
        ),
        stat("Queued", "Not delivered yet.", f'max(fencegate_intents{{{_JOB},state="queued"}})'),
        stat(
            "Incidents, 1 day",
            "What must not happen. The runbook says what to do.",
            f"sum(increase(fencegate_incidents_total{{{_JOB}}}[1d]))",
        ),
        stat("Writes, 1 day", "Requests that a rule took.", f"sum(fencegate:writes:increase1d{{{_JOB}}})"),
        stat(
            "D: dedupe hits per 10k writes",
            "Repeats that were answered from their record.",
            f"sum(fencegate:dedupe_hits:per_10k_writes1d{{{_JOB}}})",
        ),
        stat(
            "F: fence rejections per 10k writes",
            "Writes of overtaken, expired or mistaken holders.",
            f"sum(fencegate:fence_rejections:per_10k_writes1d{{{_JOB}}})",
        ),
        stat(
            "I: incidents per 10k writes",
            "Effects that came twice, or after somebody had said otherwise.",
            f"sum(fencegate:incidents:per_10k_writes1d{{{_JOB}}})",
        ),
        stat(
            "Availability",
            "Without what the gateway turned away for its own faults and bounds.",
            f"min(fencegate:availability:ratio5m{{{_JOB}}})",
            "percentunit",
        ),
        stat("Paused", "`fencegate pauses`", f"sum(max by (selector) (fencegate_pauses{{{_JOB}}}))"),
        stat(
            "Dead letters",
            "`fencegate notifications`",
            f'max(fencegate_notifications_kept{{{_JOB},state="dead"}})',
        ),
        stat("Regressed", "1: `fencegate store`", f"max(fencegate_store_regressed{{{_JOB}}})"),
    ),
)

_DECISIONS = Row(
    "Decisions",
    (
        Panel(
            "Decisions",
            "Every request, by what was decided.",
            (Query(rate("fencegate_requests_total", "decision"), "{{decision}}"),),
            "reqps",
            width=12,
        ),
        Panel(
            "Writes by rule",
            "Requests that a rule took.",
            (Query(rate("fencegate_requests_total", "upstream, rule", ',rule!=""'), "{{upstream}}/{{rule}}"),),
            "reqps",
            width=12,
        ),
        Panel(
            "Fence rejections by reason",
            "Stale epochs are the fence at work; a wave of them is two schedulers that quarrel.",
            (Query(rate("fencegate_fence_rejections_total", "reason"), "{{reason}}"),),
            "reqps",
        ),
        Panel(
            "Dedupe hits",
            "Repeats that were answered from their record instead of being sent.",
            (Query(rate("fencegate_dedupe_hits_total", "upstream, rule"), "{{upstream}}/{{rule}}"),),
            "reqps",
        ),
        Panel(
            "Observed only",
            "What rules in `mode: observe` would have decided.",
            (Query(rate("fencegate_observed_total", "upstream, rule, would"), "{{upstream}}/{{rule}}: {{would}}"),),
            "reqps",
            rare=True,
        ),
    ),
)

_TIMES = Row(
    "Times",
    (
        Panel(
            "The gateway itself",
            "What it adds to a forwarded write: without its upstream, and without waiting for body or other writes.",
            quantiles("fencegate_overhead_seconds"),
            "s",
        ),
        Panel("Upstreams", "Of writes, from the first byte to the end.", quantiles("fencegate_upstream_seconds"), "s"),
        Panel("Requests", "From the head to the end of the answer.", quantiles("fencegate_request_seconds"), "s"),
        Panel(
            "Store, p99 by script",
            "A call, its way over the network included.",
            (Query(quantile(0.99, "fencegate_store_seconds", "script, "), "{{script}}"),),
            "s",
        ),
        Panel(
            "Store calls",
            "A write is two: admit and settle.",
            (Query(rate("fencegate_store_seconds_count", "script"), "{{script}}"),),
            "reqps",
        ),
        Panel(
            "Store up, store safe",
            "By gateway.",
            (
                Query(f"fencegate_store_up{{{_JOB}}}", "up {{instance}}"),
                Query(f"fencegate_store_safe{{{_JOB}}}", "safe {{instance}}"),
            ),
        ),
    ),
)

_IN_FLIGHT = Row(
    "In flight and waiting",
    (
        Panel(
            "In flight",
            "Writes that an upstream has not answered yet, and sessions that last.",
            (
                Query(f"sum by (upstream) (fencegate_in_flight{{{_JOB}}})", "{{upstream}}"),
                Query(f"sum by (upstream) (fencegate_sessions{{{_JOB}}}) > 0", "{{upstream}}, sessions"),
            ),
        ),
        Panel(
            "Holders and resources",
            "Epochs with a write in flight, and resources: never more of the first.",
            (
                Query(f"max by (upstream) (fencegate_active_holders{{{_JOB}}})", "{{upstream}}, holders"),
                Query(f"max by (upstream) (fencegate_active_resources{{{_JOB}}})", "{{upstream}}, resources"),
            ),
        ),
        Panel(
            "Waiting",
            "Requests that wait, by what for.",
            (Query(f"sum by (what) (fencegate_waiting{{{_JOB}}})", "{{what}}"),),
        ),
        Panel(
            "Turned away",
            "For want of room, by what there was no more of.",
            (Query(rate("fencegate_shed_total", "what"), "{{what}}"),),
            "reqps",
        ),
        Panel(
            "Overtaken in flight",
            "Writes that ended after a newer epoch had come.",
            (Query(rate("fencegate_superseded_results_total", "job"), "overtaken"),),
            "reqps",
        ),
        Panel(
            "Late results",
            "Refused under `on_stale: quarantine`, by how much of them was kept.",
            (Query(rate("fencegate_quarantined_total", "upstream, kept"), "{{upstream}}: {{kept}}"),),
            "reqps",
        ),
    ),
)

_INTENTS = Row(
    "Intents",
    (
        Panel(
            "Somebody has to act",
            "Unknown, waiting for an approval, queued, failed, being taken back.",
            (
                Query(
                    "max by (state) (fencegate_intents"
                    f'{{{_JOB},state=~"unknown|awaiting_approval|queued|failed|compensating"}})',
                    "{{state}}",
                ),
            ),
        ),
        Panel(
            "How old the oldest is",
            "The oldest unknown one, the oldest that waits for an approval, the oldest that is queued.",
            (Query(f"max by (state) (fencegate_oldest_seconds{{{_JOB}}})", "{{state}}"),),
            "s",
        ),
        Panel(
            "All states",
            "Records in the store; those that have ended are kept for `intent.retain`.",
            (Query(f"max by (state) (fencegate_intents{{{_JOB}}})", "{{state}}"),),
        ),
    ),
)

_LEASES = Row(
    "Leases, incidents, people",
    (
        Panel(
            "Leases",
            "Renewals by their answer, and grants.",
            (
                Query(rate("fencegate_lease_renewals_total", "result"), "{{result}}"),
                Query(rate("fencegate_requests_total", "decision", ',decision=~"granted|released"'), "{{decision}}"),
            ),
            "reqps",
        ),
        Panel(
            "Left of a lease at its renewal",
            "The first percentile falls before leases are lost.",
            (
                Query(quantile(0.01, "fencegate_lease_remaining_ratio"), "p1"),
                Query(quantile(0.5, "fencegate_lease_remaining_ratio"), "p50"),
            ),
            "percentunit",
        ),
        Panel(
            "Incidents",
            "Since the gateways were started.",
            (Query(f"sum by (kind) (fencegate_incidents_total{{{_JOB}}})", "{{kind}}"),),
        ),
        Panel(
            "Notifications",
            "Attempts to tell people, by what became of them.",
            (Query(rate("fencegate_notifications_total", "result"), "{{result}}"),),
            "reqps",
        ),
        Panel(
            "Reloads and lost workers",
            "Of the policies; workers that ended without being told to.",
            (
                Query(
                    f"sum by (result) (increase(fencegate_policy_reloads_total{{{_JOB}}}{_RATE}))", "reload {{result}}"
                ),
                Query(f"sum(increase(fencegate_worker_exits_total{{{_JOB}}}{_RATE}))", "workers lost"),
            ),
        ),
        Panel(
            "Trace spans",
            "Exported, or dropped because the collector did not take them. Empty without `--otlp`.",
            (Query(rate("fencegate_spans_total", "result"), "{{result}}"),),
            "ops",
            rare=True,
        ),
        Panel(
            "Versions",
            "Gateways by version.",
            (Query(f"count by (version) (fencegate_build_info{{{_JOB}}})", "{{version}}"),),
        ),
    ),
)

ROWS = (_NOW, _DECISIONS, _TIMES, _IN_FLIGHT, _INTENTS, _LEASES)


def panels() -> Iterator[Panel]:
    for row in ROWS:
        yield from row.panels


def render() -> str:
    """The dashboard as Grafana imports it, from version 10 on."""
    drawn: list[dict[str, object]] = []
    top = 0
    for row in ROWS:
        drawn.append(_titled("row", row.title, len(drawn) + 1, (0, top, _WIDTH, 1)) | {"collapsed": False})
        top, left, height = top + 1, 0, 0
        for panel in row.panels:
            if left + panel.width > _WIDTH:
                top, left = top + height, 0
            drawn.append(_drawn(panel, len(drawn) + 1, (left, top, panel.width, panel.height)))
            left, height = left + panel.width, panel.height
        top += height
    return json.dumps(_dashboard(drawn), indent=2) + "\n"


def _dashboard(drawn: list[dict[str, object]]) -> dict[str, object]:
    job = {
        "name": "job",
        "label": "Store",
        "type": "query",
        "datasource": _DATASOURCE,
        "query": {"query": "label_values(fencegate_build_info, job)", "refId": "job"},
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }
    datasource = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    return {
        "uid": "fencegate",
        "title": "fencegate",
        "tags": ["fencegate"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [datasource, job]},
        "panels": drawn,
    }


def _titled(kind: str, title: str, number: int, place: tuple[int, int, int, int]) -> dict[str, object]:
    return {"type": kind, "title": title, "id": number, "gridPos": dict(zip("xywh", place, strict=True))}


def _drawn(panel: Panel, number: int, place: tuple[int, int, int, int]) -> dict[str, object]:
    targets = [
        {"refId": chr(ord("A") + at), "datasource": _DATASOURCE, "expr": query.expr, "legendFormat": query.legend}
        for at, query in enumerate(panel.queries)
    ]
    custom: dict[str, object] = {"fillOpacity": 10, "showPoints": "never"} if panel.kind == "timeseries" else {}
    return {
        **_titled(panel.kind, panel.title, number, place),
        "description": panel.description,
        "datasource": _DATASOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "custom": custom}, "overrides": []},
        "targets": targets,
    }


def main() -> None:
    TARGET.write_text(render())
    sys.stdout.write(f"{TARGET} is written\n")


if __name__ == "__main__":
    main()
