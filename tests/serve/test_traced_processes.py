"""Traces of processes as operators start them: told to a collector from workers and deliverers, to the last one."""

import signal
from pathlib import Path

import pytest

from tests.collector import StandIn, attributes
from tests.gateway_process import call, running, starting, write_policy
from tests.recording import RecordingUpstream
from tests.serve.test_deliverer import POLICY, start, until_applied
from tests.store.fences import opened
from tests.store.parked import mail, parked
from tests.until import STARTS_WITHIN_S, until

pytestmark = pytest.mark.slow


async def test_a_worker_exports_until_it_ends(tmp_path: Path) -> None:
    """Spans of the last second too; the metrics count them."""
    async with StandIn() as collector, RecordingUpstream() as upstream:
        write_policy(tmp_path, upstream.port)
        base = f"http://127.0.0.1:{collector.port}"
        async with running(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=base, OTEL_SERVICE_NAME="the-gateway") as gateway:
            token = await gateway.lease("report/7")

            async def is_counted() -> bool:
                metrics = await gateway.operate("GET", "/metrics")
                return b'fencegate_spans_total{result="exported"} 3.0' in metrics.body

            await until(is_counted, within_s=STARTS_WITHIN_S)
            await call(gateway.proxy, "PUT", "/reports/7", f"Fencing-Token: {token}", body=b"{}")
            gateway.tell(signal.SIGTERM)
            assert await gateway.process.wait() == 0

        assert attributes(collector.resources[0].resource)["service.name"] == "the-gateway"
        assert attributes(collector.named("PUT reports/write"))["fencegate.outcome"] == "applied"
        assert collector.seen[0].line == "POST /v1/traces HTTP/1.1"


async def test_a_deliverer_exports(store_url: str, tmp_path: Path) -> None:
    """What was taken while nothing was traced is a trace without a link."""
    one, policies = mail("one"), tmp_path / "policies"
    async with StandIn() as collector, RecordingUpstream() as upstream, opened(store_url) as store:
        policies.mkdir()
        (policies / "reports.yaml").write_text(POLICY.format(port=upstream.port))
        await parked(store, one)
        base = f"http://127.0.0.1:{collector.port}"
        process = await start(policies, tmp_path / "log", "--store", store_url, "--otlp", base)
        try:
            await until_applied(store, one)
        finally:
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0, (tmp_path / "log").read_text()

        assert not collector.named("deliver reports/replace").links


async def test_without_the_extra_it_does_not_start(tmp_path: Path) -> None:
    """The message says what to install."""
    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").touch()
    async with RecordingUpstream() as upstream:
        write_policy(tmp_path, upstream.port)
        async with starting(tmp_path, "--otlp", "http://127.0.0.1:9", PYTHONPATH=str(tmp_path)) as gateway:
            assert await gateway.process.wait() == 1

    assert "pip install '.[otel]'" in gateway.log.read_text()
