"""A durable store of the stories' own, on disk, shared by the gateways of one story."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.store.embedded import find_server
from tests.store.server import Server


@pytest.fixture
def shared_store(tmp_path: Path) -> Iterator[Server]:
    """A server with an append-only file, as an operator would run it."""
    directory = tmp_path / "store"
    directory.mkdir()
    server = Server(find_server(), directory, "--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction")
    server.start()
    yield server
    server.kill()
