"""Traces through the whole gateway: what the upstream, the collector, the log and a refused caller are told of them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gateway.core.write import ResourceKey
from gateway.serve.exporting import Traces
from gateway.store.fence import FenceStore
from gateway.store.views.audit_views import Sought, events
from tests.collector import StandIn, attributes, otlp
from tests.proxy.mail import POLICY as MAIL
from tests.proxy.mail import proof, send
from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.sessions import POLICY as ROOMS
from tests.sessions import Agent, SessionUpstream, lease
from tests.stack import POLICY, Stack, stack
from tests.until import until

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, UNSAMPLED = (f"traceparent: 00-{TRACE}-{SPAN}-{flags}" for flags in ("01", "00"))


@asynccontextmanager
async def traced(
    store_url: str, directory: Path, policy: str = POLICY, upstream: RecordingUpstream | None = None
) -> AsyncIterator[tuple[Stack, StandIn]]:
    """A gateway with a collector; what it has told is there once the gateway has ended."""
    async with (
        StandIn() as collector,
        stack(store_url, directory, policy, upstream, traces=Traces(collector.url)) as gate,
    ):
        yield gate, collector


def logged(gate: Stack, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in gate.log.read_text().splitlines()]
    return [line for line in lines if line["event"] == event]


def hexadecimal(span: Any) -> tuple[str, str, str]:
    """The ids of its trace, of itself and of its parent."""
    return span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()


async def test_a_write_is_a_span_of_its_callers_trace(store_url: str, tmp_path: Path) -> None:
    """Its steps are its children, in their order; the upstream is told the one that asks it."""
    async with traced(store_url, tmp_path) as (gate, collector):
        await gate.lease("report/7")
        await gate.write("/reports/7?secret=1", SAMPLED, "tracestate: vendor=a1")
    seen = gate.upstream.seen[0]
    write, *steps = [span for span in collector.spans if span.trace_id.hex() == TRACE]

    assert write.name == "PUT reports/write"
    assert hexadecimal(write)[2] == SPAN
    assert write.trace_state == "vendor=a1"
    assert [step.name for step in steps] == ["identify", "admit", "forward", "settle"]
    assert {step.parent_span_id for step in steps} == {write.span_id}
    assert all(one.end_time_unix_nano == other.start_time_unix_nano for one, other in pairwise(steps))
    assert write.start_time_unix_nano <= steps[0].start_time_unix_nano
    assert write.end_time_unix_nano >= steps[-1].end_time_unix_nano
    assert seen.values("traceparent") == [f"00-{TRACE}-{steps[2].span_id.hex()}-01"]
    assert seen.values("tracestate") == ["vendor=a1"]
    [line] = [line for line in logged(gate, "decision") if line["decision"] == "forwarded"]
    assert line["trace_id"] == TRACE


async def test_no_secret_is_in_a_span(store_url: str, tmp_path: Path) -> None:
    """No token, key, query, body or credential: a collector is read by many."""
    policy = POLICY + "    intent: {{mode: required}}\ncredentials: [{{header: X-Key, value: own-secret}}]\n"
    async with traced(store_url, tmp_path, policy) as (gate, collector):
        await gate.lease("report/7")
        await gate.write(
            *("/reports/7?query-secret", "Idempotency-Key: key-secret", "Authorization: Bearer header-secret"),
            body=b'{"to": "body-secret"}',
        )
    told = b"".join(seen.body for seen in collector.seen)

    assert b"fencegate.decision" in told
    for secret in (b"secret", gate.tokens["agent-a"].partition(".")[2].encode()):
        assert secret not in told


async def test_every_call_has_a_span(store_url: str, tmp_path: Path) -> None:
    """A lease call, a read, and a write that is refused; each begins a trace where its caller names none."""
    async with traced(store_url, tmp_path) as (gate, collector):
        await gate.lease("report/7")
        await ask(gate.port, "GET", "/reports/7")
        refused = await ask(gate.port, "PUT", "/reports/7", "Fencing-Token: 1.x", body=b"{}")
    lease, read, write = (collector.named(name) for name in ("POST", "GET reports", "PUT reports/write"))

    assert not any(span.parent_span_id for span in (lease, read, write))
    assert len({span.trace_id for span in (lease, read, write)}) == 3
    assert attributes(lease)["fencegate.decision"] == "granted"
    assert attributes(read)["fencegate.decision"] == "passed"
    assert gate.upstream.seen[0].values("traceparent")[0].startswith(f"00-{read.trace_id.hex()}-")
    assert refused.problem["trace_id"] == write.trace_id.hex()
    assert attributes(write)["http.response.status_code"] == refused.status


async def test_whoever_waits_has_a_span_of_that(store_url: str, tmp_path: Path) -> None:
    """From when the store said so to when the write was admitted."""
    arrived, goes_on = asyncio.Event(), asyncio.Event()

    async def slowly(seen: Seen, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await goes_on.wait()
        await answer_ok(seen, writer)

    async with traced(store_url, tmp_path, upstream=RecordingUpstream(slowly)) as (gate, collector):
        await gate.lease("report/7")
        first = asyncio.ensure_future(gate.write("/reports/7"))
        await arrived.wait()
        second = asyncio.ensure_future(gate.write("/reports/7", SAMPLED))
        async with RawClient(gate.port) as third:
            # Asked in a row, it is answered when the second one has come to the store.
            await third.send(request("GET", "/-/fence/leases?resource=report/7"))
            await third.answer()
        goes_on.set()
        await asyncio.gather(first, second)

    names = [span.name for span in collector.spans if span.trace_id.hex() == TRACE]
    assert names == ["PUT reports/write", "identify", "admit", "wait", "forward", "settle"]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(["traceparent: 00-0-0-01"], id="malformed"),
        pytest.param([SAMPLED, UNSAMPLED], id="two"),
        pytest.param([f"Traceparent: ff-{TRACE}-{SPAN}-01"], id="no version"),
        pytest.param([], id="none"),
    ],
)
async def test_a_trace_that_cannot_be_read_is_replaced(store_url: str, tmp_path: Path, fields: list[str]) -> None:
    """The upstream gets one place, in a new trace, and no state of another."""
    async with traced(store_url, tmp_path) as (gate, collector):
        await ask(gate.port, "GET", "/reports/7", *fields, "tracestate: vendor=a1")
    [parent] = gate.upstream.seen[0].values("traceparent")

    read = collector.named("GET reports")
    assert parent == f"00-{read.trace_id.hex()}-{collector.named('forward').span_id.hex()}-03"
    assert read.trace_id.hex() != TRACE
    assert gate.upstream.seen[0].values("tracestate") == []


async def test_an_unsampled_trace_passes_as_it_came(store_url: str, tmp_path: Path) -> None:
    """Nothing is told to the collector; the log has its id all the same."""
    async with traced(store_url, tmp_path) as (gate, collector):
        await ask(gate.port, "GET", "/reports/7", UNSAMPLED, "Connection: traceparent")

    assert collector.spans == []
    assert gate.upstream.seen[0].values("traceparent") == [f"00-{TRACE}-{SPAN}-00"]
    assert [line["trace_id"] for line in logged(gate, "decision")] == [TRACE]


async def test_without_a_collector_everything_passes_as_it_came(store_url: str, tmp_path: Path) -> None:
    """A malformed value too: it is nobody's here."""
    async with stack(store_url, tmp_path) as gate:
        await ask(gate.port, "GET", "/reports/7", "traceparent: x", "tracestate: a=1", "tracestate: b=2")
        refused = await ask(gate.port, "PUT", "/reports/7", SAMPLED, body=b"{}")

    assert gate.upstream.seen[0].values("traceparent") == ["x"]
    assert gate.upstream.seen[0].values("tracestate") == ["a=1", "b=2"]
    assert "trace_id" not in refused.problem
    assert not any("trace_id" in line for line in logged(gate, "decision"))


async def test_a_delivery_links_to_the_request(store_url: str, tmp_path: Path) -> None:
    """It is a trace of its own; the upstream is told a step of that, and the log both."""
    async with traced(store_url, tmp_path, MAIL + "    delivery: queued\n") as (gate, collector):
        answer = await send(gate, "k-1", SAMPLED)
        await until(lambda: bool(logged(gate, "a queued write was sent")))
    delivery, park = collector.named("deliver mail/send"), collector.named("park")
    steps = {span.name: span for span in collector.spans if span.parent_span_id == delivery.span_id}

    assert answer.status == 202
    assert park.trace_id.hex() == TRACE
    assert [(link.trace_id.hex(), link.span_id) for link in delivery.links] == [(TRACE, park.span_id)]
    assert delivery.trace_id.hex() != TRACE
    assert attributes(delivery)["fencegate.outcome"] == "applied"
    assert list(steps) == ["admit", "forward", "settle"]
    told = f"00-{delivery.trace_id.hex()}-{steps['forward'].span_id.hex()}-03"
    assert gate.upstream.seen[0].values("traceparent") == [told]
    assert logged(gate, "a queued write was sent")[0]["trace_id"] == delivery.trace_id.hex()


async def test_a_caller_that_leaves_has_a_span(store_url: str, tmp_path: Path) -> None:
    """A request without an answer is an error there, and nowhere else."""
    async with traced(store_url, tmp_path, MAIL) as (gate, collector), RawClient(gate.port) as client:
        head = request("POST", "/mail/7", SAMPLED, *proof(), "Idempotency-Key: a", "Expect: 100-continue")
        await client.send(head[:-2] + b"Content-Length: 100\r\n\r\n")
        assert b"100" in await client.line()
    left = collector.named("POST")

    assert hexadecimal(left)[::2] == (TRACE, SPAN)
    assert attributes(left)["error.type"] == "unanswered"


async def test_a_dead_collector_stops_nothing(store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are answered; that spans were dropped is in the log, in its own words and lines."""
    monkeypatch.setattr(otlp, "_CLOSE_WITHIN_S", 0.05)
    traces = Traces("http://127.0.0.1:9/v1/traces")
    async with stack(store_url, tmp_path, traces=traces) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7")

    assert answer.decision == "forwarded"
    [line] = logged(gate, "spans were dropped: the collector does not take them")
    assert line["spans"] > 0


async def test_a_session_is_a_step_of_its_handshake(store_url: str, tmp_path: Path) -> None:
    """It lasts as long as that; the upstream is told the step of the handshake."""
    async with traced(store_url, tmp_path, ROOMS, SessionUpstream()) as (gate, collector):
        token = await lease(gate.port, "room/7")
        async with Agent(gate.port) as agent:
            answer = await agent.open("/rooms/7/live", token, SAMPLED)
        await gate.upstream.until(lambda: "ended" in gate.upstream.order)
    spans = {span.name: span for span in collector.spans if span.trace_id.hex() == TRACE}

    assert answer.status == 101
    assert list(spans) == ["GET rooms/live", "identify", "admit", "forward", "session", "settle"]
    told = f"\r\ntraceparent: 00-{TRACE}-{spans['forward'].span_id.hex()}-01\r\n".encode()
    assert told in gate.upstream.handshakes[0]


async def test_the_trail_bears_the_trace_of_each_request(store: FenceStore, store_url: str, tmp_path: Path) -> None:
    """Of a gateway that traces nothing too: from a refusal an operator comes to what its agent was about."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        await gate.write("/reports/7", SAMPLED)
        await gate.lease("report/7", "agent-b", takeover=True)
        refused = await gate.write("/reports/7", UNSAMPLED)
        await gate.write("/reports/7", "traceparent: 00-nonsense", holder="agent-b")

    assert refused.decision == "stale-epoch"
    assert await trail(store, "report/7") == [
        ("granted", ""), ("in_flight", TRACE), ("applied", TRACE), ("granted", ""), ("refused", TRACE),
        ("in_flight", ""), ("applied", ""),
    ]  # fmt: skip


async def test_what_is_kept_for_later_stays_in_its_requests_trace(
    store: FenceStore, store_url: str, tmp_path: Path
) -> None:
    """In the trail: that of the delivery itself, which links to it, is in the log."""
    async with stack(store_url, tmp_path, MAIL + "    delivery: queued\n") as gate:
        await send(gate, "k-1", SAMPLED)
        await until(lambda: bool(logged(gate, "a queued write was sent")))

    steps = await trail(store, "mail/out")
    assert steps == [("queued", TRACE), ("in_flight", TRACE), ("applied", TRACE)]


async def trail(store: FenceStore, resource: str) -> list[tuple[str, str]]:
    """Each step with its trace, the oldest first."""
    page = await events(store, Sought(resource=ResourceKey(resource)), None)
    return [(event.after, event.trace_id) for event in reversed(page.items)]
