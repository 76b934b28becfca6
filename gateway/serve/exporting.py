"""Whether traces are exported, and to where: what a worker and a deliverer have in common."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from gateway.log import Log
from gateway.serve.tracing import Tracing
from gateway.settings import collector

_INSTALL = "pip install '.[otel]' in fencegate's checkout, or leave it out."

# Told what became of spans, `exported` or `dropped`, and of how many.
Count = Callable[[str, int], object]


class NoExporter(Exception):
    """Traces are asked for, and what exports them is not installed; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Traces:
    """The collector's URL for traces, and how many of those that begin here are sampled, from 0 to 1."""

    url: str
    ratio: float = 1.0


def can_export() -> bool:
    """Whether the extra `otel` is installed."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http.trace_exporter") is not None
    except ModuleNotFoundError:
        return False


def traces_to(otlp: str | None, ratio: float, log: Log) -> Traces | None:
    """Where to export, if anywhere. Raises NoExporter where `otlp` is given and cannot be served.

    The environment's collector may be meant for others: without the extra it is only said that nothing goes there.
    """
    url = collector(otlp)
    if url is None:
        return None
    if can_export():
        log.info("traces are exported", url=_without_user(url), ratio=ratio)
        return Traces(url, ratio)
    if otlp is not None:
        raise NoExporter(f"--otlp wants the extra `otel`: {_INSTALL}")
    log.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, and nothing is traced: the extra `otel` is not installed")
    return None


def _without_user(url: str) -> str:
    scheme, _, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}://{place.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


@asynccontextmanager
async def exporting(traces: Traces | None, count: Count, log: Log) -> AsyncIterator[Tracing | None]:
    """None: nothing is traced. On leaving, what waits is exported, or dropped within two seconds."""
    if traces is None:
        yield None
        return
    # Not at the top: it takes twenty megabytes, and is an extra.
    from gateway.serve.otlp import Collector

    exporter = Collector(traces.url, count, log, asyncio.get_running_loop())
    try:
        yield Tracing(exporter.take, traces.ratio)
    finally:
        await asyncio.to_thread(exporter.close)
