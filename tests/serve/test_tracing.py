"""Spans of what was traced: whose children they are, what they say, and which traces are told at all."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from gateway.core.decision import FORWARDED, STALE_EPOCH, UPSTREAM_TIMEOUT, Refused
from gateway.core.request import Headers
from gateway.flow.gate import Ended
from gateway.flow.marks import Marks
from gateway.proxy.asked import Asked
from gateway.serve.tracing import Span, Told, Tracing

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, UNSAMPLED = (Headers([(b"traceparent", f"00-{TRACE}-{SPAN}-{flags}".encode())]) for flags in ("01", "00"))
NAMELESS = Headers([])
WRITE = Asked("PUT", "/reports/7", "10.0.0.9")
APPLIED = Ended(Marks(FORWARDED, 2**64 - 1, "applied"), "reports", "write", "report/7", 2**64 - 1, "agent-a", None)


def numbered() -> Callable[[int], bytes]:
    """What is drawn at random, and is told apart here: 1, 2, 3, ..."""
    drawn = iter(range(1, 1000))
    return lambda size: next(drawn).to_bytes(size)


def traced(headers: Headers, ended: Ended, status: int, *steps: str, asked: Asked = WRITE, ratio: float = 1.0) -> Told:
    """What is told of one request that went through these steps."""
    told: list[Told] = []
    tracing = Tracing(told.append, ratio, numbered())
    trace = tracing.begin(headers)
    for step in steps:
        trace.enter(step)  # type: ignore[arg-type]
    tracing.answered(trace, ended, asked, status)
    assert len(told) == 1
    return told[0]


def test_steps_are_children_of_the_request_one_after_the_other() -> None:
    """The request is a child of its caller's span, and ends with the last of its steps."""
    told = traced(SAMPLED, APPLIED, 200, "admit", "wait", "forward", "settle")
    request, *steps = told.spans

    assert (told.context.trace_id, request.parent_id, told.link) == (TRACE, SPAN, None)
    assert [(step.name, step.kind) for step in steps] == [
        ("identify", "internal"),
        ("admit", "internal"),
        ("wait", "internal"),
        ("forward", "client"),
        ("settle", "internal"),
    ]
    assert {step.parent_id for step in steps} == {request.id}
    assert len({span.id for span in told.spans}) == 6
    assert all(one.end_ns == other.start_ns for one, other in pairwise(steps))
    assert request.start_ns <= steps[0].start_ns
    assert request.end_ns == steps[-1].end_ns


def test_a_request_says_what_was_decided() -> None:
    """Epochs are texts: they pass what a number may be there."""
    request = traced(SAMPLED, APPLIED, 200, "forward").spans[0]

    assert (request.name, request.kind, request.failed) == ("PUT reports/write", "server", False)
    assert request.attributes == {
        "http.request.method": "PUT",
        "url.path": "/reports/7",
        "client.address": "10.0.0.9",
        "http.response.status_code": 200,
        "fencegate.decision": "forwarded",
        "fencegate.resource": "report/7",
        "fencegate.upstream": "reports",
        "fencegate.rule": "write",
        "fencegate.outcome": "applied",
        "fencegate.epoch": "18446744073709551615",
    }


@pytest.mark.parametrize(
    ("ended", "status", "failed"),
    [
        pytest.param(Ended(Refused(STALE_EPOCH, "")), 412, False, id="a refusal is the gateway's work"),
        pytest.param(Ended(Refused(UPSTREAM_TIMEOUT, "")), 504, True, id="a status of 500 or more"),
        pytest.param(Ended(Marks(FORWARDED, 1, "unknown")), 200, True, id="nobody knows the outcome"),
    ],
)
def test_what_counts_as_an_error(ended: Ended, status: int, failed: bool) -> None:
    """As OpenTelemetry's conventions for a server have it; and what somebody has to look at."""
    assert traced(SAMPLED, ended, status).spans[0].failed is failed


def test_the_upstream_is_told_the_step_that_asks_it() -> None:
    """Of a write that was admitted twice, because its gateway slept, only the last attempt has sent anything."""
    told: list[Told] = []
    tracing = Tracing(told.append, 1.0, numbered())
    trace = tracing.begin(SAMPLED)
    for _ in range(2):
        trace.enter("forward")
        trace.enter("settle")
    tracing.answered(trace, APPLIED, WRITE, 200)
    forwards = [span.id for span in told[0].spans if span.name == "forward"]

    assert forwards[1] == trace.passed.span_id != forwards[0]
    assert trace.passed.fields == ((b"traceparent", f"00-{TRACE}-{forwards[1]}-01".encode()),)


@pytest.mark.parametrize(
    ("headers", "ratio", "is_told"),
    [
        pytest.param(SAMPLED, 0.0, True, id="its caller samples it"),
        pytest.param(UNSAMPLED, 1.0, False, id="its caller does not"),
        pytest.param(NAMELESS, 1.0, True, id="all that begin here"),
        pytest.param(NAMELESS, 0.0, False, id="none that begins here"),
    ],
)
def test_a_trace_is_sampled_where_it_begins(headers: Headers, ratio: float, is_told: bool) -> None:
    """A caller's decision holds for whoever is asked after it."""
    told: list[Told] = []
    tracing = Tracing(told.append, ratio)
    trace = tracing.begin(headers)

    tracing.answered(trace, APPLIED, WRITE, 200)

    assert bool(told) is is_told
    assert trace.passed.is_sampled is is_told


def test_so_many_are_sampled_as_the_ratio_says() -> None:
    """By the trace's own id, so that all who share it and the ratio decide alike."""
    tracing = Tracing(lambda _: None, 0.25)

    sampled = sum(tracing.begin(NAMELESS).own.is_sampled for _ in range(4000))

    assert 800 < sampled < 1200


def test_a_trace_that_is_not_sampled_passes_as_it_came() -> None:
    """A span that is told to nobody is nobody's parent."""
    trace = Tracing(lambda _: None, 1.0).begin(UNSAMPLED)

    assert trace.passed.fields == tuple(UNSAMPLED.pairs)


def test_a_delivery_is_a_trace_of_its_own() -> None:
    """It links to where the request was taken, and is sampled where that was."""
    told: list[Told] = []
    tracing = Tracing(told.append, 0.0)

    trace = tracing.resume(SAMPLED)

    assert trace.own.is_sampled
    assert trace.id != TRACE
    assert trace.came is not None
    assert trace.came.span_id == SPAN
    assert not tracing.resume(UNSAMPLED).own.is_sampled


def test_a_request_without_an_answer_is_an_error() -> None:
    """Its caller has left, or the gateway was stopped."""
    told: list[Told] = []
    tracing = Tracing(told.append, 1.0)

    tracing.unanswered(tracing.begin(SAMPLED), WRITE)

    request: Span = told[0].spans[0]
    assert (request.name, request.failed) == ("PUT", True)


def test_what_a_caller_sent_can_be_told() -> None:
    """No text that is none, no method and no path without an end."""
    asked = Asked("FROBNICATE", "/reports/\udcff" + "x" * 1000)

    request = traced(SAMPLED, Ended(Refused(STALE_EPOCH, "")), 412, asked=asked).spans[0]

    assert request.name == "HTTP"
    assert request.attributes["http.request.method"] == "_OTHER"
    path = request.attributes["url.path"]
    assert isinstance(path, str)
    assert path.encode().startswith(b"/reports/\\udcff")
    assert len(path) < 300
