"""Patterns, and which of two is more specific."""

import pytest

from gateway.policy.pattern import by_method
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


@pytest.mark.parametrize(
    ("path", "told"), [("/a/{x}", (0, 1)), ("/{x}/a/{r...}", (1, 0, 2, 2, 2)), ("/{r...}", (2, 2)), ("/a", (0,))]
)
def test_each_place_of_a_path_is_taken_by_text_a_placeholder_or_the_rest(path: str, told: tuple[int, ...]) -> None:
    """The rest takes all places from its own on."""
    assert tuple(pattern(path).openness(place) for place in range(len(told))) == told


def test_to_lenient_servers_neither_case_nor_a_slash_at_the_end_makes_a_path() -> None:
    """Nor other marks; placeholders stay placeholders."""
    assert pattern("/a-b/{x_y}").lenient.shape == pattern("/a_b/{z}").lenient.shape
    assert pattern("/Ab/{x}/").lenient.shape == pattern("/aB/{y}").lenient.shape == (("ab", None), False, False)


def test_text_stands_where_neither_a_placeholder_nor_the_rest_does() -> None:
    """Behind the last segment there is none."""
    assert [pattern("/a/{x}/{r...}").names_text(place) for place in range(4)] == [True, False, False, False]
    assert [pattern("/a").names_text(place) for place in range(2)] == [True, False]


def test_a_pattern_of_several_methods_is_found_under_each() -> None:
    """In their order."""
    first, second = pattern("/a", "PUT,POST"), pattern("/b", "POST")

    assert by_method((first, second)) == {"PUT": [first], "POST": [first, second]}
