"""A gateway to be operated."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.admin.conftest import Admin, listening
from tests.cli.operating import TOKEN


@pytest.fixture
async def admin(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """An admin listener with a token."""
    async with listening(store_url, tmp_path, token=TOKEN) as listener:
        yield listener
