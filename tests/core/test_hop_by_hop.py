"""Which fields belong to a connection, and not to the request that came over it."""

import pytest

from gateway.core.hop_by_hop import nominated


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        pytest.param([], set(), id="no Connection"),
        pytest.param([b"keep-alive"], set(), id="what nearly everybody says"),
        pytest.param([b"X-Trace"], {b"x-trace"}, id="a field of its own"),
        pytest.param([b"close, X_Trace ,x.id"], {b"close", b"x-trace", b"x-id"}, id="several, spelled in any way"),
        pytest.param([b"close", b"x-id"], {b"close", b"x-id"}, id="over several lines"),
    ],
)
def test_a_connection_names_its_own_fields(lines: list[bytes], fields: set[bytes]) -> None:
    """RFC 9110, section 7.6.1: every line counts."""
    assert nominated(lines) == fields
