"""Globs over resources."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.glob import parse_glob


def matches(text: str, resource: str) -> bool:
    glob = parse_glob(text)
    assert glob is not None
    return glob.matches(resource.split("/"))


@pytest.mark.parametrize(
    ("glob", "resource", "taken"),
    [
        ("report/7", "report/7", True),
        ("report/7", "report/70", False),
        ("report/*", "report/7", True),
        ("report/*", "report/7/draft", False),
        ("report/*", "report", False),
        ("report/*", "reports/7", False),
        ("report/c*", "report/c", True),
        ("report/*-eu", "report/7-eu", True),
        ("report/a*b*a", "report/aba", True),
        ("report/a*a", "report/a", False),
        ("report/a*bc*c", "report/abc", False),
        ("**", "report/7/draft", True),
        ("report/**", "report/7/draft", True),
        ("report/**", "report", False),
        ("report/**/draft", "report/7/8/draft", True),
        ("report/**/draft", "report/draft", False),
        ("**/a/**/a", "x/a/x/a", True),
        ("**/a/**/a", "x/a/a", False),
        ("**/**", "x", False),
        ("Report/*", "report/7", False),
        ("report/7%2F8", "report/7%2F8", True),
    ],
)
def test_a_star_stays_within_its_segment(glob: str, resource: str, taken: bool) -> None:
    """Two stars, alone between slashes, are one segment or more; all else is itself."""
    assert matches(glob, resource) is taken


@pytest.mark.parametrize("text", ["", "/", "/a", "a/", "a//b", "a**", "**a/b", "a/***", "a\n", "a" * 513])
def test_what_is_no_glob_is_none(text: str) -> None:
    """Nobody has to guess what `a**` takes."""
    assert parse_glob(text) is None


_GLOBS = st.lists(st.sampled_from(["**", "*", "a", "a*", "*b", "a*b", "*a*"]), min_size=1, max_size=5).map("/".join)
_NAMES = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=6).map("/".join)


@given(_GLOBS, _NAMES)
def test_globs_are_what_their_patterns_are(glob: str, resource: str) -> None:
    """The same as a regular expression that tries everything."""
    wanted = "/".join("[^/]+(?:/[^/]+)*" if one == "**" else one.replace("*", "[^/]*") for one in glob.split("/"))

    assert matches(glob, resource) is (re.fullmatch(wanted, resource) is not None)


@pytest.mark.parametrize(
    ("glob", "resource"),
    [("*a" * 170 + "*b", "a" * 512), ("/".join(["**", "a"] * 100) + "/b", "/".join("a" * 256))],
    ids=["stars", "double stars"],
)
def test_a_hostile_resource_costs_little(glob: str, resource: str) -> None:
    """Backtracking would take longer than the universe has been there."""
    began = time.process_time()

    assert not matches(glob, resource)
    assert time.process_time() - began < 0.1
