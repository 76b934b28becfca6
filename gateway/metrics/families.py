"""Which metrics a worker has: the name, the meaning and the labels of each. Durations in seconds."""

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

# A loopback write takes about a millisecond; `timeouts.total` is 30 seconds where nobody says otherwise.
REQUEST_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# What the gateway adds to a write that waits for nothing: half a millisecond, or as much as a busy machine makes of it.
OVERHEAD_BUCKETS_S = (0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
# A script takes tens of microseconds in the store; `--store-timeout` is 2 seconds.
STORE_BUCKETS_S = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0)
# Below a third, a holder renews later than it was told to.
_LEASE_BUCKETS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.66, 0.8, 0.9)


class Counters:
    """What only goes up."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = partial(Counter, registry=registry)
        by_rule = ("upstream", "rule")
        self.requests = counter(
            "fencegate_requests", "Requests answered, by what the gateway decided.", (*by_rule, "decision")
        )
        self.rejections = counter(
            "fencegate_fence_rejections", "Writes that the fence refused, by the reason.", (*by_rule, "reason")
        )
        self.would = counter(
            "fencegate_observed",
            "Writes of rules in `mode: observe` that would not have been forwarded, by what would have been decided.",
            (*by_rule, "would"),
        )
        self.dedupe_hits = counter(
            "fencegate_dedupe_hits",
            "Repeated intents that were answered from their record instead of being forwarded.",
            by_rule,
        )
        self.renewals = counter("fencegate_lease_renewals", "Calls to renew a lease, by the answer.", ("result",))
        self.superseded = counter("fencegate_superseded_results", "Writes that ended after a newer epoch had come.")
        self.quarantined = counter(
            "fencegate_quarantined", "Writes that came too late, by how much of them was kept.", (*by_rule, "kept")
        )
        self.shed = counter(
            "fencegate_shed",
            "Requests that were turned away because too many wait or too much is held, by what there was no more of.",
            ("what",),
        )
        self.spans = counter(
            "fencegate_spans",
            "Spans of sampled traces: exported to the collector, or dropped because it did not take them.",
            ("result",),
        )


class Gauges:
    """What goes up and down; a worker that is gone counts no longer."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, registry=registry, multiprocess_mode="livesum")
        self.in_flight = gauge("fencegate_in_flight", "Writes that an upstream has not answered yet.", ("upstream",))
        self.sessions = gauge(
            "fencegate_sessions", "Sessions (WebSocket) that last, and hold their resources.", ("upstream",)
        )
        self.waiting = gauge("fencegate_waiting", "Requests that wait, by what they wait for.", ("what",))


class Histograms:
    """How long things take, and what was left of leases."""

    def __init__(self, registry: CollectorRegistry) -> None:
        histogram = partial(Histogram, registry=registry)
        self.request = histogram(
            "fencegate_request_seconds",
            "From a request's head to the end of its answer.",
            buckets=REQUEST_BUCKETS_S,
        )
        self.overhead = histogram(
            "fencegate_overhead_seconds",
            "What is left of a forwarded write's time without its upstream's, and without waiting for its body or for "
            "other writes. Those with an answer above 64 KiB are left out: it is passed on at the caller's pace.",
            buckets=OVERHEAD_BUCKETS_S,
        )
        self.upstream = histogram(
            "fencegate_upstream_seconds",
            "Of writes: from when one can be sent to the end of the answer, waiting for a connection included.",
            buckets=REQUEST_BUCKETS_S,
        )
        self.store = histogram(
            "fencegate_store_seconds",
            "Calls to the store, waiting for its answer included.",
            ("script",),
            buckets=STORE_BUCKETS_S,
        )
        self.lease_remaining = histogram(
            "fencegate_lease_remaining_ratio",
            "What was left of a lease's term when it was renewed, from 0 to 1.",
            buckets=_LEASE_BUCKETS,
        )
