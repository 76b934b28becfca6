"""A store that becomes unsafe while the gateway runs."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.serve.fitness import Fitness
from gateway.store.durability import PROCESS, Durability
from gateway.store.embedded import find_server, running_store
from gateway.store.fence import FenceStore
from tests.gateway_process import running, starting, write_policy
from tests.store.fences import opened
from tests.store.server import Server
from tests.until import until


@pytest.fixture(scope="module")
def durable_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """As an operator should have it."""
    server = Server(find_server(), tmp_path_factory.mktemp("store"), "--save", "", "--appendonly", "yes")
    server.start()
    yield server
    server.kill()


@pytest.fixture
async def durable_store(durable_server: Server) -> AsyncIterator[FenceStore]:
    async with opened(durable_server.url) as store:
        yield store


class Watched:
    """A fitness, with what it says."""

    def __init__(self, store: FenceStore, directory: Path, durability: Durability = PROCESS) -> None:
        (directory / "metrics").mkdir()
        self._file = directory / "log"
        self._metrics = ParentMetrics(directory / "metrics")
        self._descriptor = self._file.open("wb")
        self.fitness = Fitness(store.link, durability, self._metrics, Log("json", descriptor=self._descriptor.fileno()))

    def events(self) -> list[str]:
        return [json.loads(line)["event"] for line in self._file.read_text().splitlines()]

    def names(self) -> list[str]:
        return [check.name for check in self.fitness.unfit]

    def metric(self) -> bool:
        shown = self._metrics.exposition(store_up=True, workers_ready=1, census=None, writers={})
        return b"fencegate_store_safe 1.0" in shown

    def close(self) -> None:
        self._descriptor.close()


@pytest.fixture
def watched(durable_store: FenceStore, tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(durable_store, tmp_path)
    yield watched
    watched.close()


@pytest.mark.parametrize(
    ("setting", "value", "usual", "check"),
    [
        ("maxmemory-policy", "allkeys-lru", "noeviction", "eviction"),
        ("appendonly", "no", "yes", "persistence"),
        ("appendfsync", "no", "everysec", "flushing"),
    ],
)
async def test_a_setting_that_is_changed_later_is_told_once_each_way(
    watched: Watched, durable_server: Server, setting: str, value: str, usual: str, check: str
) -> None:
    """It is named as long as it lasts, whatever else is looked at meanwhile."""
    with redis.Redis.from_url(durable_server.url) as raw:
        client: Any = raw
        assert await watched.fitness.begin() == []
        client.config_set(setting, value)
        try:
            await watched.fitness.look()
            await watched.fitness.look()
            unsafe = (watched.names(), watched.metric())
        finally:
            client.config_set(setting, usual)
        await watched.fitness.look()
        await watched.fitness.look()

    assert unsafe == ([check], False)
    assert (watched.names(), watched.metric()) == ([], True)
    assert [event.partition(":")[0] for event in watched.events()] == ["the store is unsafe", "the store is safe again"]


async def test_a_primary_that_became_a_replica_is_unsafe(watched: Watched, durable_server: Server) -> None:
    """It may go on answering lookups for long."""
    with redis.Redis.from_url(durable_server.url) as raw:
        client: Any = raw
        assert await watched.fitness.begin() == []
        client.replicaof("127.0.0.1", "9")
        try:
            await watched.fitness.look()
        finally:
            client.replicaof("NO", "ONE")

    assert watched.names() == ["role"]


async def test_what_was_allowed_at_the_start_does_not_keep_it_from_being_ready(
    store: FenceStore, raw: Any, tmp_path: Path
) -> None:
    """The operator has said so; what comes on top has not been allowed. The metric is honest about both."""
    watched = Watched(store, tmp_path)
    try:
        begun = [check.name for check in await watched.fitness.begin()]
        await watched.fitness.look()
        at_first = (watched.names(), watched.metric())
        raw.config_set("maxmemory-policy", "allkeys-lru")
        try:
            await watched.fitness.look()
        finally:
            raw.config_set("maxmemory-policy", "noeviction")
    finally:
        watched.close()

    assert begun == ["persistence"]
    assert at_first == ([], False)
    assert watched.names() == ["eviction"]


async def test_a_store_that_is_away_says_nothing_of_its_settings(tmp_path: Path) -> None:
    """That is told elsewhere, and the last verdict stays."""
    server = Server(find_server(), tmp_path, "--save", "", "--appendonly", "yes")
    server.start()
    async with opened(server.url, timeout_s=0.3) as store:
        watched = Watched(store, tmp_path)
        await watched.fitness.begin()
        server.kill()
        await watched.fitness.look()
        watched.close()

    assert (watched.names(), watched.events()) == ([], [])


async def test_replicas_that_are_missing_are_found(durable_store: FenceStore, tmp_path: Path) -> None:
    """Without them a gateway with `--durability replica:1` refuses every write."""
    watched = Watched(durable_store, tmp_path, Durability(replicas=1))
    found = await watched.fitness.begin()
    watched.close()

    assert [(check.name, check.saw) for check in found] == [("durability", "replica:1, with 0 replicas online")]


@pytest.mark.slow
async def test_a_running_gateway_is_not_ready_while_its_store_is_unsafe(tmp_path: Path) -> None:
    """Within ten seconds of the change, and ready again as soon after it was taken back."""
    write_policy(tmp_path, 9)
    async with running(tmp_path, "--durability", "disk") as gateway:
        url = running_store(tmp_path / "data")
        assert url is not None
        with redis.Redis.from_url(url) as raw:
            client: Any = raw
            flushing = client.config_get("appendfsync")
            ready = (await gateway.operate("GET", "/readyz")).status

            async def is_ready() -> bool:
                return (await gateway.operate("GET", "/readyz")).status == 200

            async def is_not_ready() -> bool:
                return not await is_ready()

            client.config_set("maxmemory-policy", "allkeys-lru")
            await until(is_not_ready)
            told = json.loads((await gateway.operate("GET", "/readyz")).body)["reasons"]
            metrics = (await gateway.operate("GET", "/metrics")).body
            client.config_set("maxmemory-policy", "noeviction")
            await until(is_ready)

        assert (ready, flushing) == (200, {"appendfsync": "always"})
        assert [reason.partition("; ")[0] for reason in told] == ["the store is unsafe: eviction: allkeys-lru"]
        assert b"fencegate_store_safe 0.0" in metrics
        assert [len(gateway.logged(event)) for event in ("the store is unsafe", "the store is safe again")] == [1, 1]


@pytest.mark.slow
async def test_a_store_that_cannot_give_what_is_wanted_is_refused(tmp_path: Path, durable_server: Server) -> None:
    """At the start, with what to do; whoever allows it may have it all the same."""
    write_policy(tmp_path, 9)
    options = ("--store", durable_server.url, "--durability", "disk")
    async with starting(tmp_path, *options) as gateway:
        assert await gateway.process.wait() == 1
        refused = gateway.log.read_text()
    async with running(tmp_path, *options, "--allow-unsafe-store") as gateway:
        ready = await gateway.operate("GET", "/readyz")

    assert "durability: disk, with appendfsync everysec; Set appendfsync always" in refused
    assert ready.status == 200
