"""Values that are frozen to the type checker, and cheap to make."""

import pytest

from gateway.core.frozen import frozen


@frozen
class _Place:
    resource: str
    epoch: int = 0


def test_two_with_the_same_fields_are_one() -> None:
    """Equal and of one hash, as a frozen dataclass is: each may stand for the other in a set."""
    assert _Place("report/7", 42) == _Place("report/7", 42)
    assert {_Place("report/7"), _Place("report/7"), _Place("report/8")} == {_Place("report/7"), _Place("report/8")}


def test_they_have_no_other_fields() -> None:
    """A misspelled field is an error, not a new one."""
    with pytest.raises(AttributeError):
        setattr(_Place("report/7"), "epoc", 42)  # noqa: B010  # by its name, or the type checker sees it
