"""A store that loses what it acknowledged in its last second, while the gateway that heard of it lives: none of it is
done a second time.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import redis

from gateway.store.keys import marks
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream
from tests.store.fences import everything
from tests.store.lost import put_back
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policies
from tests.until import until

pytestmark = [pytest.mark.slow, pytest.mark.promise("G4")]

POLICY = """
upstream: pay
url: http://127.0.0.1:{port}
mount: {{path: /pay}}
timeouts: {{connect: 1s, total: 2s}}
writes:
  - name: charge
    match: POST /pay/{{box}}/charges
    resource: box/{{path.box}}
    intent: {{mode: required}}
    effect: {{compensation: {{request: "DELETE /pay/{{path.box}}/charges"}}}}
  - name: close
    match: POST /pay/{{box}}/closings
    resource: closing/{{path.box}}
    fence: {{order: strict}}
"""


async def operate(gateway: Gateway, method: str, target: str, **document: str) -> RawAnswer:
    body = json.dumps(document).encode() if document else None
    return await ask(gateway.admin, method, target, "Content-Type: application/json", body=body, host="localhost")


async def just_marked(raw: Any) -> dict[bytes, bytes]:
    """The store as it is right behind a mark of each process; the next one is nearly a second away."""
    before = raw.hgetall(marks("000"))

    async def is_marked() -> bool:
        now = raw.hgetall(marks("000"))
        return all(now[process] != mark for process, mark in before.items())

    await until(is_marked)
    return everything(raw)


def lose_since(raw: Any, kept: dict[bytes, bytes]) -> None:
    """As a replica that lagged takes over: the gateway connects again, and finds the store as it was."""
    put_back(raw, kept)
    raw.client_kill_filter(_type="normal", skipme=True)


async def is_noticed(gateway: Gateway) -> None:
    async def is_told() -> bool:
        return "went back in time" in await gateway.command("store")

    await until(is_told)


async def test_what_was_taken_back_is_not_taken_back_again(shared_store: Server, tmp_path: Path) -> None:
    """The store says that it is applied; the gateway misses what it has sent, also once the loss is accepted."""
    async with RecordingUpstream() as upstream:
        policies = write_policies(tmp_path, "pay.yaml", POLICY.format(port=upstream.port))
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway:
            await gateway.lease("box/7", "A")
            token = f"Fencing-Token: {gateway.tokens['A']}"
            await ask(gateway.port, "POST", "/pay/7/charges", token, "Idempotency-Key: k-1", body=b"{}")
            ids = await gateway.until_listed("applied", "k-1")
            target = f"/api/v1/intents/{ids['k-1']}/compensate"
            with redis.Redis.from_url(shared_store.url) as raw:
                kept = await just_marked(raw)
                sent = await operate(gateway, "POST", target, note="sent in error")
                assert json.loads(sent.body)["state"] == "compensated"
                lose_since(raw, kept)

            await is_noticed(gateway)
            refused = await operate(gateway, "POST", target, note="sent in error")
            assert (refused.status, refused.problem["type"]) == (503, "urn:fencegate:store-regressed"), refused.body
            await gateway.command("store", "accept", "--note", "looked at the refunds")
            refused = await operate(gateway, "POST", target, note="sent in error")

        assert (refused.status, refused.problem["type"]) == (409, "urn:fencegate:wrong-state"), refused.body
        assert [seen.line.split()[0] for seen in upstream.seen] == ["POST", "DELETE"]


async def test_an_epochs_one_write_is_not_made_again(shared_store: Server, tmp_path: Path) -> None:
    """It had no key, and its ticket is gone: only the resource's record says that it was made."""
    async with RecordingUpstream() as upstream:
        policies = write_policies(tmp_path, "pay.yaml", POLICY.format(port=upstream.port))
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway:
            await gateway.lease("closing/7", "A")
            token = f"Fencing-Token: {gateway.tokens['A']}"
            with redis.Redis.from_url(shared_store.url) as raw:
                kept = await just_marked(raw)
                assert (await ask(gateway.port, "POST", "/pay/7/closings", token, body=b"{}")).status == 200
                lose_since(raw, kept)

            await is_noticed(gateway)
            refused = await ask(gateway.port, "POST", "/pay/7/closings", token, body=b"{}")

        assert (refused.status, refused.decision) == (503, "store-regressed"), refused.body
        assert len(upstream.seen) == 1
