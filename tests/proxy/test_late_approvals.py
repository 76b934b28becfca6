"""An approval that comes after a newer epoch: nothing of the older holder is sent, whatever the approver says."""

import json
from pathlib import Path

import pytest

from gateway.core.decision import Refused
from gateway.core.record import IntentRecord
from gateway.store.parking import Decide, decide
from tests.proxy.test_parking import becomes, intent, shown
from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack
from tests.store.fences import opened

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: ask
    match: PATCH /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: required}}
    approval: required
  - {{name: write, match: "PUT /reports/{{id}}", resource: "report/{{path.id}}"}}
"""


async def approved(store_url: str, answer: RawAnswer) -> IntentRecord | Refused:
    """An operator approves what was answered so, by the digest that waits now."""
    async with opened(store_url) as store:
        record = await store.recall(str(intent(answer)["id"]))
        assert record is not None and record.parking is not None
        return await decide(store, record, Decide("approve", "operator", None, "a test", record.parking.digest))


async def asked(gate: Stack, holder: str) -> RawAnswer:
    return await gate.write("/reports/7", "Idempotency-Key: k-1", holder=holder, method="PATCH", body=b"one")


async def gives_back(gate: Stack, holder: str) -> None:
    token = f"Fencing-Token: {gate.tokens[holder]}"
    await ask(gate.port, "POST", "/-/fence/leases/release", token, body=json.dumps({"resource": "report/7"}).encode())


@pytest.mark.parametrize("writes", [False, True], ids=["that was granted", "that has written"])
@pytest.mark.parametrize("lets_go", [False, True], ids=["taken over", "given back"])
async def test_an_approval_under_a_newer_epoch_sends_nothing(
    store_url: str, tmp_path: Path, lets_go: bool, writes: bool
) -> None:
    """It is refused and the intent is superseded; its sender is stale. The newer holder asks anew, under the same key,
    and what is approved then is sent once.
    """
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("report/7", "a")
        waiting = await asked(gate, "a")
        if lets_go:
            await gives_back(gate, "a")
        await gate.lease("report/7", "b", takeover=not lets_go)
        if writes:
            await gate.write("/reports/7", holder="b")

        late = await approved(store_url, waiting)
        assert isinstance(late, Refused)
        assert (late.decision.name, late.facts.intent_state) == ("wrong-state", "superseded")
        assert (await shown(gate, intent(waiting)["id"]))["state"] == "superseded"
        older = await asked(gate, "a")
        anew = await asked(gate, "b")
        assert isinstance(await approved(store_url, anew), IntentRecord)
        await becomes(gate, intent(anew)["id"], "applied")

        assert [answer.decision for answer in (waiting, older, anew)] == [
            *("awaiting-approval", "stale-epoch", "awaiting-approval"),
        ]
        sent = ["PUT /reports/7 HTTP/1.1"] * writes + ["PATCH /reports/7 HTTP/1.1"]
        assert [seen.line for seen in gate.upstream.seen] == sent
