"""A forgotten epoch, as a whole conversation: nothing that was begun under it brings it back over the newer holder."""

import json
from pathlib import Path

from tests.admin.conftest import Admin, listening
from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s, late: 100ms}}
capabilities: {{fencing_token: X-Epoch}}
defaults: {{authority: header}}
writes:
  - {{name: write, match: "PUT /h/{{id}}", resource: "h/{{path.id}}"}}
  - name: keyed
    match: PATCH /h/{{id}}
    resource: h/{{path.id}}
    intent: {{mode: required}}
    effect: {{compensation: {{request: "DELETE /h/{{path.id}}"}}}}
"""
HIGH, LOW = 100, 3


async def write(gate: Stack, epoch: int, holder: str, method: str = "PUT", *fields: str) -> RawAnswer:
    return await ask(gate.port, method, "/h/1", *proof(epoch, holder), *fields, body=b"{}")


async def told(admin: Admin, method: str, target: str) -> dict[str, object]:
    body = None if method == "GET" else b'{"note": "the counter began anew"}'
    answer = await admin.call(method, target, body=body)
    assert answer.status == 200, answer
    found: dict[str, object] = json.loads(answer.body)
    return found


async def test_what_was_done_under_a_forgotten_epoch_raises_nothing(store_url: str, tmp_path: Path) -> None:
    """Taken back, it is sent under the epoch that rules; repeated, it is replayed; the newer holder writes on."""
    (tmp_path / "admin").mkdir()
    async with (
        stack(store_url, tmp_path, POLICY) as gate,
        listening(store_url, tmp_path / "admin", policy=POLICY.format(port=gate.upstream.port)) as admin,
    ):
        first = await write(gate, HIGH, "A", "PATCH", "Idempotency-Key: k-1")
        (done,) = json.loads((await admin.call("GET", "/api/v1/intents?state=applied")).body)["items"]
        forgotten = await told(admin, "POST", "/api/v1/resources/h/1/reset")
        begun = await write(gate, LOW, "B")
        undone = await told(admin, "POST", f"/api/v1/intents/{done['id']}/compensate")
        after = [await write(gate, LOW, "B"), await write(gate, LOW - 1, "C")]
        shown = await told(admin, "GET", "/api/v1/resources/h/1")

        assert (first.decision, forgotten["forgotten_epoch"], undone["state"]) == ("forwarded", "100", "compensated")
        assert [one.decision for one in (begun, *after)] == ["forwarded", "forwarded", "stale-epoch"]
        assert shown["epoch"] == str(LOW)
        sent = [(seen.line.partition(" ")[0], seen.values("X-Epoch")) for seen in gate.upstream.seen]
        assert sent == [("PATCH", ["100"]), ("PUT", ["3"]), ("DELETE", ["3"]), ("PUT", ["3"])]
