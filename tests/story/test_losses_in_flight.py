"""A store that was emptied while a write was on its way: the next holder's waits as long as such a write may last."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import redis

from tests.raw import RawAnswer, ask
from tests.recording import OK, RecordingUpstream, Seen
from tests.store.server import Server
from tests.story.gateways import Gateway, two_gateways, write_policies
from tests.until import until

pytestmark = [pytest.mark.slow, pytest.mark.promise("G3")]

TOTAL_S = 10
POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: {total}s, late: 1s}}
writes:
  - {{name: write, match: "PUT /reports/{{id}}", resource: "report/{{path.id}}", fence: {{drain_timeout: 500ms}}}}
"""


async def put(gateway: Gateway, holder: str) -> RawAnswer:
    token = f"Fencing-Token: {gateway.tokens[holder]}"
    return await ask(gateway.port, "PUT", "/reports/7", token, body=f'"{holder}"'.encode())


async def take(gateway: Gateway) -> bool:
    """Whether B has a lease."""
    asked = json.dumps({"resource": "report/7", "holder": "B", "ttl_s": 60}).encode()
    answer = await ask(gateway.port, "POST", "/-/fence/leases", body=asked)
    if answer.status == 201:
        gateway.tokens["B"] = json.loads(answer.body)["token"]
    return answer.status == 201


async def knows(gateway: Gateway) -> bool:
    """Whether it has found the loss: a lease from before that is none."""
    return (await ask(gateway.admin, "GET", "/readyz", host="localhost")).status == 503


async def accept(gateway: Gateway) -> RawAnswer:
    note = json.dumps({"note": "looked at the reports"}).encode()
    kind = "Content-Type: application/json"
    return await ask(gateway.admin, "POST", "/api/v1/store/accept", kind, body=note, host="localhost")


def holding(over: asyncio.Event) -> Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]:
    """It takes until then over what A sends."""

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body == b'"A"':
            await over.wait()
        writer.write(OK)

    return answer


def policies_of(upstream: RecordingUpstream, directory: Path) -> Path:
    return write_policies(directory, "reports.yaml", POLICY.format(port=upstream.port, total=TOTAL_S))


async def older_write(gateway: Gateway, upstream: RecordingUpstream) -> asyncio.Future[RawAnswer]:
    """A's, which is at the upstream."""
    await gateway.lease("report/7", "A")
    first = asyncio.ensure_future(put(gateway, "A"))
    await until(lambda: len(upstream.seen) == 1)
    return first


async def written(gateway: Gateway) -> list[RawAnswer]:
    """All that B is told until its write is through."""
    told: list[RawAnswer] = []

    async def is_through() -> bool:
        told.append(await put(gateway, "B"))
        return told[-1].status == 200

    await until(is_through, within_s=60)
    return told


async def test_an_operator_s_word_does_not_shorten_the_wait(shared_store: Server, tmp_path: Path) -> None:
    """FLUSHALL, a new lease and `store accept` at once: it is takeover-pending until the loss and `timeouts.total`,
    though the gateway that sent the older write has died and nobody knows of it any more."""
    over = asyncio.Event()
    async with RecordingUpstream(holding(over)) as upstream:
        policies = policies_of(upstream, tmp_path)
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            first = await older_write(one, upstream)

            lost_at = time.monotonic()
            with redis.Redis.from_url(shared_store.url) as client:
                client.flushall()
            await one.kill()
            await until(lambda: knows(two))
            await until(lambda: take(two))
            accepted = await accept(two)
            told = await written(two)
            waited_s = time.monotonic() - lost_at
            with pytest.raises(ConnectionError):
                await first
            over.set()

        assert accepted.status == 200
        assert len(told) > 1
        assert {(answer.status, answer.decision) for answer in told[:-1]} == {(503, "takeover-pending")}
        assert waited_s >= TOTAL_S
        assert [seen.body for seen in upstream.seen] == [b'"A"', b'"B"']


async def test_nor_does_a_reload_that_makes_writes_shorter(shared_store: Server, tmp_path: Path) -> None:
    """The older write was admitted before it, through another gateway than the one that the newer write comes to."""
    over = asyncio.Event()
    async with RecordingUpstream(holding(over)) as upstream:
        policies = policies_of(upstream, tmp_path)
        async with two_gateways(policies, tmp_path, shared_store.url) as (one, two):
            first = await older_write(one, upstream)
            began = time.monotonic()
            (policies / "reports.yaml").write_text(POLICY.format(port=upstream.port, total=1))
            await until(lambda: all("the policies were reloaded" in each.events() for each in (one, two)))

            with redis.Redis.from_url(shared_store.url) as client:
                client.flushall()
            await until(lambda: knows(two))
            await until(lambda: take(two))
            told = await written(two)
            waited_s = time.monotonic() - began
            over.set()
            await first

        assert {(answer.status, answer.decision) for answer in told[:-1]} == {(503, "takeover-pending")}
        assert waited_s >= TOTAL_S
        assert [seen.body for seen in upstream.seen] == [b'"A"', b'"B"']
