"""One real store server for the whole session; an empty database for each test that asks for `store_url`."""

from collections.abc import Iterator

import pytest
import redis

from gateway.store.embedded import find_server
from tests.store.server import Server


@pytest.fixture(scope="session")
def store_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that keeps nothing."""
    server = Server(find_server(), tmp_path_factory.mktemp("store"), "--save", "", "--appendonly", "no")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def store_url(store_server: Server) -> str:
    with redis.Redis.from_url(store_server.url) as client:
        client.flushall()
    return store_server.url
