"""What becomes of a reservation is told by its record, and never by time alone."""

import pytest

from gateway.core.budget import Budget, Claim, Fate, is_spent, is_undone, spelled

LIVES, OVER, FORGOTTEN = 10, 11, 100
CLAIM = Claim("t", until_ms=10, proves_ms=100)


@pytest.mark.parametrize(
    ("fate", "now_ms", "undone", "spent"),
    [
        ("unseen", LIVES, False, False),
        ("not_applied", LIVES, False, False),
        ("unseen", OVER, True, False),
        ("not_applied", OVER, True, False),
        ("not_applied", FORGOTTEN, True, False),
        ("denied", OVER, True, False),
        ("expired", OVER, True, False),
        ("superseded", OVER, True, False),
        ("failed", OVER, True, False),
        ("in_flight", FORGOTTEN, False, False),
        ("unknown", FORGOTTEN, False, False),
        ("queued", FORGOTTEN, False, False),
        ("awaiting_approval", FORGOTTEN, False, False),
        ("compensating", OVER, False, True),
        ("compensated", OVER, False, True),
        ("applied", LIVES, False, True),
        ("unseen", FORGOTTEN, False, True),
    ],
    ids=str,
)
def test_what_is_proved_of_a_claim(fate: Fate, now_ms: int, undone: bool, spent: bool) -> None:
    """Given back is what did nothing and will not; what may have been done, or was, or is forgotten, stays taken."""
    assert (is_undone(CLAIM, fate, now_ms), is_spent([CLAIM], fate, now_ms)) == (undone, spent)


def test_the_limits_are_no_part_of_a_budget_s_name() -> None:
    """What was used under one limit is used under the next; another window or value is another budget."""
    one = Budget("tenant", 3600, count=5)

    assert one.name == Budget("tenant", 3600, count=9).name
    others = {Budget("holder", 3600).name, Budget("tenant", 60).name, Budget("tenant", 3600, value="/a").name}
    assert one.name not in others and len(others) == 3


@pytest.mark.parametrize(
    ("millionths", "text"), [(0, "0"), (1, "0.000001"), (12_500_000, "12.5"), (10_000_000, "10"), (100 * 10**6, "100")]
)
def test_an_amount_is_spelled_as_people_write_it(millionths: int, text: str) -> None:
    """Without a trailing zero, and without losing one of the number's own."""
    assert spelled(millionths) == text
