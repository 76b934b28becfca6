"""What waits under a lease that was given back goes out before its successor's; of one that was lost it does not."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys
from tests.proxy.lease_calls import lease_call, lookup, token_of
from tests.proxy.test_parking import approve, becomes, free_port, intent, tried
from tests.raw import RawAnswer
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import Stack, stack
from tests.store.parked import make_due
from tests.until import until

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 20s}}
defaults: {{intent: {{mode: optional}}}}
writes:
  - {{name: queue, match: "PATCH /reports/{{id}}", resource: "report/{{path.id}}", delivery: queued,
      intent: {{mode: required}}}}
  - {{name: ask, match: "POST /reports/{{id}}", resource: "report/{{path.id}}", approval: required,
      intent: {{mode: required}}}}
  - {{name: write, match: "PUT /reports/{{id}}", resource: "report/{{path.id}}"}}
"""
RESOURCE = ResourceKey("report/7")


def expire(raw: Any) -> None:
    """The lease has run out."""
    raw.hset(resource_keys(RESOURCE)[0], "x", 1)


async def release(gate: Stack, holder: str = "a") -> RawAnswer:
    return await lease_call(gate, "leases/release", token_of(gate, holder))


async def write(gate: Stack, holder: str, method: str, body: bytes, *fields: str, key: str = "k-1") -> RawAnswer:
    key = f"Idempotency-Key: {key}"
    return await gate.write("/reports/7", key, *fields, holder=holder, method=method, body=body)


class Holding:
    """An API that holds back its answer to what says "slow"; `order` tells when each came and was answered."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.order: list[bytes] = []
        self.upstream = RecordingUpstream(self._answer)

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        self.order.append(seen.body)
        if seen.body == b'"slow"':
            await self.go_on.wait()
            self.order.append(b"answered")
        writer.write(OK)

    async def came(self, count: int = 1) -> None:
        await self.upstream.until(lambda: len(self.upstream.seen) == count)


@pytest.mark.parametrize("expired", [False, True], ids=["while it lived", "after it ran out"])
async def test_what_was_queued_goes_before_the_successor(
    store_url: str, raw: Any, tmp_path: Path, expired: bool
) -> None:
    """The API was away meanwhile: the new lease tells of one in flight, and its write waits for that."""
    port = free_port()
    async with stack(store_url, tmp_path, POLICY.replace("{port}", str(port))) as gate:
        await gate.lease("report/7", "a")
        queued = await write(gate, "a", "PATCH", b'"a"')
        await until(lambda: tried(gate, intent(queued)["id"]))
        if expired:
            expire(raw)
        released = await release(gate)
        lease = json.loads((await gate.lease("report/7", "b")).body)
        newer = asyncio.ensure_future(write(gate, "b", "PUT", b'"b"'))
        async with RecordingUpstream(port=port) as upstream:
            make_due(raw, RESOURCE)
            written = await newer
            await becomes(gate, intent(queued)["id"], "applied")

            assert (queued.decision, released.status, lease["in_flight"]) == ("queued", 204, 1)
            assert written.decision == "forwarded"
            assert [seen.body for seen in upstream.seen] == [b'"a"', b'"b"']


async def test_who_lets_go_after_a_successor_came_brings_nothing_back(store_url: str, raw: Any, tmp_path: Path) -> None:
    """Its lease had run out: what it had queued is superseded, and never sent."""
    port = free_port()
    async with stack(store_url, tmp_path, POLICY.replace("{port}", str(port))) as gate:
        await gate.lease("report/7", "a")
        queued = await write(gate, "a", "PATCH", b'"a"')
        expire(raw)
        lease = json.loads((await gate.lease("report/7", "b")).body)
        released = await release(gate)
        async with RecordingUpstream(port=port) as upstream:
            make_due(raw, RESOURCE)
            written = await write(gate, "b", "PUT", b'"b"')
            await becomes(gate, intent(queued)["id"], "superseded")

            assert (lease["in_flight"], released.decision) == (0, "lease-lost")
            assert (written.decision, [seen.body for seen in upstream.seen]) == ("forwarded", [b'"b"'])


async def test_what_was_approved_before_goes_before_the_successor(store_url: str, tmp_path: Path) -> None:
    """It is on its way when its sender lets go."""
    api = Holding()
    async with stack(store_url, tmp_path, POLICY, api.upstream) as gate:
        await gate.lease("report/7", "a")
        asked = await write(gate, "a", "POST", b'"slow"')
        await approve(store_url, asked)
        await api.came()
        await release(gate)
        lease = json.loads((await gate.lease("report/7", "b")).body)
        newer = asyncio.ensure_future(write(gate, "b", "PUT", b'"b"'))
        await lookup(gate)
        api.go_on.set()
        written = await newer

        assert (asked.decision, lease["drained"], written.decision) == ("awaiting-approval", False, "forwarded")
        await becomes(gate, intent(asked)["id"], "applied")
        assert api.order == [b'"slow"', b"answered", b'"b"']


async def test_who_waits_behind_a_slow_head_is_told_that_it_was_overtaken(store_url: str, tmp_path: Path) -> None:
    """Its write is not sent. The successor repeats its key: it is sent once, under the newer epoch."""
    api = Holding()
    async with stack(store_url, tmp_path, POLICY, api.upstream) as gate:
        await gate.lease("report/7", "a")
        await write(gate, "a", "PATCH", b'"slow"')
        await api.came()
        second = await write(gate, "a", "PATCH", b'"second"', key="k-2")
        waiting = asyncio.ensure_future(write(gate, "a", "PATCH", b'"second"', "Prefer: wait=20", key="k-2"))
        await gate.lease("report/7", "b", takeover=True)
        overtaken = await waiting
        again = await write(gate, "b", "PATCH", b'"second"', key="k-2")
        await lookup(gate)
        api.go_on.set()
        await becomes(gate, intent(again)["id"], "applied")
        replayed = await write(gate, "b", "PATCH", b'"second"', key="k-2")

        assert (second.decision, overtaken.status, overtaken.decision) == ("queued", 412, "stale-epoch")
        assert (again.decision, replayed.decision) == ("queued", "replayed")
        assert api.order == [b'"slow"', b"answered", b'"second"']
