"""Deadlines are plain values."""

from gateway.core.clock import Deadline


def test_a_deadline_names_its_instant_on_both_clocks() -> None:
    """Two deadlines are one if both clocks say the same."""
    assert Deadline(1.0, 2.0) == Deadline(1.0, 2.0)
    assert Deadline(1.0, 2.0) != Deadline(1.0, 3.0)


def test_an_earlier_instant_is_earlier_on_both_clocks() -> None:
    """By the same seconds."""
    assert Deadline(10.0, 1_010.0).earlier(2.5) == Deadline(7.5, 1_007.5)
