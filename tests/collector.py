"""A stand-in for an OpenTelemetry collector: it takes OTLP over HTTP, and keeps the spans that it was sent."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.recording import Answer, RecordingUpstream, answering

otlp = pytest.importorskip("gateway.serve.otlp", reason="needs fencegate[otel]", exc_type=ModuleNotFoundError)
service = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="needs fencegate[otel]"
)

TAKEN = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n"
REFUSED = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


@dataclass
class StandIn(RecordingUpstream):
    """Listens on loopback, and says that it has taken what it was sent."""

    answer: Answer = field(default_factory=lambda: answering(TAKEN))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/traces"

    @property
    def resources(self) -> list[Any]:
        """What each export says of one process."""
        return [found for seen in self.seen for found in _read(seen.body).resource_spans]

    @property
    def spans(self) -> list[Any]:
        """All of them, in the order in which they came: protobuf messages, as opentelemetry-proto has them."""
        return [span for found in self.resources for scope in found.scope_spans for span in scope.spans]

    def named(self, name: str) -> Any:
        """The one span of this name."""
        found = [span for span in self.spans if span.name == name]
        assert len(found) == 1, [span.name for span in self.spans]
        return found[0]


def attributes(span: Any) -> dict[str, object]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in span.attributes}


def _read(body: bytes) -> Any:
    # Untyped: the classes are made at run time.
    return service.ExportTraceServiceRequest.FromString(body)
