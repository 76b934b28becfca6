"""What a worker counts."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from prometheus_client import CollectorRegistry

from gateway.core import decision
from gateway.core.decision import Decision
from gateway.core.late import Extent
from gateway.core.places import Shed, Wait
from gateway.core.rule import Rule, Upstream
from gateway.core.write import Incident
from gateway.metrics.families import (
    OVERHEAD_BUCKETS_S,
    REQUEST_BUCKETS_S,
    STORE_BUCKETS_S,
    Counters,
    Gauges,
    Histograms,
)
from gateway.metrics.incidents import faults_in, incidents_in
from gateway.tally import Distribution, Later, Tallies, Tally

_FENCE_REJECTIONS = frozenset(each.name for each in decision.FENCE_REJECTIONS)
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
        self._counters, self._gauges, self._histograms = Counters(registry), Gauges(registry), Histograms(registry)
        self._incidents, self._faults = incidents_in(registry), faults_in(registry)
        distribution = self._tallies.distribution
        self._request_seconds = distribution(self._histograms.request, REQUEST_BUCKETS_S)
        self._overhead_seconds = distribution(self._histograms.overhead, OVERHEAD_BUCKETS_S)
        self._upstream_seconds = distribution(self._histograms.upstream, REQUEST_BUCKETS_S)
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
            self._counters.shed.labels(what)
        for wait in get_args(Wait):
            self._waits[wait] = self._tallies.tally(self._gauges.waiting.labels(wait))
        for upstream in upstreams:
            self._flying[upstream] = self._tallies.tally(self._gauges.in_flight.labels(upstream))
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
            counters = self._decided[key] = self._counted(upstream, rule, decision)
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
        self._counters.would.labels(upstream, rule, would.name).inc()

    def sent(self, upstream: Upstream) -> None:
        """A write is in flight; `ended` has to follow."""
        tally = self._flying.get(upstream.name)
        if tally is None:
            tally = self._flying[upstream.name] = self._tallies.tally(self._gauges.in_flight.labels(upstream.name))
        tally.add()

    def ended(self, upstream: Upstream, seconds: float) -> None:
        """It no longer is; it took this long from when it could be sent to the end of the answer."""
        self._flying[upstream.name].add(-1)
        self._upstream_seconds.observe(seconds)

    def session_began(self, upstream: Upstream) -> None:
        """A session lasts; `session_ended` has to follow."""
        self._gauges.sessions.labels(upstream.name).inc()

    def session_ended(self, upstream: Upstream) -> None:
        self._gauges.sessions.labels(upstream.name).dec()

    def waits(self, what: Wait, change: int) -> None:
        """So many more requests, or fewer, wait for this."""
        tally = self._waits.get(what)
        if tally is None:
            tally = self._waits[what] = self._tallies.tally(self._gauges.waiting.labels(what))
        tally.add(change)

    def shed(self, what: Shed) -> None:
        """A request was turned away: there was no place, or no room, for it."""
        self._counters.shed.labels(what).inc()

    def spans(self, result: str, count: int) -> None:
        """So many spans were `exported`, or `dropped`."""
        self._counters.spans.labels(result).inc(count)

    def overtaken(self) -> None:
        """A write ended after a newer epoch had come."""
        self._counters.superseded.inc()

    def quarantined(self, rule: Rule, extent: Extent) -> None:
        """A late result was refused, and so much of it was kept."""
        self._counters.quarantined.labels(rule.upstream.name, rule.name, extent).inc()

    def incident(self, kind: Incident) -> None:
        """Somebody has to look: an effect came twice, or evidence came that a resolution denies."""
        self._incidents.labels(kind).inc()

    def fault(self) -> None:
        """Something that goes on beside requests failed by a bug."""
        self._faults.inc()

    def store_called(self, script: str, seconds: float) -> None:
        distribution = self._scripts.get(script)
        if distribution is None:
            histogram = self._histograms.store.labels(script)
            distribution = self._scripts[script] = self._tallies.distribution(histogram, STORE_BUCKETS_S)
        distribution.observe(seconds)

    def write(self) -> None:
        """Write out what was counted and not yet written: the process ends."""
        self._tallies.write()

    def renewed(self, decision_name: str) -> None:
        """A call to renew a lease was answered."""
        self._counters.renewals.labels(decision_name).inc()

    def lease_remaining(self, ratio: float) -> None:
        """A lease was renewed with this part of its term left, from 0 to 1."""
        self._histograms.lease_remaining.observe(ratio)

    def _counted(self, upstream: str, rule: str, decision: Decision) -> _Decided:
        counters, tally, name = self._counters, self._tallies.tally, decision.name
        is_rejection, is_repeat = name in _FENCE_REJECTIONS, (name, decision.status) in _REPEATS
        return _Decided(
            tally(counters.requests.labels(upstream, rule, name)),
            tally(counters.rejections.labels(upstream, rule, name)) if is_rejection else None,
            tally(counters.dedupe_hits.labels(upstream, rule)) if is_repeat else None,
        )
