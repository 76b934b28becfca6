"""What became of each request, for the metrics and the log."""

from gateway.core.decision import Refused
from gateway.core.trace import Trace
from gateway.flow.gate import Ended
from gateway.log import Log
from gateway.metrics.worker import Metrics
from gateway.proxy.asked import Asked
from gateway.serve.faults import place_of
from gateway.serve.tracing import Tracing

_RENEW = "/-/fence/leases/renew"


class Recorder:
    """The proxy listener's observer. Called once for each request; neither blocks nor raises.

    `tracing`: None where nothing is traced.
    """

    def __init__(self, metrics: Metrics, log: Log, tracing: Tracing | None = None) -> None:
        self._metrics = metrics
        self._log = log
        self._tracing = tracing

    def answered(self, ended: Ended, asked: Asked, status: int, seconds: float) -> None:
        told = ended.told
        decision = told.decision
        session = None if isinstance(told, Refused) else told.session
        self._metrics.decided(ended.upstream, ended.rule, decision, None if session else seconds)
        if not isinstance(told, Refused):
            if told.would is not None:
                self._metrics.observed(ended.upstream, ended.rule, told.would)
            if told.elsewhere_s is not None:
                self._metrics.overhead(max(0.0, seconds - told.elsewhere_s - asked.waited_s))
        if asked.path == _RENEW:
            self._metrics.renewed(decision.name)
        if ended.lease_left is not None:
            self._metrics.lease_remaining(ended.lease_left)
        if asked.trace is not None and self._tracing is not None:
            self._tracing.answered(asked.trace, ended, asked, status)
        if self._log.shows_decisions:
            self._write(ended, asked, status, seconds)

    def unanswered(self, trace: Trace, asked: Asked) -> None:
        if self._tracing is not None:
            self._tracing.unanswered(trace, asked)

    def failed(self, error: BaseException) -> None:
        """A bug: it is logged with the place where it happened, and without the values that were handled there."""
        kind, where = type(error).__name__, place_of(error)
        self._log.error("a request failed by a bug in the gateway", kind=kind, where=where)

    def _write(self, ended: Ended, asked: Asked, status: int, seconds: float) -> None:
        """The request's line of the log."""
        told, outcome, would = ended.told, None, None
        if isinstance(told, Refused):
            why = told.why
        else:
            why, outcome = told.session or told.why, told.outcome
            would = None if told.would is None else told.would.name
        self._log.decision(
            decision=told.decision.name,
            method=asked.method,
            path=asked.path,
            status=status,
            ms=round(seconds * 1000, 3),
            upstream=ended.upstream or None,
            rule=ended.rule or None,
            resource=ended.resource,
            # Past 2^53 a reader of JSON would round it.
            epoch=None if ended.epoch is None else str(ended.epoch),
            client=asked.client,
            principal=ended.principal,
            holder=ended.holder,
            outcome=outcome,
            would=would,
            intent=ended.intent,
            why=why,
            trace_id=None if asked.trace is None else asked.trace.id,
        )
