"""What the store is for these tests: one server, and for the scripts' exercises (slow) also a cluster, and a user who
has no more rights than the one in `deploy`.
"""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from tests.store.replicas import Replicated, replicated
from tests.store.rights import allow
from tests.store.server import Server
from tests.store.topology.cluster import ClusterOfNodes, start_cluster

_REDIS = shutil.which("redis-server")
_OTHERS = ("cluster", "user", *(["redis cluster"] if _REDIS else []))
_TOPOLOGIES = ["server", *(pytest.param(name, marks=pytest.mark.slow) for name in _OTHERS)]
_EXERCISES = {
    *("admit", "ask", "audit", "audit_chain", "audit_seals", "audit_views"),
    *("budgeted", "budgets", "compensations", "compensation_views"),
    *("deliveries", "evidence", "extend", "intent_views", "intents", "kept_requests", "lease", "lease_keys"),
    *("letters", "native_keys", "outbox", "parking", "pause", "pauses", "pause_views", "peek", "prune", "quarantine"),
    *("questions", "quotas", "records", "reservations", "resolve", "resource_views", "retries", "settle"),
    *("late_calls", "set_back", "stale_deliveries", "sweep", "turns"),
    *("former", "overtaken_deliveries", "parked_wholeness", "share", "wholeness"),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.module.__name__.rpartition(".test_")[2]
    if "topology" in metafunc.fixturenames and name in _EXERCISES:
        # It compares dumps, in which that server does not keep the order of a hash's fields.
        left_out = len(_OTHERS) - 2 if name == "quarantine" else 0
        metafunc.parametrize("topology", _TOPOLOGIES[: len(_TOPOLOGIES) - left_out])


@pytest.fixture
def topology() -> str:
    return "server"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterOfNodes]:
    """Three primaries that keep nothing."""
    cluster = start_cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


@pytest.fixture(scope="session")
def redis_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterOfNodes]:
    """The same of a redis-server on PATH."""
    cluster = start_cluster(tmp_path_factory.mktemp("redis"), binary=_REDIS)
    yield cluster
    cluster.stop()


def _nodes(topology: str, request: pytest.FixtureRequest) -> ClusterOfNodes | None:
    if not topology.endswith("cluster"):
        return None
    nodes: ClusterOfNodes = request.getfixturevalue(topology.replace(" ", "_"))
    return nodes


@pytest.fixture
def store_url(topology: str, request: pytest.FixtureRequest) -> str:
    """An empty store."""
    if nodes := _nodes(topology, request):
        nodes.flush()
        return nodes.url
    server: Server = request.getfixturevalue("store_server")
    with redis.Redis.from_url(server.url) as client:
        client.flushall()
        if topology == "user":
            return allow(client, server.url)
    return server.url


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicated]:
    """A primary and its replica; neither keeps anything."""
    with replicated(tmp_path_factory.mktemp("pair")) as pair:
        yield pair


@pytest.fixture
def raw(store_url: str, topology: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A client of the same store, to look at its records and to damage them. Untyped: redis-py's replies are unions."""
    if nodes := _nodes(topology, request):
        with nodes.client() as client:
            yield client
        return
    server: Server = request.getfixturevalue("store_server")
    with redis.Redis.from_url(server.url) as client:
        yield client
