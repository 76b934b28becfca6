"""A store that went back in time lets nobody in who was overtaken (G1, G6): not by a token that it has forgotten to be
dead, nor a second time by a key that it has forgotten.
"""

import asyncio
import contextlib
import json
import shutil
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis

from gateway.store.embedded import find_server
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream
from tests.store.server import Server
from tests.story.gateways import Gateway
from tests.until import until

pytestmark = [pytest.mark.slow, pytest.mark.promise("G6")]

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 2s}}
defaults:
  fence: {{drain_timeout: 10s}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
"""
WRITES = 50


@dataclass
class Story:
    """A takeover that the store is about to forget: A wrote, B took over and wrote."""

    gateway: Gateway
    upstream: RecordingUpstream

    async def take(self, holder: str, *, takeover: bool = False) -> None:
        await self.gateway.lease("report/7", holder, takeover=takeover)

    async def took(self, holder: str) -> bool:
        asked = json.dumps({"resource": "report/7", "holder": holder, "ttl_s": 60}).encode()
        answer = await ask(self.gateway.port, "POST", "/-/fence/leases", body=asked)
        assert answer.status == 201 or answer.decision == "store-regressed", answer.body
        if answer.status == 201:
            self.gateway.tokens[holder] = json.loads(answer.body)["token"]
        return answer.status == 201

    async def put(self, holder: str, *fields: str) -> RawAnswer:
        token = f"Fencing-Token: {self.gateway.tokens[holder]}"
        return await ask(self.gateway.port, "PUT", "/reports/7", token, *fields, body=f'"{holder}"'.encode())

    async def ready(self) -> bool:
        return (await ask(self.gateway.admin, "GET", "/readyz", host="localhost")).status == 200

    def executed(self) -> list[str]:
        return [seen.body.decode().strip('"') for seen in self.upstream.seen]


@contextlib.asynccontextmanager
async def beginning(directory: Path, store: str | None, *options: str) -> AsyncIterator[Story]:
    async with RecordingUpstream() as upstream:
        (directory / "policies").mkdir()
        (directory / "policies" / "reports.yaml").write_text(POLICY.format(port=upstream.port))
        async with Gateway(directory / "policies", directory / "one", store, options) as gateway:
            yield Story(gateway, upstream)


async def went_on(story: Story) -> None:
    """What everybody sees of the loss, from its discovery to its end."""
    for holder in ("A", "B"):
        old = await story.put(holder)
        assert (old.status, old.decision, old.problem["action"]) == (503, "store-regressed", "wait"), old.body
        assert old.value("Retry-After") is not None
    assert not await story.ready()
    assert (await ask(story.gateway.port, "GET", "/reports/7")).decision == "passed"

    # Each worker learns of the loss at its own next mark; until then it grants nothing.
    await until(lambda: story.took("C"))
    new = await story.put("C")
    assert (new.status, new.decision) == (200, "forwarded"), new.body
    keyed = await story.put("C", "Idempotency-Key: k-1")
    assert keyed.decision == "store-regressed"

    counted = await story.gateway.counted("fencegate_incidents_total", "kind")
    assert counted["store-regressed"] == 1
    assert "store accept" in await story.gateway.command("store")
    assert "writes go on" in await story.gateway.command("store", "accept", "--note", "looked at the reports")
    assert await story.ready()
    for holder in ("A", "B"):
        assert (await story.put(holder)).status == 412
    assert (await story.put("C", "Idempotency-Key: k-1")).status == 200
    trail = await ask(story.gateway.admin, "GET", "/api/v1/audit", host="localhost")
    steps = [item["to"] for item in json.loads(trail.body)["items"]]
    assert {"regressed", "accepted"} <= set(steps)


async def takeover(story: Story) -> None:
    await story.take("A")
    assert (await story.put("A")).status == 200


async def overtaken(story: Story) -> None:
    """B takes over and writes, and somebody writes this and that besides."""
    await story.take("B", takeover=True)
    assert (await story.put("B")).status == 200
    assert (await story.put("B", "Idempotency-Key: k-1")).status == 200
    await asyncio.gather(*(story.gateway.lease(f"report/{number}", "D") for number in range(100, 100 + WRITES)))


async def test_a_store_is_emptied_under_running_gateways(shared_store: Server, tmp_path: Path) -> None:
    """FLUSHALL: no connection is lost, and still every worker obeys within a second or two."""
    async with beginning(tmp_path, shared_store.url, "--workers", "2") as story:
        await takeover(story)
        await overtaken(story)
        with redis.Redis.from_url(shared_store.url) as client:
            client.flushall()

            await until(lambda: client.hget("fg:{000}:store", "since") is not None, within_s=20)
        await went_on(story)

        assert "A" not in story.executed()[1:]
        assert story.executed().count("B") == 2


LOSSES = ("gone", "a copy from before", "truncated")


@pytest.mark.parametrize("loss", LOSSES)
async def test_a_store_comes_back_without_its_newest_work(shared_store: Server, tmp_path: Path, loss: str) -> None:
    """Killed; its file is gone, or replaced by a copy from before the takeover, or cut off."""
    files, copy = tmp_path / "store" / "appendonlydir", tmp_path / "copy"
    async with beginning(tmp_path, shared_store.url, "--workers", "2") as story:
        await takeover(story)
        await _flushed(shared_store)
        shutil.copytree(files, copy)
        size = {file.name: file.stat().st_size for file in files.iterdir()}
        await overtaken(story)
        await _flushed(shared_store)
        shared_store.kill()
        if loss == "truncated":
            for file in files.glob("*.incr.aof"):
                with file.open("r+b") as opened:
                    # In the middle of a command, as a crash leaves it.
                    opened.truncate(size[file.name] - 3)
        else:
            shutil.rmtree(files)
        if loss == "a copy from before":
            shutil.copytree(copy, files)
        shared_store.start()
        await _answers(story)
        await went_on(story)

        assert "A" not in story.executed()[1:]
        assert story.executed().count("B") == 2


async def _flushed(server: Server) -> None:
    """Its file has everything."""
    with redis.Redis.from_url(server.url) as client:
        client.config_set("appendfsync", "always")
        client.set("fg:flushed", 1)


async def _answers(story: Story) -> None:
    """The gateway has a store again."""

    async def is_there() -> bool:
        return (await story.put("B")).decision != "store-unavailable"

    await until(is_there, within_s=60)


async def test_a_replica_that_lags_takes_over(tmp_path: Path) -> None:
    """It was promoted by hand, without the last takeover; the gateways reach it under the same name (G1)."""
    primary, replica = _server(tmp_path / "a"), _server(tmp_path / "b")
    address = tmp_path / "store.sock"
    primary.start()
    replica.start()
    try:
        address.symlink_to(tmp_path / "a" / "s")
        with redis.Redis.from_url(primary.url) as first, redis.Redis.from_url(replica.url) as second:
            second.replicaof("127.0.0.1", first.config_get("port")["port"])
            async with beginning(tmp_path, f"unix://{address}", "--workers", "2") as story:
                await takeover(story)
                first.wait(1, 10_000)
                second.replicaof("NO", "ONE")
                await overtaken(story)
                address.unlink()
                address.symlink_to(tmp_path / "b" / "s")
                primary.kill()
                await _answers(story)
                await went_on(story)

                assert "A" not in story.executed()[1:]
                assert story.executed().count("B") == 2
    finally:
        replica.kill()
        with contextlib.suppress(Exception):
            primary.kill()


def _server(directory: Path) -> Server:
    directory.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    durable = (
        "--appendonly",
        "yes",
        "--maxmemory-policy",
        "noeviction",
        "--save",
        "",
        "--repl-diskless-sync-delay",
        "0",
    )
    return Server(find_server(), directory, "--port", str(port), "--bind", "127.0.0.1", *durable)


async def test_everything_is_restarted_on_a_former_copy(tmp_path: Path) -> None:
    """The gateway and its bundled store; what the gateway's own file remembers proves that the store does not."""
    data, copy = tmp_path / "one" / "data", tmp_path / "copy"
    async with beginning(tmp_path, None) as story:
        await takeover(story)
        await story.gateway.end()
        shutil.copytree(data / "appendonlydir", copy)
        await story.gateway.start()
        await overtaken(story)
        await story.gateway.end()
        shutil.rmtree(data / "appendonlydir")
        shutil.copytree(copy, data / "appendonlydir")
        await story.gateway.start()
        await went_on(story)

        assert "A" not in story.executed()[1:]
        assert story.executed().count("B") == 2


async def test_everything_is_restarted_and_nothing_is_missing(tmp_path: Path) -> None:
    """No alarm: the lease lives on, and so does the key."""
    async with beginning(tmp_path, None) as story:
        await takeover(story)
        await overtaken(story)
        await story.gateway.kill()
        await story.gateway.start()

        assert (await story.put("B", "Idempotency-Key: k-1")).decision == "replayed"
        assert (await story.put("A")).decision == "stale-epoch"
        assert await story.ready()
