"""From a URL to a connection: what is said of a store that cannot be had."""

import asyncio

import pytest

from gateway.core.faults import StoreUnavailable
from tests.store.fences import opened
from tests.until import until


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


class Silent:
    """Accepts, and says nothing: how many connections there were, and how many have been closed."""

    def __init__(self) -> None:
        self.opened = self.closed = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        while await reader.read(4096):
            pass
        self.closed += 1
        writer.close()


@pytest.mark.parametrize("form", ["redis://{}", "redis+cluster://{}", "redis+sentinel://{}/fence"])
async def test_whoever_is_cancelled_while_it_connects_leaves_no_connection_open(form: str) -> None:
    """Nor a task that would go on connecting."""
    silent, before = Silent(), asyncio.all_tasks()
    server = await asyncio.start_server(silent.serve, "127.0.0.1", 0)
    url = form.format("{}:{}".format(*server.sockets[0].getsockname()))
    opening = asyncio.get_running_loop().create_task(_open(url))
    await until(lambda: silent.opened > 0)

    opening.cancel()
    await asyncio.wait({opening})

    assert opening.cancelled()
    await until(lambda: silent.opened == silent.closed and asyncio.all_tasks() == before, within_s=5)
    server.close()


async def _open(url: str) -> None:
    async with opened(url, timeout_s=60):
        pass
