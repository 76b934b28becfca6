"""How a parked intent's words are read."""

from dataclasses import replace

import pytest

from gateway.core.parking import Approval, Parking, parse_parking


def test_one_that_was_never_parked_has_no_words() -> None:
    """As most have."""
    assert parse_parking("") is None


def test_one_that_is_queued_says_since_when_and_how_often_it_failed() -> None:
    """Nobody is asked about it."""
    assert parse_parking("since:1700 failures:3 digest:abc_- risk:low") == Parking("abc_-", "low", 1700, 3)


@pytest.mark.parametrize(
    ("words", "approval"),
    [
        ("approval:awaited expires:9000", Approval("awaited", 9000)),
        ("approval:given expires:9000 by:anna", Approval("given", 9000, "anna")),
        ("approval:refused expires:9000 by:operator", Approval("refused", 9000, "operator")),
    ],
)
def test_one_that_wants_an_approval_says_until_when_and_who_decided(words: str, approval: Approval) -> None:
    """It is told for as long as the record is kept."""
    parking = parse_parking(f"since:1 failures:0 digest:d risk:high {words}")

    assert parking == Parking("d", "high", 1, 0, approval)


def test_a_keeping_has_its_own_name() -> None:
    """Another request under the key, the same one kept anew, and one of which a delivery has ended have other names."""
    one = Parking("abc", "low", 1700)
    others = (replace(one, digest="abd"), replace(one, since_ms=1701), replace(one, failures=1))

    assert one.keeping == "1700.0.abc"
    assert len({one.keeping, *(other.keeping for other in others)}) == 4
