"""What a policy closes while writes wait: for their turn or for an approval, none that it takes is sent afterwards."""

import asyncio
import json
from pathlib import Path

from gateway.store.fence import FenceStore
from tests.admin.conftest import Admin, listening
from tests.proxy.reloading import reloading
from tests.proxy.test_pauses import waits
from tests.raw import RawAnswer, ask
from tests.recording import OK, RecordingUpstream, Seen
from tests.until import until

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs}}
timeouts: {{connect: 1s, total: 20s}}
writes:
  - {{name: write, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}", fence: {{queue_timeout: 30s}}}}
  - name: asked
    match: POST /docs/{{id}}
    resource: doc/{{path.id}}
    approval: required
    intent: {{mode: required}}
"""
CLOSED = """
closed:
  - {{match: "PUT,POST /docs/{{id}}", when: {{json: {{/role: {{present: true}}}}}}}}
"""


async def granted(port: int) -> str:
    asked = json.dumps({"resource": "doc/7", "holder": "a", "ttl_s": 60}).encode()
    answer = await ask(port, "POST", "/-/fence/leases", body=asked)
    return f"Fencing-Token: {json.loads(answer.body)['token']}"


async def send(port: int, method: str, body: bytes, *fields: str) -> RawAnswer:
    return await ask(port, method, "/docs/7", "Content-Type: application/json", *fields, body=body)


async def test_a_write_that_waits_for_its_turn_is_not_sent(store_url: str, store: FenceStore, tmp_path: Path) -> None:
    """Those before it and behind it go through: each is judged for itself."""
    may = asyncio.Event()

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        await may.wait()
        writer.write(OK)

    async with (
        RecordingUpstream(answer) as upstream,
        reloading(store_url, tmp_path, POLICY.format(port=upstream.port)) as gate,
    ):
        token = await granted(gate.port)
        first = asyncio.ensure_future(send(gate.port, "PUT", b'{"x":1}', token))
        await upstream.until(lambda: len(upstream.seen) == 1)
        second = asyncio.ensure_future(send(gate.port, "PUT", b'{"role":1}', token))
        await until(lambda: waits(store, "doc/7"))
        third = asyncio.ensure_future(send(gate.port, "PUT", b'{"z":1}', token))
        gate.policy((POLICY + CLOSED).format(port=upstream.port))
        may.set()
        answers = [await first, await second, await third]

        assert [(one.status, one.decision) for one in answers] == [
            *((200, "forwarded"), (403, "no-policy"), (200, "forwarded")),
        ]
        assert [seen.body for seen in upstream.seen] == [b'{"x":1}', b'{"z":1}']


async def shown(admin: Admin, id: str) -> dict[str, str]:
    record: dict[str, str] = json.loads((await admin.call("GET", f"/api/v1/intents/{id}")).body)
    return record


async def approve(admin: Admin, id: str) -> RawAnswer:
    decided = json.dumps({"note": "looks right", "digest": (await shown(admin, id))["digest"]}).encode()
    return await admin.call("POST", f"/api/v1/intents/{id}/approve", body=decided)


async def test_what_waits_for_an_approval_is_not_approved(store_url: str, tmp_path: Path) -> None:
    """It goes on waiting, for the policy may be mended; what waits beside it is approved and sent."""
    (tmp_path / "admin").mkdir()
    async with (
        RecordingUpstream() as upstream,
        reloading(store_url, tmp_path, POLICY.format(port=upstream.port)) as gate,
    ):
        token = await granted(gate.port)
        bodies = {"k-1": b'{"role":1}', "k-2": b'{"x":1}'}
        parked = [await send(gate.port, "POST", body, token, f"Idempotency-Key: {key}") for key, body in bodies.items()]
        closed, beside = (json.loads(answer.body)["id"] for answer in parked)
        policy = (POLICY + CLOSED).format(port=upstream.port)
        gate.policy(policy)

        async with listening(store_url, tmp_path / "admin", policy=policy) as admin:

            async def is_applied() -> bool:
                return (await shown(admin, beside))["state"] == "applied"

            refused, approved = await approve(admin, closed), await approve(admin, beside)
            await until(is_applied)
            left = (await shown(admin, closed))["state"]

        assert (refused.status, refused.problem["type"]) == (409, "urn:fencegate:wrong-state")
        assert (approved.status, left) == (200, "awaiting_approval")
        assert [seen.body for seen in upstream.seen] == [b'{"x":1}']
