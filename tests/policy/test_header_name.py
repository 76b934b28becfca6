"""Which header names a policy may name, and for what."""

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_read, header_to_replay, header_to_send


@pytest.mark.parametrize("name", ["", "x kind", "x_kind", "x.kind", "x~kind", "Fencing-Token", "Cookie", "Host"])
def test_a_rule_reads_no_name_that_others_read_as_another(name: str) -> None:
    """Nor the gateway's own, a connection's and credentials."""
    assert isinstance(header_to_read(name), Wrong)
    assert header_to_read("X-Kind-2") == "x-kind-2"


@pytest.mark.parametrize("name", ["X Y", "Host", "Fencing-Token", "fencing.token", "Fencegate_Key"])
def test_what_never_reaches_an_upstream_cannot_be_sent(name: str) -> None:
    """In no spelling; another name is the upstream's business."""
    assert isinstance(header_to_send(name), Wrong)
    assert header_to_send("X.Api_Key") == b"X.Api_Key"


@pytest.mark.parametrize("name", ["X Y", "Connection", "Set-Cookie", "Date", "Fencing-Epoch", "Idempotent-Replayed"])
def test_what_belongs_to_one_answer_is_not_replayed(name: str) -> None:
    """All else is, in lower case."""
    assert isinstance(header_to_replay(name), Wrong)
    assert header_to_replay("X-Total") == b"x-total"
