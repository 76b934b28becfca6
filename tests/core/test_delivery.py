"""When a delivery that came to nothing is tried again."""

import pytest

from gateway.core.delivery import Again, GivenUp, after_refusal, retry_after_s
from gateway.core.outcome import NotSent, Replied

AWAY = NotSent("unreachable", "connection refused")


@pytest.mark.parametrize(
    ("failures", "after_s"),
    [(0, 1.0), (1, 2.0), (2, 4.0), (8, 256.0), (9, 300.0), (16, 300.0), (100_000, 300.0)],
)
def test_the_distance_doubles_from_a_second_to_five_minutes(failures: int, after_s: float) -> None:
    """And stays there for as long as the upstream is away."""
    assert after_refusal(failures, AWAY, None, 0.0) == Again(after_s)


@pytest.mark.parametrize(("spread", "after_s"), [(0.0, 4.0), (0.5, 3.0), (1.0, 2.0)])
def test_what_failed_together_does_not_come_back_together(spread: float, after_s: float) -> None:
    """Up to half of the distance is taken off."""
    assert after_refusal(2, AWAY, None, spread) == Again(after_s)


@pytest.mark.parametrize(
    ("status", "again"),
    [
        *((status, False) for status in (400, 401, 403, 404, 409, 422)),
        *((status, True) for status in (423, 425, 429, 500, 503, 599)),
    ],
)
def test_only_a_refusal_for_now_is_tried_again(status: int, again: bool) -> None:
    """Any other one would be given again, and hold up the queue meanwhile."""
    after = after_refusal(0, Replied(status, complete=True), None, 0.0)

    assert after == (Again(1.0) if again else GivenUp())


@pytest.mark.parametrize(
    ("asked_s", "after_s"), [(None, 1.0), (0.0, 1.0), (7.0, 7.0), (3600.0, 3600.0), (86_400.0, 3600.0)]
)
def test_an_upstream_says_when_to_come_back(asked_s: float | None, after_s: float) -> None:
    """Never sooner than that; an hour at most."""
    assert after_refusal(0, Replied(429, complete=True), asked_s, 0.0) == Again(after_s)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *((b"0", 0.0), (b"120", 120.0)),
        *((value, None) for value in (None, b"-1", b"1.5", b"", b" 5", b"9" * 10, b"Wed, 21 Oct 2026 07:28:00 GMT")),
    ],
)
def test_seconds_of_a_retry_after_field_are_read(value: bytes | None, seconds: float | None) -> None:
    """RFC 9110, section 10.2.3; a date would need the upstream's clock."""
    assert retry_after_s(value) == seconds
