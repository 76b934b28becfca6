"""What a worker counts."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from gateway.core import decision
from gateway.core.decision import Decision
from gateway.core.late import Extent
from gateway.core.places import Shed, Wait
from gateway.core.rule import Rule, Upstream
from gateway.core.write import Incident
from gateway.metrics.incidents import incidents_in
from gateway.tally import Distribution, Later, Tallies, Tally

# A loopback write takes about a millisecond; `timeouts.total` is 30 seconds where nobody says otherwise.
_REQUEST_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# What the gateway adds to a write that waits for nothing: half a millisecond, or as much as a busy machine makes of it.
_OVERHEAD_BUCKETS_S = (0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
# A script takes tens of microseconds in the store; `--store-timeout` is 2 seconds.
_STORE_BUCKETS_S = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0)
# Below a third, a holder renews later than it was told to.
_LEASE_BUCKETS = (0.05, 0.1, 0.2, 0.33, 0.5, 0.66, 0.8, 0.9)

# What the fence itself refuses; a request that was malformed or matched no rule never came before it.
_FENCE_REJECTIONS = frozenset(
    refusal.name
    for refusal in (
        decision.TOKEN_INVALID,
        decision.STALE_EPOCH,
        decision.HOLDER_MISMATCH,
        decision.LEASE_EXPIRED,
        decision.OUT_OF_SEQUENCE,
        decision.REVISION_MISMATCH,
        decision.TAKEOVER_PENDING,
        decision.RESOURCE_BUSY,
    )
)
# What nobody waits for.
_SHED_ELSEWHERE: tuple[Shed, ...] = ("caller", "memory")
# What is answered from the record of an intent instead of being forwarded. `outcome-unknown` is one word for two: the
# first time it was sent, and asked again it was not. An intent with another fingerprint is no repeat.
_REPEATS = frozenset(
    (repeat.name, repeat.status)
    for repeat in (
        decision.REPLAYED,
        decision.ANSWER_NOT_KEPT,
        decision.INTENT_IN_PROGRESS,
        decision.STILL_UNKNOWN,
    )
)


@dataclass(frozen=True, slots=True)
class _Decided:
    """What goes up when a request of a rule was answered in one way."""

    requests: Tally
    rejections: Tally | None
    dedupe_hits: Tally | None


class Metrics:
    """What a worker counts; the flow's observer. Each call is a look-up and a few additions. Durations in seconds.

    `later`: the event loop's `call_later`, where what is counted for every request may be written a little later.
    """

    def __init__(self, registry: CollectorRegistry, later: Later | None = None) -> None:
        self._tallies = Tallies(later)
        self._requests = Counter(
            "fencegate_requests",
            "Requests answered, by what the gateway decided.",
            ["upstream", "rule", "decision"],
            registry=registry,
        )
        self._rejections = Counter(
            "fencegate_fence_rejections",
            "Writes that the fence refused, by the reason.",
            ["upstream", "rule", "reason"],
            registry=registry,
        )
        self._would = Counter(
            "fencegate_observed",
            "Writes of rules in `mode: observe` that would not have been forwarded, by what would have been decided.",
            ["upstream", "rule", "would"],
            registry=registry,
        )
        self._dedupe_hits = Counter(
            "fencegate_dedupe_hits",
            "Repeated intents that were answered from their record instead of being forwarded.",
            ["upstream", "rule"],
            registry=registry,
        )
        self._incidents = incidents_in(registry)
        self._in_flight = Gauge(
            "fencegate_in_flight",
            "Writes that an upstream has not answered yet.",
            ["upstream"],
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._sessions = Gauge(
            "fencegate_sessions",
            "Sessions (WebSocket) that last, and hold their resources.",
            ["upstream"],
            registry=registry,
            multiprocess_mode="livesum",
        )
        request_seconds = Histogram(
            "fencegate_request_seconds",
            "From a request's head to the end of its answer.",
            registry=registry,
            buckets=_REQUEST_BUCKETS_S,
        )
        self._request_seconds = self._tallies.distribution(request_seconds, _REQUEST_BUCKETS_S)
        overhead_seconds = Histogram(
            "fencegate_overhead_seconds",
            "What is left of a forwarded write's time without its upstream's, and without waiting for its body or for "
            "other writes. Those with an answer above 64 KiB are left out: it is passed on at the caller's pace.",
            registry=registry,
            buckets=_OVERHEAD_BUCKETS_S,
        )
        self._overhead_seconds = self._tallies.distribution(overhead_seconds, _OVERHEAD_BUCKETS_S)
        upstream_seconds = Histogram(
            "fencegate_upstream_seconds",
            "Of writes: from the first byte that is sent to an upstream to the end of its answer.",
            registry=registry,
            buckets=_REQUEST_BUCKETS_S,
        )
        self._upstream_seconds = self._tallies.distribution(upstream_seconds, _REQUEST_BUCKETS_S)
        self._store_seconds = Histogram(
            "fencegate_store_seconds",
            "Calls to the store, waiting for its answer included.",
            ["script"],
            registry=registry,
            buckets=_STORE_BUCKETS_S,
        )
        self._lease_remaining = Histogram(
            "fencegate_lease_remaining_ratio",
            "What was left of a lease's term when it was renewed, from 0 to 1.",
            registry=registry,
            buckets=_LEASE_BUCKETS,
        )
        self._renewals = Counter(
            "fencegate_lease_renewals", "Calls to renew a lease, by the answer.", ["result"], registry=registry
        )
        self._superseded = Counter(
            "fencegate_superseded_results",
            "Writes that ended after a newer epoch had come.",
            registry=registry,
        )
        self._quarantined = Counter(
            "fencegate_quarantined",
            "Writes that came too late, by how much of them was kept.",
            ["upstream", "rule", "kept"],
            registry=registry,
        )
        self._waiting = Gauge(
            "fencegate_waiting",
            "Requests that wait, by what they wait for.",
            ["what"],
            registry=registry,
            multiprocess_mode="livesum",
        )
        self._shed = Counter(
            "fencegate_shed",
            "Requests that were turned away because too many wait or too much is held, by what there was no more of.",
            ["what"],
            registry=registry,
        )
        self._spans = Counter(
            "fencegate_spans",
            "Spans of sampled traces: exported to the collector, or dropped because it did not take them.",
            ["result"],
            registry=registry,
        )
        self._decided: dict[tuple[str, str, str, int | None], _Decided] = {}
        self._flying: dict[str, Tally] = {}
        self._waits: dict[Wait, Tally] = {}
        self._scripts: dict[str, Distribution] = {}

    def prepare(self, upstreams: Iterable[str], directory: Path | None) -> None:
        """Have this process's files in `directory` (None: it writes none) before the first request needs them.

        They are mapped into memory: where their place on the disk is only claimed as they are written, a full disk
        kills the process. Raises OSError where there is no room for them.
        """
        # An alert needs them before the first one.
        for what in (*get_args(Wait), *_SHED_ELSEWHERE):
            self._shed.labels(what)
        for wait in get_args(Wait):
            self._waits[wait] = self._tallies.tally(self._waiting.labels(wait))
        for upstream in upstreams:
            self._flying[upstream] = self._tallies.tally(self._in_flight.labels(upstream))
        if directory is None or not hasattr(os, "posix_fallocate"):
            return
        for path in directory.glob(f"*_{os.getpid()}.db"):
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)

    def decided(self, upstream: str, rule: str, decision: Decision, seconds: float | None) -> None:
        """A request was answered. `upstream` and `rule` are empty where none was found.

        `seconds` is None for what lasts as long as its caller likes.
        """
        key = (upstream, rule, decision.name, decision.status)
        counters = self._decided.get(key)
        if counters is None:
            counters = self._decided[key] = self._counters(upstream, rule, decision)
        counters.requests.add()
        if counters.rejections is not None:
            counters.rejections.add()
        if counters.dedupe_hits is not None:
            counters.dedupe_hits.add()
        if seconds is not None:
            self._request_seconds.observe(seconds)

    def overhead(self, seconds: float) -> None:
        """So long the gateway itself took for a write that it forwarded."""
        self._overhead_seconds.observe(seconds)

    def observed(self, upstream: str, rule: str, would: Decision) -> None:
        """A write was forwarded that is only observed."""
        self._would.labels(upstream, rule, would.name).inc()

    def sent(self, upstream: Upstream) -> None:
        """A write is in flight; `ended` has to follow."""
        tally = self._flying.get(upstream.name)
        if tally is None:
            tally = self._flying[upstream.name] = self._tallies.tally(self._in_flight.labels(upstream.name))
        tally.add()

    def ended(self, upstream: Upstream, seconds: float) -> None:
        """It no longer is; it took this long from the first byte to the end of the answer."""
        self._flying[upstream.name].add(-1)
        self._upstream_seconds.observe(seconds)

    def session_began(self, upstream: Upstream) -> None:
        """A session lasts; `session_ended` has to follow."""
        self._sessions.labels(upstream.name).inc()

    def session_ended(self, upstream: Upstream) -> None:
        self._sessions.labels(upstream.name).dec()

    def waits(self, what: Wait, change: int) -> None:
        """So many more requests, or fewer, wait for this."""
        tally = self._waits.get(what)
        if tally is None:
            tally = self._waits[what] = self._tallies.tally(self._waiting.labels(what))
        tally.add(change)

    def shed(self, what: Shed) -> None:
        """A request was turned away: there was no place, or no room, for it."""
        self._shed.labels(what).inc()

    def spans(self, result: str, count: int) -> None:
        """So many spans were `exported`, or `dropped`."""
        self._spans.labels(result).inc(count)

    def overtaken(self) -> None:
        """A write ended after a newer epoch had come."""
        self._superseded.inc()

    def quarantined(self, rule: Rule, extent: Extent) -> None:
        """A late result was refused, and so much of it was kept."""
        self._quarantined.labels(rule.upstream.name, rule.name, extent).inc()

    def incident(self, kind: Incident) -> None:
        """Somebody has to look: an effect came twice, or evidence came that a resolution denies."""
        self._incidents.labels(kind).inc()

    def store_called(self, script: str, seconds: float) -> None:
        distribution = self._scripts.get(script)
        if distribution is None:
            histogram = self._store_seconds.labels(script)
            distribution = self._scripts[script] = self._tallies.distribution(histogram, _STORE_BUCKETS_S)
        distribution.observe(seconds)

    def write(self) -> None:
        """Write out what was counted and not yet written: the process ends."""
        self._tallies.write()

    def renewed(self, decision_name: str) -> None:
        """A call to renew a lease was answered."""
        self._renewals.labels(decision_name).inc()

    def lease_remaining(self, ratio: float) -> None:
        """A lease was renewed with this part of its term left, from 0 to 1."""
        self._lease_remaining.observe(ratio)

    def _counters(self, upstream: str, rule: str, decision: Decision) -> _Decided:
        name, repeats = decision.name, (decision.name, decision.status) in _REPEATS
        return _Decided(
            self._tallies.tally(self._requests.labels(upstream, rule, name)),
            self._tallies.tally(self._rejections.labels(upstream, rule, name)) if name in _FENCE_REJECTIONS else None,
            self._tallies.tally(self._dedupe_hits.labels(upstream, rule)) if repeats else None,
        )
