"""What makes a proxy behind the gateway send a request again, or elsewhere, passes from nobody."""

import pytest

from gateway.core.field_name import plain_name
from gateway.core.rerouting import REROUTING, REROUTING_PREFIXES
from gateway.core.rule import Origin, Upstream
from gateway.core.withheld import withheld

PLAIN = Upstream("api", Origin("http", "localhost", 80))


@pytest.mark.parametrize(
    "name",
    [
        *("X-Envoy-Retry-On", "X-Envoy-Retry-Grpc-On", "X-Envoy-Max-Retries", "X-Envoy-Retriable-Status-Codes"),
        *("X-Envoy-Retriable-Header-Names", "X-Envoy-Hedge-On-Per-Try-Timeout", "X-Envoy-Upstream-Rq-Timeout-Ms"),
        *("X-Envoy-Upstream-Rq-Per-Try-Timeout-Ms", "X-Envoy-Original-Dst-Host", "X_Envoy_Retry_On"),
        *("l5d-retry-http", "l5d-retry-limit", "l5d-dst-override", "l5d-dtab", "Dtab-Local", "X-Dtab-00-A"),
        *("Finagle-Ctx-com.twitter.finagle.Retries", "Knative-Serving-Tag", "Knative-Serving-Revision"),
        *("K-Original-Host", "X-CF-App-Instance", "X-CF-Process-Instance", "X-CF-Forwarded-Url"),
        *("Fly-Prefer-Region", "Fly-Force-Instance-Id", "dapr-app-id", "Proxy"),
    ],
)
@pytest.mark.parametrize("believed", [False, True], ids=["agent", "trusted proxy"])
def test_a_field_that_steers_a_proxy_passes_from_nobody(name: str, believed: bool) -> None:
    """Nor from a trusted proxy: few keep them from their own clients."""
    assert withheld(PLAIN, believed=believed).covers(plain_name(name.encode()))


@pytest.mark.parametrize("name", ["X-B3-TraceId", "traceparent", "X-Request-Id", "Proxy-Version", "Dapr-Api-Token"])
def test_a_trace_and_what_steers_nothing_pass(name: str) -> None:
    """They are what the API itself is told."""
    assert not withheld(PLAIN, believed=False).covers(plain_name(name.encode()))


def test_names_are_plain() -> None:
    """As those are spelled that they are compared with."""
    assert {plain_name(name) for name in (*REROUTING, *REROUTING_PREFIXES)} == {*REROUTING, *REROUTING_PREFIXES}
