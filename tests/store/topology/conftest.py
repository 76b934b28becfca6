"""Real nodes for these tests."""

from collections.abc import Iterator

import pytest

from tests.store.topology.guarded import GuardedServers, start_guarded


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedServers]:
    """One primary that one sentinel names: nothing fails over."""
    guarded = start_guarded(tmp_path_factory.mktemp("guarded"), 0, 1)
    yield guarded
    guarded.stop()
