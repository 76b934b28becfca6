"""Writes of a holder that had to wait, for their body, their turn or a connection: what changed meanwhile holds."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import redis

from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.views.resource_views import tickets
from tests.proxy.test_late_bodies import given_back, overtaken, paused
from tests.proxy.test_pauses import waits
from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.stack import POLICY, Stack, stack
from tests.store.fences import opened
from tests.until import until

KEYED = POLICY + "    intent: {{mode: optional}}\n"
BRIEF = POLICY.replace("total: 5s", "total: 1s, late: 1s")
ONE = POLICY.replace("timeouts:", "limits: {{connections: 1}}\ntimeouts:").replace("connect: 1s", "connect: 5s")
Change = Callable[[Stack, FenceStore], Awaitable[None]]


class Held(RecordingUpstream):
    """Answers a body of `slow` only once it is let go."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.goes = asyncio.Event()

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body == b"slow":
            await self.goes.wait()
        await answer_ok(seen, writer)

    @property
    def bodies(self) -> list[bytes]:
        """Of writes of the one resource."""
        return [seen.body for seen in self.seen if " /reports/7 " in seen.line]


@pytest.fixture
def ended(store_url: str) -> Change:
    """The lease has run out, and nobody has taken over."""

    async def end(_: Stack, __: FenceStore) -> None:
        with redis.Redis.from_url(store_url) as raw:
            raw.hset(resource_keys(ResourceKey("report/7"))[0], "x", 1)

    return end


CHANGES = {
    "paused": (paused, "paused"),
    "overtaken": (overtaken, "stale-epoch"),
    "given back": (given_back, "lease-expired"),
    "ended": (None, "lease-expired"),
}


@pytest.mark.parametrize(("change", "decision"), CHANGES.values(), ids=CHANGES)
async def test_a_write_that_waits_for_its_turn(
    store_url: str, tmp_path: Path, change: Change | None, decision: str, ended: Change
) -> None:
    """The one before it goes through; it is refused when its turn comes."""
    upstream = Held()
    async with stack(store_url, tmp_path, upstream=upstream) as gate, opened(store_url) as store:
        await gate.lease("report/7")
        first = asyncio.ensure_future(gate.write("/reports/7", body=b"slow"))
        await upstream.until(lambda: len(upstream.seen) == 1)
        second = asyncio.ensure_future(gate.write("/reports/7", body=b"second"))
        await until(lambda: waits(store, "report/7"))
        await (change or ended)(gate, store)
        upstream.goes.set()

        assert [(await one).decision for one in (first, second)] == ["forwarded", decision]
        assert upstream.bodies == [b"slow"]


@pytest.mark.parametrize("framing", ["Content-Length: 10", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize(("change", "decision"), CHANGES.values(), ids=CHANGES)
async def test_a_write_whose_body_is_read_first(
    store_url: str, tmp_path: Path, change: Change | None, decision: str, framing: str, ended: Change
) -> None:
    """Half of it was here: nothing of it is sent, and whoever came since waits for nothing."""
    halves = (b"hello", b"world") if "Length" in framing else (b"a\r\nhello", b"world\r\n0\r\n\r\n")
    async with stack(store_url, tmp_path, KEYED) as gate, opened(store_url) as store, RawClient(gate.port) as client:
        await gate.lease("report/7")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        await client.send(request("PUT", "/reports/7", token, "Idempotency-Key: k", framing) + halves[0])
        await (change or ended)(gate, store)
        if change is overtaken:
            assert (await gate.write("/reports/7", holder="agent-b", body=b"newer")).decision == "forwarded"
        await client.send(halves[1])

        assert (await client.answer()).decision == decision
        assert [seen.body for seen in gate.upstream.seen] == [b"newer"] * (change is overtaken)
        assert gate.upstream.partial == []


async def test_a_half_sent_body_is_cut_off_before_a_newer_write_begins(store_url: str, tmp_path: Path) -> None:
    """It streams, and its caller stalls: the newer write waits for its time to be over, and not for ever."""
    async with stack(store_url, tmp_path, BRIEF) as gate, RawClient(gate.port) as client:
        await gate.lease("report/7")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        await client.send(request("PUT", "/reports/7", token, "Transfer-Encoding: chunked") + b"5\r\nhello\r\n")
        await gate.upstream.until(lambda: gate.upstream.receiving == 1)
        granted = json.loads((await gate.lease("report/7", "agent-b", takeover=True)).body)
        newer = await gate.write("/reports/7", holder="agent-b", body=b"newer")
        cut = list(gate.upstream.partial)
        older = await client.answer()

        assert (granted["drained"], granted["in_flight"]) == (False, 1)
        assert (older.decision, newer.decision) == ("outcome-unknown", "forwarded")
        assert [piece.endswith(b"5\r\nhello\r\n") for piece in cut] == [True]
        assert [seen.body for seen in gate.upstream.seen] == [b"newer"]


async def test_a_write_that_waits_for_a_connection_comes_before_a_newer_one(store_url: str, tmp_path: Path) -> None:
    """It was admitted, and is in flight: never behind the newer holder's."""
    upstream = Held()
    async with stack(store_url, tmp_path, ONE, upstream) as gate, opened(store_url) as store:
        await gate.lease("report/1", "other")
        await gate.lease("report/7")
        other = asyncio.ensure_future(gate.write("/reports/1", holder="other", body=b"slow"))
        await upstream.until(lambda: len(upstream.seen) == 1)
        older = asyncio.ensure_future(gate.write("/reports/7", body=b"older"))

        async def is_admitted() -> bool:
            return bool(await tickets(store, ResourceKey("report/7")))

        await until(is_admitted)
        granted = json.loads((await gate.lease("report/7", "agent-b", takeover=True)).body)
        newer = asyncio.ensure_future(gate.write("/reports/7", holder="agent-b", body=b"newer"))
        upstream.goes.set()

        assert granted["in_flight"] == 1
        assert [(await one).decision for one in (other, older, newer)] == ["forwarded"] * 3
        assert upstream.bodies == [b"older", b"newer"]


async def test_who_vanishes_amid_a_body_keeps_nobody_waiting_for_ever(store_url: str, tmp_path: Path) -> None:
    """The API never has it whole, and may be at work on what it has: the next write goes once its time is over."""
    async with stack(store_url, tmp_path, BRIEF) as gate:
        await gate.lease("report/7")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        async with RawClient(gate.port) as client:
            await client.send(request("PUT", "/reports/7", token, "Content-Length: 100000") + b"half")
            await gate.upstream.until(lambda: gate.upstream.receiving == 1)
        after = await gate.write("/reports/7", body=b"next")

        assert after.decision == "forwarded"
        assert [seen.body for seen in gate.upstream.seen] == [b"next"]
        assert [piece.rpartition(b"\r\n\r\n")[2] for piece in gate.upstream.partial] == [b"half"]


async def test_an_overtaken_token_does_nothing_any_more(store_url: str, tmp_path: Path) -> None:
    """Nor one whose lease was given back or has ended: it neither writes nor renews, and releases nobody's lease."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        await gate.lease("report/7", "agent-b", takeover=True)
        fields = (f"Fencing-Token: {gate.tokens['agent-a']}", "Content-Type: application/json")
        told = [
            await ask(gate.port, "POST", f"/-/fence/leases/{call}", *fields, body=b'{"resource": "report/7"}')
            for call in ("renew", "release")
        ]
        shown = json.loads((await ask(gate.port, "GET", "/-/fence/leases?resource=report/7")).body)

        assert [answer.status for answer in told] == [412, 412]
        assert shown["holder"] == "agent-b"
