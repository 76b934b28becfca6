"""Which header names a policy may name, and for what."""

from dataclasses import replace

import pytest

from gateway.core.rule import Origin, Upstream
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_that_arrives, header_to_read, header_to_replay, header_to_send

UPSTREAM = Upstream("api", Origin("http", "localhost", 80), credentials=((b"X-Account", b"ours"),))


@pytest.mark.parametrize("name", ["", "x kind", "x_kind", "x.kind", "x~kind", "Fencing-Token", "Cookie", "Host"])
def test_a_rule_reads_no_name_that_others_read_as_another(name: str) -> None:
    """Nor the gateway's own, a connection's and credentials."""
    assert isinstance(header_to_read(name), Wrong)
    assert header_to_read("X-Kind-2") == "x-kind-2"


@pytest.mark.parametrize("name", ["X-Account", "X-Forwarded-User", "Client-IP", "Http2-Settings", "Cookie", "x_kind"])
def test_a_request_is_judged_by_what_arrives(name: str) -> None:
    """Not by what the gateway drops or replaces; `Via` arrives, unless the gateway adds itself to it."""
    assert isinstance(header_that_arrives(name, UPSTREAM), Wrong)
    assert header_that_arrives("X-Kind", UPSTREAM) == "x-kind"
    assert header_that_arrives("Via", UPSTREAM) == "via"
    assert isinstance(header_that_arrives("Via", replace(UPSTREAM, via=b"gateway")), Wrong)


@pytest.mark.parametrize("name", ["X Y", "Host", "Fencing-Token", "fencing.token", "Fencegate_Key"])
def test_what_never_reaches_an_upstream_cannot_be_sent(name: str) -> None:
    """In no spelling; another name is the upstream's business."""
    assert isinstance(header_to_send(name), Wrong)
    assert header_to_send("X.Api_Key") == b"X.Api_Key"


@pytest.mark.parametrize("name", ["X Y", "Connection", "Set-Cookie", "Date", "Fencing_Epoch", "Idempotent_Replayed"])
def test_what_belongs_to_one_answer_is_not_replayed(name: str) -> None:
    """All else is, in lower case."""
    assert isinstance(header_to_replay(name), Wrong)
    assert header_to_replay("X-Total") == b"x-total"
