"""Revisions where the store is full or away: reads pass; what was based on a count waits for one that can be told."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from gateway.store.embedded import find_server
from tests.raw import ask
from tests.stack import POLICY, Stack, stack
from tests.store.server import Server
from tests.until import until

COUNTED = POLICY + "    revision: gateway\n    intent: {{mode: optional}}\n"
AWAY = (503, "store-unavailable", "retry", "1")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """One that may be filled and stopped."""
    server = Server(find_server(), tmp_path, "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")
    server.start()
    yield server
    server.kill()


async def based_on(gate: Stack, revision: int, *fields: str) -> tuple[int, str | None, object, str | None]:
    """What a write that is based on this count is told."""
    answer = await gate.write("/reports/7", f"Fencing-If-Revision: {revision}", *fields)
    return answer.status, answer.decision, answer.problem["action"], answer.value("Retry-After")


async def count_shown(gate: Stack, *fields: str) -> tuple[str | None, str | None]:
    answer = await ask(gate.port, "GET", "/reports/7", *fields)
    return answer.decision, answer.value("Fencing-Revision")


async def goes_on(gate: Stack, revision: int) -> None:
    """The next write has the place that none before it took."""

    async def passes() -> bool:
        return (await gate.write("/reports/7", f"Fencing-If-Revision: {revision}")).status == 200

    async def is_shown() -> bool:
        return (await count_shown(gate))[1] == str(revision + 1)

    await until(passes)
    await until(is_shown)
    assert len(gate.upstream.seen) == (revision + 1) + reads(gate)


def reads(gate: Stack) -> int:
    """What the API was asked without being written."""
    return sum(seen.line.startswith("GET") for seen in gate.upstream.seen)


async def test_a_full_store_counts_on_and_takes_no_write(server: Server, tmp_path: Path) -> None:
    """503 for what would have been right, which costs no place; 412 for what is wrong in any case."""
    async with stack(server.url, tmp_path, COUNTED) as gate:
        await gate.lease("report/7")
        await gate.write("/reports/7", "Fencing-If-Revision: 0")
        with redis.Redis.from_url(server.url) as client:
            client.config_set("maxmemory", 1)
            shown = [await count_shown(gate), await count_shown(gate, "Fencing-If-Revision: 7")]
            refused = [await based_on(gate, 1), await based_on(gate, 1, "Idempotency-Key: k-1")]
            wrong = await based_on(gate, 0)
            client.config_set("maxmemory", 0)

        assert shown == [("passed", "1")] * 2
        assert refused == [AWAY] * 2
        assert wrong == (412, "revision-mismatch", "fix-request", None)
        await goes_on(gate, 1)


async def test_without_a_store_reads_pass_without_a_count(server: Server, tmp_path: Path) -> None:
    """An old one would let a lost update through. No write is refused for its form: it may be right."""
    async with stack(server.url, tmp_path, COUNTED, store_timeout_s=0.4) as gate:

        async def is_granted() -> bool:
            return (await gate.lease("report/7", takeover=True)).status == 201

        await until(is_granted)
        await goes_on(gate, 0)
        server.pause()
        shown, *refused = await asyncio.gather(
            count_shown(gate, "Fencing-If-Revision: 1"), based_on(gate, 1), based_on(gate, 0)
        )
        server.resume()

        assert shown == ("passed", None)
        assert refused == [AWAY] * 2
        await goes_on(gate, 1)
