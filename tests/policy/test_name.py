"""The names that a policy gives."""

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.name import parse_name


@pytest.mark.parametrize("text", ["a", "7", "reports.v2_eu-west", "a" * 64])
def test_a_name_is_plain(text: str) -> None:
    """Letters, digits and three marks."""
    assert parse_name(text) == text


@pytest.mark.parametrize("text", ["", "-a", "a b", "a:b", "ä", "a\n", "a" * 65])
def test_what_a_metric_or_a_log_line_would_have_to_quote_is_no_name(text: str) -> None:
    """Nor what begins like an option."""
    assert isinstance(parse_name(text), Wrong)
