"""The promises hold in every world, whatever happens in whatever order."""

import pytest

from tests.model.explore.run import run
from tests.model.explore.worlds import LARGE, SMALL


@pytest.mark.parametrize("name", SMALL)
def test_a_small_world_holds(name: str, store_url: str) -> None:
    """To its end."""
    explored = run(store_url, SMALL[name])
    assert explored.violation is None, str(explored.violation)
    assert explored.is_whole


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", LARGE)
def test_a_large_world_holds(name: str, store_url: str) -> None:
    """To its end, in minutes."""
    explored = run(store_url, LARGE[name])
    assert explored.violation is None, str(explored.violation)
    assert explored.is_whole
