"""Spans on their way to a collector: what it is sent, and what is dropped and counted when it does not take them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway.core.trace_context import TraceContext
from gateway.log import Log
from gateway.serve.tracing import Span, Told
from tests.collector import REFUSED, StandIn, attributes, otlp
from tests.recording import Seen, answering

OWN = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 3, "vendor=a1")
CAME = TraceContext("1af7651916cd43dd8448eb211c80319c", "c7ad6b7169203331", 1)
ROOT = Span("PUT reports/write", "server", OWN.span_id, "a" * 16, 1_000, 9_000, {"fencegate.epoch": "7", "n": 1}, True)
STEP = Span("forward", "client", "b" * 16, OWN.span_id, 2_000, 8_000)
TOLD = Told(OWN, (ROOT, STEP))


@asynccontextmanager
async def exporting(url: str, log: Path) -> AsyncIterator[tuple["otlp.Collector", Counter[str]]]:
    """An exporter that is closed in the end, and what became of its spans."""
    counted: Counter[str] = Counter()
    with log.open("ab") as lines:
        loop = asyncio.get_running_loop()
        exporter = otlp.Collector(
            url, lambda result, count: counted.update({result: count}), Log("json", descriptor=lines.fileno()), loop
        )
        try:
            yield exporter, counted
        finally:
            await asyncio.to_thread(exporter.close)
            # What the thread has said at last.
            await asyncio.sleep(0)


async def test_spans_arrive_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids, times, kinds, attributes and status; the resource is this program, unless the environment names it."""
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    async with StandIn() as collector:
        async with exporting(collector.url, tmp_path / "log") as (exporter, counted):
            exporter.take(TOLD)

        root, step = collector.spans
        assert counted == {"exported": 2}
        assert (root.trace_id.hex(), root.span_id.hex(), root.parent_span_id.hex()) == (
            *(OWN.trace_id, OWN.span_id),
            "a" * 16,
        )
        assert (root.start_time_unix_nano, root.end_time_unix_nano, root.trace_state) == (1_000, 9_000, "vendor=a1")
        assert attributes(root) == {"fencegate.epoch": "7", "n": 1}
        assert (root.kind, root.status.code, step.kind, step.status.code) == (2, 2, 3, 0)
        assert (step.trace_id, step.span_id.hex(), step.parent_span_id) == (root.trace_id, "b" * 16, root.span_id)
        resource = attributes(collector.resources[0].resource)
        assert resource["service.name"] == "fencegate"
        assert resource["deployment.environment.name"] == "test"


async def test_only_the_first_span_links(tmp_path: Path) -> None:
    """It begins a trace, and names where the request was taken."""
    root = Span("deliver mail/send", "consumer", OWN.span_id, None, 1_000, 9_000)
    async with StandIn() as collector:
        async with exporting(collector.url, tmp_path / "log") as (exporter, _):
            exporter.take(Told(OWN, (root, STEP), CAME))

        delivery, step = collector.spans
        assert (delivery.trace_id.hex(), delivery.parent_span_id, delivery.kind) == (OWN.trace_id, b"", 5)
        assert [(link.trace_id.hex(), link.span_id.hex()) for link in delivery.links] == [(CAME.trace_id, CAME.span_id)]
        assert not step.links


async def test_what_a_collector_refuses_is_dropped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is counted, and said once in the log with the reason; the library itself writes nothing anywhere."""
    async with (
        StandIn(answer=answering(REFUSED)) as collector,
        exporting(collector.url, tmp_path / "log") as (exporter, counted),
    ):
        exporter.take(TOLD)

    assert counted == {"dropped": 2}
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 1
    assert '"spans":2' in lines[0]
    assert "400" in lines[0]
    assert capfd.readouterr() == ("", "")


async def test_what_waits_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector that takes its time costs spans, and no memory; closing waits no longer than it may."""
    monkeypatch.setattr(otlp, "_MOST_WAITING", 5)
    monkeypatch.setattr(otlp, "_BATCH", 5)
    monkeypatch.setattr(otlp, "_CLOSE_WITHIN_S", 0.05)
    monkeypatch.setattr(otlp, "_INTERRUPTED_WITHIN_S", 0.05)

    async def never(_: Seen, writer: asyncio.StreamWriter) -> None:
        await writer.wait_closed()

    async with (
        StandIn(answer=never) as collector,
        exporting(collector.url, tmp_path / "log") as (exporter, counted),
    ):
        for _ in range(4):
            exporter.take(TOLD)
        assert counted == {"dropped": 4}


async def test_an_export_that_fails_by_itself_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as for a certificate that is not there."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", str(tmp_path / "none.pem"))
    monkeypatch.setattr(otlp, "_CLOSE_WITHIN_S", 0.05)
    async with exporting("https://127.0.0.1:9/v1/traces", tmp_path / "log") as (exporter, counted):
        exporter.take(TOLD)

    assert counted == {"dropped": 2}
