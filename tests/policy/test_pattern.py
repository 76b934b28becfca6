"""Patterns, and which of two is more specific."""

import pytest

from tests.policy.placing import pattern


@pytest.mark.parametrize(
    ("specific", "other"),
    [
        ("/a/b", "/a/{x}"),
        ("/a/{x}", "/{x}/a"),
        ("/a/{r...}", "/{x}/a"),
        ("/{x}/a", "/{x}/{y}"),
        ("/{x}/{y}", "/{r...}"),
        ("/{x}/{r...}", "/{r...}"),
        ("/a/{x}/b/{y}", "/a/{x}/{y}/b"),
    ],
)
def test_the_more_specific_pattern_precedes(specific: str, other: str) -> None:
    """From the left, text before a placeholder before the rest, however long the patterns are."""
    assert pattern(specific).precedence < pattern(other).precedence


def test_to_lenient_servers_neither_case_nor_a_slash_at_the_end_makes_a_path() -> None:
    """Placeholders stay placeholders."""
    assert pattern("/Ab/{x}/").lenient.shape == pattern("/aB/{y}").lenient.shape == (("ab", None), False, False)
