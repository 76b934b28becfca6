"""The rows that another benchmark prints."""

import pytest

from tests.bench.figure import Figure
from tests.bench.matching import read_row


def test_a_name_may_have_blanks() -> None:
    """The value and its unit come last."""
    assert read_row("product: found last        3.14 us") == Figure("product: found last", "us").of([3.14])


def test_a_row_without_a_value_is_refused() -> None:
    """It is no row of that benchmark."""
    with pytest.raises(ValueError, match="convert"):
        read_row("product: found last us")
