"""Spans to an OpenTelemetry collector, by OTLP over HTTP, in batches from a thread beside the event loop.

The only module that imports OpenTelemetry (the extra `otel`); it is loaded only where traces are asked for. A collector
that is away costs spans, which are counted, and never a request: what waits for it is bounded.
"""

import contextlib
import logging
import threading
from asyncio import AbstractEventLoop
from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from gateway import __version__
from gateway.core.trace_context import TraceContext
from gateway.log import Log
from gateway.serve.exporting import Count
from gateway.serve.tracing import Kind, Span, Told

# A few megabytes of a worker's memory; at a thousand requests a second, two seconds of them.
_MOST_WAITING = 10_000
# People look at a trace seconds after what it tells of.
_EVERY_MS = 1000
_BATCH = 512
# The exporter tries again for so long in all, as OpenTelemetry has it by default.
_TRIES_FOR_S = 10.0
# A worker that ends has been told so by somebody who waits for it.
_CLOSE_WITHIN_S = 1.0
_INTERRUPTED_WITHIN_S = 0.5
# A collector that is away for a night is no reason for a thousand lines.
_SAY_EVERY_S = 60.0
_LONGEST_WHY = 200
_KINDS: dict[Kind, SpanKind] = {
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "consumer": SpanKind.CONSUMER,
    "internal": SpanKind.INTERNAL,
}
_UNSET, _FAILED = Status(StatusCode.UNSET), Status(StatusCode.ERROR)
_SCOPE = InstrumentationScope("fencegate", __version__)


class Collector:
    """Takes spans on the event loop, and has them sent to `url`."""

    def __init__(self, url: str, count: Count, log: Log, loop: AbstractEventLoop) -> None:
        self._count = count
        self._log = log
        self._loop = loop
        self._waiting = 0
        self._said_at = -_SAY_EVERY_S
        self._lost = 0
        self._last_word = _LastWord()
        exporter = OTLPSpanExporter(url, timeout=_TRIES_FOR_S)
        self._exporter = _Counted(exporter, self)
        self._processor = BatchSpanProcessor(
            self._exporter,
            max_queue_size=2 * _MOST_WAITING,
            schedule_delay_millis=_EVERY_MS,
            max_export_batch_size=_BATCH,
        )
        self._resource = _resource()

    def take(self, told: Told) -> None:
        """Neither waits nor raises; what there is no room for is dropped and counted."""
        if self._waiting + len(told.spans) > _MOST_WAITING:
            self._lose(len(told.spans), "too many wait for the collector")
            return
        self._waiting += len(told.spans)
        for span in told.spans:
            self._processor.on_end(self._as_exported(told, span))

    def close(self) -> None:
        """Export what waits, for a second; what is left is dropped. It blocks: to be called once, beside the loop."""
        ending = threading.Thread(target=self._processor.shutdown, daemon=True)
        ending.start()
        ending.join(_CLOSE_WITHIN_S)
        if ending.is_alive():
            self._exporter.shutdown()
            ending.join(_INTERRUPTED_WITHIN_S)
        self._last_word.close()

    def heard(self, count: int, *, exported: bool) -> None:
        """From the exporter's thread: what became of a batch."""
        # The loop may be closed by now, and nobody counts any more.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._conclude, count, exported)

    def _conclude(self, count: int, exported: bool) -> None:
        self._waiting -= count
        if exported:
            self._count("exported", count)
        else:
            self._lose(count, self._last_word.said)

    def _lose(self, count: int, why: str) -> None:
        self._count("dropped", count)
        self._lost += count
        now = self._loop.time()
        if now - self._said_at >= _SAY_EVERY_S:
            self._said_at = now
            self._log.warning("spans were dropped: the collector does not take them", spans=self._lost, why=why)
            self._lost = 0

    def _as_exported(self, told: Told, span: Span) -> ReadableSpan:
        """The library's tracer would take three times as long, on the event loop, and would draw another id: by then
        the upstream has been told this one.
        """
        is_first, context = span is told.spans[0], told.context
        parent_id, link = span.parent_id, told.link if is_first else None
        return ReadableSpan(
            span.name,
            context=_place(context, span.id, is_remote=False),
            parent=None if parent_id is None else _place(context, parent_id, is_remote=is_first),
            resource=self._resource,
            attributes=span.attributes,
            links=() if link is None else (Link(_place(link, link.span_id, is_remote=True)),),
            kind=_KINDS[span.kind],
            status=_FAILED if span.failed else _UNSET,
            start_time=span.start_ns,
            end_time=span.end_ns,
            instrumentation_scope=_SCOPE,
        )


class _Counted(SpanExporter):
    """An exporter whose results are heard of."""

    def __init__(self, exporter: SpanExporter, collector: Collector) -> None:
        self._exporter = exporter
        self._collector = collector
        self._is_shut = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = SpanExportResult.FAILURE
        try:
            result = self._exporter.export(spans)
        finally:
            # It raises for files that it cannot read, such as a certificate, and the library logs that.
            self._collector.heard(len(spans), exported=result is SpanExportResult.SUCCESS)
        return result

    def shutdown(self) -> None:
        if not self._is_shut:
            self._is_shut = True
            self._exporter.shutdown()


class _LastWord(logging.Handler):
    """What the library says of a failure. By itself it would write to standard error, between the log's own lines."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said = ""
        self._library = logging.getLogger("opentelemetry")
        self._library.addHandler(self)
        self._library.propagate = False

    def close(self) -> None:
        self._library.removeHandler(self)
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        self.said = record.getMessage()[:_LONGEST_WHY]


def _resource() -> Resource:
    """`OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` name it otherwise."""
    own = Resource({SERVICE_NAME: "fencegate", SERVICE_VERSION: __version__})
    return own.merge(OTELResourceDetector().detect())


def _place(context: TraceContext, span_id: str, *, is_remote: bool) -> SpanContext:
    state = TraceState.from_header([context.state]) if context.state else TraceState()
    return SpanContext(int(context.trace_id, 16), int(span_id, 16), is_remote, TraceFlags(context.flags), state)
