"""Which of many patterns take a path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.target import Target, read_target
from gateway.policy.paths import Paths
from gateway.policy.pattern import Pattern, split_slash
from tests.policy.placing import pattern, patterns, targets


def takers(every: list[Pattern], raw: str) -> list[Pattern]:
    target = read_target(raw)
    assert isinstance(target, Target)
    bits = Paths(every).takers(*split_slash(target))
    return [one for at, one in enumerate(every) if bits >> at & 1]


@pytest.mark.parametrize(
    ("raw", "taken"),
    [
        ("/", ["/"]),
        ("/a", ["/a", "/{x}", "/{r...}"]),
        ("/a/", ["/a/"]),
        ("/b", ["/{x}", "/{r...}"]),
        ("/a/b", ["/a/b", "/a/{r...}", "/{r...}"]),
        ("/a/c", ["/a/{r...}", "/{r...}"]),
        ("/b/a/", []),
        ("/b" * 100, ["/{r...}"]),
    ],
)
def test_each_pattern_that_takes_a_path_is_told(raw: str, taken: list[str]) -> None:
    """By its length, the slash at its end, and its segments; a rest takes one segment or more."""
    every = [pattern(path) for path in ("/", "/a", "/a/", "/{x}", "/a/b", "/a/{r...}", "/{r...}")]

    assert takers(every, raw) == [pattern(path) for path in taken]


def test_without_patterns_nothing_is_taken() -> None:
    """A policy may have no rules at all."""
    assert takers([], "/a") == []


@given(st.lists(patterns, max_size=12), targets)
def test_all_together_take_what_each_takes_alone(every: list[Pattern], raw: str) -> None:
    """However patterns overlap."""
    target = read_target(raw)
    assert isinstance(target, Target)

    assert takers(every, raw) == [one for one in every if one.takes(target)]
