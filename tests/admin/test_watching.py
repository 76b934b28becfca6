"""What a process that only delivers answers to those who watch it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from gateway.admin.watching import Delivering, build_watching
from gateway.metrics.deliverer import DelivererMetrics
from gateway.store.fence import FenceStore
from tests.raw import RawAnswer, ask

TOKEN = "0123456789abcdef"


@dataclass
class Watched:
    """A listener, and what it tells."""

    port: int
    metrics: DelivererMetrics
    stopping: bool = False

    async def call(self, path: str, *fields: str, method: str = "GET", host: str = "localhost") -> RawAnswer:
        return await ask(self.port, method, path, *fields, host=host)


@asynccontextmanager
async def watched(store: FenceStore, token: str | None = None) -> AsyncIterator[Watched]:
    told = Watched(0, DelivererMetrics(("mail",)))
    app = build_watching(Delivering(store, lambda: told.stopping, told.metrics), token=token, on_loopback=True)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        told.port = runner.addresses[0][1]
        yield told
    finally:
        await runner.cleanup()


async def test_what_it_counts_is_told(store: FenceStore) -> None:
    """With its version and whether its store is up; series are there before anything happens."""
    async with watched(store) as one:
        one.metrics.counted.store_called("take", 0.001)
        answer = await one.call("/metrics")

    lines = answer.body.decode().splitlines()
    assert answer.status == 200
    assert "fencegate_store_up 1.0" in lines
    assert 'fencegate_in_flight{upstream="mail"} 0.0' in lines
    assert 'fencegate_store_seconds_count{script="take"} 1.0' in lines
    assert any(line.startswith("fencegate_build_info{") for line in lines)


async def test_it_is_ready_until_it_is_told_to_end(store: FenceStore) -> None:
    """And up for as long as it answers."""
    async with watched(store) as one:
        ready = await one.call("/readyz")
        one.stopping = True
        stopping, up = await one.call("/readyz"), await one.call("/healthz")

    assert (ready.status, up.status) == (200, 200)
    assert (stopping.status, json.loads(stopping.body)["reasons"]) == (503, ["the process is stopping"])


async def test_only_who_has_the_token_sees_metrics(store: FenceStore) -> None:
    """Where there is one; an orchestrator needs none for the rest."""
    async with watched(store, TOKEN) as one:
        answers = [
            (await one.call("/metrics")).status,
            (await one.call("/metrics", f"Authorization: Bearer {TOKEN}")).status,
            (await one.call("/readyz")).status,
        ]

    assert answers == [401, 200, 200]


async def test_there_is_nothing_else(store: FenceStore) -> None:
    """No call of operators, no other method, and nothing for a name that was rebound to this machine."""
    async with watched(store) as one:
        answers = [
            (await one.call("/api/v1/resources")).status,
            (await one.call("/healthz", "Content-Type: application/json", method="POST")).status,
            (await one.call("/metrics", host="evil.example")).status,
        ]

    assert answers == [404, 405, 403]
