"""What became of each request, for the metrics and the log."""

import traceback

from gateway.core.decision import Refused
from gateway.core.trace import Trace
from gateway.flow.gate import Ended
from gateway.log import Log
from gateway.metrics.worker import Metrics
from gateway.proxy.asked import Asked
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
        would = None
        if not isinstance(told, Refused):
            would = told.would
            if would is not None:
                self._metrics.observed(ended.upstream, ended.rule, would)
            if told.elsewhere_s is not None:
                self._metrics.overhead(max(0.0, seconds - told.elsewhere_s - asked.waited_s))
        if asked.path == _RENEW:
            self._metrics.renewed(decision.name)
        if ended.lease_left is not None:
            self._metrics.lease_remaining(ended.lease_left)
        if asked.trace is not None and self._tracing is not None:
            self._tracing.answered(asked.trace, ended, asked, status)
        self._log.decision(
            decision.name,
            method=asked.method,
            path=asked.path,
            status=status,
            seconds=seconds,
            upstream=ended.upstream or None,
            rule=ended.rule or None,
            resource=ended.resource,
            epoch=ended.epoch,
            client=asked.client,
            principal=ended.principal,
            holder=ended.holder,
            outcome=None if isinstance(told, Refused) else told.outcome,
            would=None if would is None else would.name,
            intent=ended.intent,
            why=told.why if isinstance(told, Refused) else session,
            trace_id=None if asked.trace is None else asked.trace.id,
        )

    def unanswered(self, trace: Trace, asked: Asked) -> None:
        if self._tracing is not None:
            self._tracing.unanswered(trace, asked)

    def failed(self, error: BaseException) -> None:
        """A bug: it is logged with the place where it happened, and without the values that were handled there."""
        places = traceback.extract_tb(error.__traceback__)
        where = f"{places[-1].filename}:{places[-1].lineno}" if places else None
        self._log.error("a request failed by a bug in the gateway", kind=type(error).__name__, where=where)
