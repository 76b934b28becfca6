"""From a URL to a connection: what is said of a store that cannot be had."""

import pytest

from gateway.core.faults import StoreUnavailable
from tests.store.fences import opened


@pytest.mark.parametrize(
    "url",
    [
        "redis://agent:hunter2@127.0.0.1:1/0",
        "redis://a@t:hunter2@127.0.0.1:1",
        "redis://:hunter2@127.0.0.1:1",
        "redis://127.0.0.1:1?password=hunter2",
        "redis+sentinel://fence:hunter2@127.0.0.1:1/fence?sentinel_password=hunter2",
        "unix:///nowhere/at/all?password=hunter2",
    ],
)
async def test_a_store_that_cannot_be_reached_is_named_without_its_password(url: str) -> None:
    """Wherever the password stands in the URL."""
    with pytest.raises(StoreUnavailable) as raised:
        async with opened(url, timeout_s=0.3):
            pass

    assert "hunter2" not in str(raised.value)
    assert "127.0.0.1:1" in str(raised.value) or "/nowhere" in str(raised.value)
