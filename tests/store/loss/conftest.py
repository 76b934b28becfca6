"""A lease of a store that has told of a loss since."""

from typing import Any

import pytest

from gateway.core.lease import Lease
from gateway.store.fence import FenceStore
from tests.store.fences import granted
from tests.store.lost import lose


@pytest.fixture
async def lease(store: FenceStore, raw: Any) -> Lease:
    """Of the time before the loss."""
    before = await granted(store)
    lose(raw, before.epoch + 1)
    return before
