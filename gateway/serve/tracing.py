"""Traces of requests and deliveries: each belongs to its caller's or to a new one, and those that are sampled are
told in spans.

What is passed on is the caller's decision: where it names a trace, its flag says whether it is sampled; where it names
none, so many of all are as `ratio` says. Names and values follow OpenTelemetry's conventions for HTTP; no token, key,
holder, query or body is in any of them.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gateway.core.decision import Refused
from gateway.core.outcome import Outcome
from gateway.core.record import IntentRecord
from gateway.core.request import Headers
from gateway.core.trace import Step, Trace
from gateway.core.trace_context import RANDOM, SAMPLED, TraceContext, read_trace_context
from gateway.flow.gate import Ended
from gateway.proxy.asked import Asked

Kind = Literal["server", "client", "consumer", "internal"]
Value = str | int

_TRACE_BYTES, _SPAN_BYTES = 16, 8
# What is compared with the ratio: the half of the id that everybody draws at random (Level 2, section 5.1).
_DRAWN = 1 << 64
# As in a line of the log.
_LONGEST_VALUE = 256
# Methods have no end; a span's name and its method have (semantic conventions for HTTP).
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"))
_PASSING_ON: frozenset[Step] = frozenset(("forward", "park"))


@dataclass(frozen=True, slots=True)
class Span:
    """One span, in nanoseconds since 1970. `failed`: whether it counts as an error."""

    name: str
    kind: Kind
    id: str
    parent_id: str | None
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Value] = field(default_factory=dict)
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """The spans of one sampled request, its own first. `link`: where a delivered request was taken."""

    context: TraceContext
    spans: tuple[Span, ...]
    link: TraceContext | None = None


class Tracing:
    """Begins traces, and gives `export` what is to be told of those that are sampled.

    `ratio`: how many of the traces that begin here are sampled, from 0 to 1. `draw`: as many random bytes.
    """

    def __init__(self, export: Callable[[Told], None], ratio: float, draw: Callable[[int], bytes] = os.urandom) -> None:
        self._export = export
        self._sampled_below = int(ratio * _DRAWN)
        self._draw = draw

    def begin(self, headers: Headers) -> Trace:
        """The trace of a request that has come; its first step has begun."""
        came = _read(headers)
        trace = self._trace(came, came or self._new(None))
        trace.enter("identify")
        return trace

    def resume(self, headers: Headers) -> Trace:
        """The trace of one delivery of a request that was kept with these fields: days may lie between the two."""
        came = _read(headers)
        return self._trace(came, self._new(came))

    def answered(self, trace: Trace, ended: Ended, asked: Asked, status: int) -> None:
        """The request was answered with this status."""
        if trace.own.is_sampled:
            told = ended.told
            outcome = None if isinstance(told, Refused) else told.outcome
            attributes = _http(asked) | _present(
                {
                    "http.response.status_code": status,
                    "fencegate.decision": told.decision.name,
                    "fencegate.would": told.would.name if not isinstance(told, Refused) and told.would else None,
                    "fencegate.resource": ended.resource,
                    "fencegate.intent": ended.intent,
                    "fencegate.principal": ended.principal,
                    "error.type": str(status) if status >= 500 else None,
                }
            )
            about = _About(ended.upstream, ended.rule, outcome, ended.epoch)
            self._tell(trace, _named(asked.method, about), "server", attributes | about.attributes)

    def unanswered(self, trace: Trace, asked: Asked) -> None:
        """The request has ended without a whole answer: its caller has left, or the gateway failed or was stopped."""
        if trace.own.is_sampled:
            attributes = _http(asked) | {"error.type": "unanswered"}
            self._tell(trace, _named(asked.method, _About()), "server", attributes)

    def delivered(self, trace: Trace, record: IntentRecord, outcome: Outcome | None) -> None:
        """What was queued was sent, or ended without that (`outcome` is None; also while its store is away)."""
        if trace.own.is_sampled:
            about = _About(record.upstream, record.rule, outcome, record.epoch)
            attributes = {"fencegate.resource": record.resource, "fencegate.intent": record.id} | about.attributes
            self._tell(trace, _named("deliver", about), "consumer", attributes)

    def _new(self, sampled_as: TraceContext | None) -> TraceContext:
        """The beginning of a trace; `sampled_as`: what is sampled only where this is."""
        drawn = self._draw(_TRACE_BYTES)
        if sampled_as is not None:
            is_sampled = sampled_as.is_sampled
        else:
            is_sampled = int.from_bytes(drawn[_TRACE_BYTES // 2 :]) < self._sampled_below
        return TraceContext(drawn.hex(), self._draw(_SPAN_BYTES).hex(), RANDOM | (SAMPLED if is_sampled else 0))

    def _trace(self, came: TraceContext | None, place: TraceContext) -> Trace:
        """Where nothing is recorded, whoever is asked next stands where this request stood."""
        if not place.is_sampled:
            return Trace(came, place, place, time.monotonic_ns)
        own, passed = (replace(place, span_id=self._draw(_SPAN_BYTES).hex()) for _ in range(2))
        return Trace(came, own, passed, time.monotonic_ns)

    def _tell(self, trace: Trace, name: str, kind: Kind, attributes: Mapping[str, Value]) -> None:
        """Spans have the time of day: what other machines tell of this trace is laid beside them."""
        now_ns = time.monotonic_ns()
        epoch_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) - now_ns
        own, came = trace.own, trace.came
        continues = came is not None and came.trace_id == own.trace_id
        cleaned = {key: _text(value) if isinstance(value, str) else value for key, value in attributes.items()}
        root = Span(
            name=_text(name),
            kind=kind,
            id=own.span_id,
            parent_id=came.span_id if continues and came is not None else None,
            start_ns=trace.began_ns + epoch_ns,
            end_ns=now_ns + epoch_ns,
            attributes=cleaned,
            failed="error.type" in attributes or attributes.get("fencegate.outcome") == "unknown",
        )
        self._export(Told(own, (root, *self._steps(trace, root, epoch_ns)), None if continues else came))

    def _steps(self, trace: Trace, root: Span, epoch_ns: int) -> list[Span]:
        spans = []
        passing_on = max((at for at, (step, _) in enumerate(trace.steps) if step in _PASSING_ON), default=None)
        ends = [began for _, began in trace.steps[1:]]
        for at, (step, began_ns) in enumerate(trace.steps):
            end_ns = ends[at] + epoch_ns if at < len(ends) else root.end_ns
            id = trace.passed.span_id if at == passing_on else self._draw(_SPAN_BYTES).hex()
            kind: Kind = "client" if step == "forward" else "internal"
            attributes = _of_step(step, root.attributes)
            spans.append(Span(step, kind, id, root.id, began_ns + epoch_ns, end_ns, attributes))
        return spans


@dataclass(frozen=True, slots=True)
class _About:
    """What is known of a request, or of a delivery."""

    upstream: str = ""
    rule: str = ""
    outcome: Outcome | None = None
    epoch: int | None = None

    @property
    def attributes(self) -> dict[str, Value]:
        return _present(
            {
                "fencegate.upstream": self.upstream or None,
                "fencegate.rule": self.rule or None,
                "fencegate.outcome": self.outcome,
                # Past 2^63 it is no number there.
                "fencegate.epoch": None if self.epoch is None else str(self.epoch),
            }
        )


def _read(headers: Headers) -> TraceContext | None:
    return read_trace_context(headers.all(b"traceparent"), headers.all(b"tracestate"))


def _http(asked: Asked) -> dict[str, Value]:
    """Of a query nothing is told: queries hold secrets."""
    known = asked.method in _METHODS
    return _present(
        {
            "http.request.method": asked.method if known else "_OTHER",
            "http.request.method_original": None if known else asked.method,
            "url.path": asked.path,
            "client.address": asked.client,
        }
    )


def _named(method: str, about: _About) -> str:
    """Of what has an end: whoever counts spans does it by their names."""
    verb = method if method in _METHODS or method == "deliver" else "HTTP"
    place = "/".join(part for part in (about.upstream, about.rule) if part)
    return f"{verb} {place}" if place else verb


def _of_step(step: Step, attributes: Mapping[str, Value]) -> dict[str, Value]:
    if step == "settle":
        return {name: attributes[name] for name in ("fencegate.outcome", "fencegate.epoch") if name in attributes}
    if step != "forward":
        return {}
    found = {name: attributes[name] for name in ("http.request.method", "fencegate.upstream") if name in attributes}
    return found | ({"peer.service": attributes["fencegate.upstream"]} if "fencegate.upstream" in attributes else {})


def _present(values: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if value is not None}


def _text(value: str) -> str:
    """What a caller sent and is no text would take a whole batch with it: it is spelled out."""
    cut = value if len(value) <= _LONGEST_VALUE else value[: _LONGEST_VALUE - 1] + "…"
    return cut.encode("utf-8", "backslashreplace").decode("utf-8")
