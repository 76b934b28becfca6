"""What the dashboard shows. Every expression stands here once.

`$job` is one store with all its gateways; what they tell of the store is the same at each, and taken by `max`. D, F and
I are the rules' (../prometheus/rules.yml).
"""

from deploy.grafana.panel import JOB, RATE, Panel, Query, Row, quantile, quantiles, rate, stat

_NOW = Row(
    "Now",
    (
        stat("Gateways", "Those that answer Prometheus.", f"sum(up{{{JOB}}})"),
        stat("Workers", "Processes that take requests.", f"sum(fencegate_workers_ready{{{JOB}}})"),
        stat("Store up", "0: a gateway gets no answer.", f"min(fencegate_store_up{{{JOB}}})"),
        stat("Store safe", "0: `fencegate doctor` says why.", f"min(fencegate_store_safe{{{JOB}}})"),
        stat("Unknown", "`fencegate intents list`", f'max(fencegate_intents{{{JOB},state="unknown"}})'),
        stat(
            "Awaiting approval",
            "`fencegate approvals`",
            f'max(fencegate_intents{{{JOB},state="awaiting_approval"}})',
        ),
        stat("Queued", "Not delivered yet.", f'max(fencegate_intents{{{JOB},state="queued"}})'),
        stat(
            "Incidents, 1 day",
            "What must not happen. The runbook says what to do.",
            f"sum(increase(fencegate_incidents_total{{{JOB}}}[1d]))",
        ),
        stat("Writes, 1 day", "Requests that a rule took.", f"sum(fencegate:writes:increase1d{{{JOB}}})"),
        stat(
            "D: dedupe hits per 10k writes",
            "Repeats that were answered from their record.",
            f"sum(fencegate:dedupe_hits:per_10k_writes1d{{{JOB}}})",
        ),
        stat(
            "F: fence rejections per 10k writes",
            "Writes of overtaken, expired or mistaken holders.",
            f"sum(fencegate:fence_rejections:per_10k_writes1d{{{JOB}}})",
        ),
        stat(
            "I: incidents per 10k writes",
            "Effects that came twice, or after somebody had said otherwise.",
            f"sum(fencegate:incidents:per_10k_writes1d{{{JOB}}})",
        ),
        stat(
            "Availability",
            "Without what the gateway turned away for its own faults and bounds.",
            f"min(fencegate:availability:ratio5m{{{JOB}}})",
            "percentunit",
        ),
        stat("Paused", "`fencegate pauses`", f"sum(max by (selector) (fencegate_pauses{{{JOB}}}))"),
        stat(
            "Dead letters",
            "`fencegate notifications`",
            f'max(fencegate_notifications_kept{{{JOB},state="dead"}})',
        ),
        stat("Regressed", "1: `fencegate store`", f"max(fencegate_store_regressed{{{JOB}}})"),
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
                Query(f"fencegate_store_up{{{JOB}}}", "up {{instance}}"),
                Query(f"fencegate_store_safe{{{JOB}}}", "safe {{instance}}"),
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
                Query(f"sum by (upstream) (fencegate_in_flight{{{JOB}}})", "{{upstream}}"),
                Query(f"sum by (upstream) (fencegate_sessions{{{JOB}}}) > 0", "{{upstream}}, sessions"),
            ),
        ),
        Panel(
            "Holders and resources",
            "Epochs with a write in flight, and resources: never more of the first.",
            (
                Query(f"max by (upstream) (fencegate_active_holders{{{JOB}}})", "{{upstream}}, holders"),
                Query(f"max by (upstream) (fencegate_active_resources{{{JOB}}})", "{{upstream}}, resources"),
            ),
        ),
        Panel(
            "Waiting",
            "Requests that wait, by what for.",
            (Query(f"sum by (what) (fencegate_waiting{{{JOB}}})", "{{what}}"),),
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
                    f'{{{JOB},state=~"unknown|awaiting_approval|queued|failed|compensating"}})',
                    "{{state}}",
                ),
            ),
        ),
        Panel(
            "How old the oldest is",
            "The oldest unknown one, the oldest that waits for an approval, the oldest that is queued.",
            (Query(f"max by (state) (fencegate_oldest_seconds{{{JOB}}})", "{{state}}"),),
            "s",
        ),
        Panel(
            "All states",
            "Records in the store; those that have ended are kept for `intent.retain`.",
            (Query(f"max by (state) (fencegate_intents{{{JOB}}})", "{{state}}"),),
        ),
        Panel(
            "Budgets",
            "What part of each is used by whoever has used most of it. At 100 % they are refused: `fencegate budgets`.",
            (
                Query(
                    f"max by (upstream, rule, budget, what) (fencegate_budget_used{{{JOB}}})"
                    f" / max by (upstream, rule, budget, what) (fencegate_budget_limit{{{JOB}}})",
                    "{{upstream}} / {{rule}}: {{budget}}, {{what}}",
                ),
            ),
            "percentunit",
            rare=True,
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
            (Query(f"sum by (kind) (fencegate_incidents_total{{{JOB}}})", "{{kind}}"),),
        ),
        Panel(
            "Notifications",
            "Attempts to tell people, by what became of them.",
            (Query(rate("fencegate_notifications_total", "result"), "{{result}}"),),
            "reqps",
        ),
        Panel(
            "Reloads, lost workers and bugs",
            "Of the policies, and gateways whose files have errors now; workers that ended without being told to; bugs "
            "in what goes on beside requests.",
            (
                Query(
                    f"sum by (result) (increase(fencegate_policy_reloads_total{{{JOB}}}{RATE}))", "reload {{result}}"
                ),
                Query(f"count(fencegate_policies_current{{{JOB}}} == 0)", "files with errors"),
                Query(f"sum(increase(fencegate_worker_exits_total{{{JOB}}}{RATE}))", "workers lost"),
                Query(f"sum(increase(fencegate_background_faults_total{{{JOB}}}{RATE}))", "bugs"),
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
            (Query(f"count by (version) (fencegate_build_info{{{JOB}}})", "{{version}}"),),
        ),
    ),
)

ROWS = (_NOW, _DECISIONS, _TIMES, _IN_FLIGHT, _INTENTS, _LEASES)
