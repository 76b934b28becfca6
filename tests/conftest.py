"""One real store server for the whole session; an empty database for each test that asks for `store_url`."""

import gc
import importlib.metadata
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, settings

from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from tests.store.fences import opened
from tests.store.server import Server

# How long an example takes, or its drawing, says how busy the machine is.
settings.register_profile("untimed", deadline=None, suppress_health_check=(HealthCheck.too_slow,))
settings.load_profile("untimed")

# redis-py asks for its own version at every connection, and would parse it out of a long file each time: a tenth of
# what a test with a store takes.
importlib.metadata.version = cache(importlib.metadata.version)


@pytest.fixture(scope="module", autouse=True)
def _garbage() -> Iterator[None]:
    """What a test leaves open fails its own file, and not whichever test runs when the collector comes by."""
    yield
    gc.collect()
    # What lives on belongs to no test: the next time it is not gone through again.
    gc.freeze()


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


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[FenceStore]:
    """A gateway's connection to an empty store."""
    async with opened(store_url) as store:
        yield store


@pytest.fixture
def raw(store_url: str) -> Iterator[Any]:
    """A client of the same store, to look at its records and to damage them. Untyped: redis-py's replies are unions."""
    with redis.Redis.from_url(store_url) as client:
        yield client
