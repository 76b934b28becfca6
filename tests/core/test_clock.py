"""Deadlines are plain values."""

from gateway.core.clock import Deadline


def test_a_deadline_names_its_instant_on_both_clocks() -> None:
    """Two deadlines are one if both clocks say the same."""
    assert Deadline(1.0, 2.0) == Deadline(1.0, 2.0)
    assert Deadline(1.0, 2.0) != Deadline(1.0, 3.0)
