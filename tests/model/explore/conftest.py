"""Scripts on the session's server, and gateways on them, for as long as a test lasts."""

from collections.abc import Iterator

import pytest

from tests.model.explore.gateway import SHARD, Gateways
from tests.model.explore.shelf import Shelf


@pytest.fixture
def gateways(store_url: str) -> Iterator[Gateways]:
    """Two, of the product as it is."""
    made = Gateways(Shelf(store_url, shard=SHARD), 2)
    yield made
    made.close()
