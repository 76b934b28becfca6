"""A store that is far away: its answers come later than those that are acted on without a second look, and everything
is as with one that is near.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from gateway.core.pause import Scope
from gateway.core.record import IntentRecord
from gateway.store.fence import FenceStore
from gateway.store.parking import Decide, decide
from gateway.store.pauses import begin_pause, new_pause_id
from gateway.store.views.intent_views import intents
from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack
from tests.store.far import far
from tests.store.fences import opened
from tests.until import until

POLICY = """
upstream: reports
url: http://localhost:{port}
timeouts: {{connect: 1s, total: 20s}}
writes:
  - {{name: plain, match: "PUT /plain/{{id}}", resource: "plain/{{path.id}}"}}
  - name: strict
    match: PUT /strict/{{id}}
    resource: strict/{{path.id}}
    authority: header
    fence: {{order: strict}}
  - {{name: keyed, match: "PUT /keyed/{{id}}", resource: "keyed/{{path.id}}", authority: header, revision: gateway,
      intent: {{mode: required}}}}
  - {{name: dear, match: "PUT /dear/{{id}}", resource: "dear/{{path.id}}", authority: header,
      intent: {{mode: required}}, budget: [{{per: tenant, window: 1h, count: 3}}]}}
  - {{name: later, match: "PUT /later/{{id}}", resource: "later/{{path.id}}", authority: header, delivery: queued,
      intent: {{mode: required}}}}
  - {{name: asked, match: "PUT /asked/{{id}}", resource: "asked/{{path.id}}", authority: header, approval: required,
      intent: {{mode: required}}}}
"""
# What is acted on at once, and a way that takes longer, there and back.
SOON_S, WAY_S = 0.05, 0.05
LARGE = 4 << 20


async def put(gate: Stack, target: str, epoch: int = 42, *fields: str, body: bytes = b"{}") -> RawAnswer:
    return await ask(gate.port, "PUT", target, *proof(epoch), *fields, body=body)


def keyed(gate: Stack, target: str, key: str, *fields: str, body: bytes = b"{}") -> Awaitable[RawAnswer]:
    return put(gate, target, 42, f"Idempotency-Key: {key}", *fields, body=body)


async def holders(gate: Stack, _: FenceStore) -> list[object]:
    """Six writes at once wait for each other; whoever takes over has it."""
    granted = await gate.lease("plain/7")
    wrote = [await gate.write("/plain/7"), *await asyncio.gather(*(gate.write("/plain/7") for _ in range(6)))]
    about = f"Fencing-Token: {gate.tokens['agent-a']}", "Content-Type: application/json"
    renewed = await ask(gate.port, "POST", "/-/fence/leases/renew", *about, body=b'{"resource": "plain/7"}')
    over = await gate.lease("plain/7", "agent-b", takeover=True, wait_s=5)
    after = await gate.write("/plain/7"), await gate.write("/plain/7", holder="agent-b")
    return [
        granted.status,
        {one.decision for one in wrote},
        renewed.decision,
        over.status,
        *(x.decision for x in after),
    ]


async def strict_epochs(gate: Stack, _: FenceStore) -> list[object]:
    return [(await put(gate, "/strict/7", epoch)).decision for epoch in (5, 5, 6)]


async def intents_of_one_key(gate: Stack, _: FenceStore) -> list[object]:
    told = [await keyed(gate, "/keyed/7", "one") for _ in range(2)]
    return [(one.decision, one.value("Fencing-Revision")) for one in told]


async def a_budget(gate: Stack, _: FenceStore) -> list[object]:
    return [(await keyed(gate, "/dear/7", str(number))).decision for number in range(4)]


async def a_queued_write(gate: Stack, _: FenceStore) -> list[object]:
    return [(await keyed(gate, "/later/7", "one", "Prefer: wait=20")).decision]


async def an_approved_one(gate: Stack, store: FenceStore) -> list[object]:
    told = await keyed(gate, "/asked/7", "one")
    (record,) = (await intents(store, "awaiting_approval", None)).items
    assert record.parking is not None
    yes = Decide("approve", "operator", None, "looks right", record.parking.digest)
    assert isinstance(await decide(store, record, yes), IntentRecord)
    await gate.upstream.until(lambda: any(seen.line.startswith("PUT /asked/") for seen in gate.upstream.seen))
    return [told.decision]


FLOWS: dict[Callable[[Stack, FenceStore], Awaitable[list[object]]], list[object]] = {
    holders: [201, {"forwarded"}, "renewed", 201, "stale-epoch", "forwarded"],
    strict_epochs: ["forwarded", "stale-epoch", "forwarded"],
    intents_of_one_key: [("forwarded", "1"), ("replayed", None)],
    a_budget: ["forwarded", "forwarded", "forwarded", "quota-exceeded"],
    a_queued_write: ["replayed"],
    an_approved_one: ["awaiting-approval"],
}


@pytest.mark.parametrize("way_s", [0.0, WAY_S], ids=["near", "far"])
async def test_all_is_as_with_a_store_that_is_near(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way_s: float
) -> None:
    """Each answer that is acted on was long in coming; and an operator's call has to send its script first."""
    monkeypatch.setattr("gateway.flow.admission._SOON_S", SOON_S)
    async with (
        far(store_url, way_s) as url,
        stack(url, tmp_path, POLICY, store_timeout_s=10.0) as gate,
        opened(url) as store,
    ):
        told = await asyncio.gather(*(flow(gate, store) for flow in FLOWS))
        await begin_pause(store, Scope("all"), id=new_pause_id(), reason="a drill", by="operator")

        async def is_paused() -> bool:
            return (await put(gate, "/strict/8", 6)).decision == "paused"

        await until(is_paused)

    assert dict(zip(FLOWS, told, strict=True)) == FLOWS


async def test_large_bodies_on_their_way_keep_no_small_write_back(store_url: str, tmp_path: Path) -> None:
    """All are taken, and each is sent once."""
    bodies = [os.urandom(LARGE) for _ in range(12)]
    async with far(store_url, WAY_S) as url, stack(url, tmp_path, POLICY, store_timeout_s=10.0) as gate:
        taking = [
            asyncio.ensure_future(keyed(gate, f"/later/{number}", "one", "Prefer: wait=20", body=body))
            for number, body in enumerate(bodies)
        ]
        beside = []
        while not all(each.done() for each in taking):
            beside.append((await put(gate, "/keyed/7", 42, f"Idempotency-Key: {len(beside)}")).decision)
        told = [(await each).decision for each in taking]
        large = [seen.body for seen in gate.upstream.seen if seen.line.startswith("PUT /later/")]

    assert told == ["replayed"] * len(bodies)
    assert set(beside) == {"forwarded"}
    assert sorted(large) == sorted(bodies)
