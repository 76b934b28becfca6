"""What wrk prints is read, or refused."""

import pytest

from tests.bench.wrk import Report, read_report

_SAID = """Running 2s test @ http://127.0.0.1:9000
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.50ms  450.00us   9.10ms   90.00%
    Req/Sec    12.70k     1.10k   15.00k    70.00%
  Latency Distribution
     50%    {p50}
     75%    2.80ms
     90%    3.10ms
     99%    1.02s
  25400 requests in 2.00s, 4.10MB read
{more}Requests/sec:  12700.25
Transfer/sec:      2.05MB
"""


@pytest.mark.parametrize(
    ("spelled", "p50_ms"),
    [
        pytest.param("812.00us", 0.812, id="microseconds"),
        pytest.param("2.40ms", 2.4, id="milliseconds"),
        pytest.param("1.50s", 1500.0, id="seconds"),
    ],
)
def test_a_report_is_read_in_milliseconds(spelled: str, p50_ms: float) -> None:
    """wrk changes its unit with the value."""
    assert read_report(_SAID.format(p50=spelled, more="")) == Report(25400, 12700.25, p50_ms, 1020.0, 0)


def test_refusals_and_broken_connections_count_as_failed() -> None:
    """A refusal costs less than a write: rates with some among them compare with nothing."""
    more = "  Socket errors: connect 1, read 2, write 0, timeout 4\n  Non-2xx or 3xx responses: 30\n"

    assert read_report(_SAID.format(p50="1.00ms", more=more)).failed == 37


@pytest.mark.parametrize("text", ["", "unable to connect to 127.0.0.1:9000", _SAID.format(p50="nan", more="")])
def test_anything_else_is_refused(text: str) -> None:
    """Half a report is none."""
    with pytest.raises(ValueError, match="wrk"):
        read_report(text)
