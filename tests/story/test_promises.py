"""Every promise has its stories."""

import re
from pathlib import Path

import pytest

from tests.pages import README, rows

_HERE = Path(__file__).parent


@pytest.mark.parametrize("promise", ["G1", "G2", "G3", "G4", "G5", "G6", "G7"])
def test_each_promise_of_the_readme_has_a_story(promise: str) -> None:
    """The README's table names a file for each promise, and that file's stories are marked with it."""
    [row] = [row for row in rows(README, "promise") if row[0] == promise]
    found = re.search(r"\((tests/story/[^)]+)\)", row[2])

    assert found is not None
    story = _HERE.parents[1] / found[1]
    assert f'pytest.mark.promise("{promise}")' in story.read_text()
    assert story.read_text().count("async def test_") >= 2
