"""Callers make no time series: whatever they name, `/metrics` stays as short as it was, and names none of it."""

import asyncio
import json
import random
from pathlib import Path

import pytest

from tests.gateway_process import POLICY, GatewayProcess, running
from tests.raw import RawClient, request
from tests.recording import RecordingUpstream

WRITES = 50_000
CALLERS = 16
# Three decisions of the policy's one rule, and the scripts that they call, with their buckets.
AT_MOST = 100


class Strangers:
    """Each write has a path, an id, a holder and a key that no other has; some have no rule, or no method of HTTP."""

    def __init__(self, gateway: GatewayProcess, seed: int) -> None:
        self._gateway = gateway
        self._random = random.Random(seed)
        self.named: list[str] = []

    def _name(self) -> str:
        self.named.append(f"n{self._random.getrandbits(64):016x}")
        return self.named[-1]

    async def write(self, count: int) -> None:
        async with RawClient(self._gateway.proxy) as client:
            for at in range(count):
                path = f"/reports/{self._name()}" if at % 3 else f"/{self._name()}"
                fields = [f"Fencing-Token: {at + 1}", f"Fencing-Holder: {self._name()}"]
                fields += [f"Idempotency-Key: {self._name()}", f"User-Agent: {self._name()}"]
                method = "PUT" if at % 5 else f"X{self._name().upper()}"
                await client.send(request(method, path, *fields, body=b"{}"))
                answer = await client.answer(method)
                if answer.value("Connection") == "close":
                    await client.__aexit__()
                    await client.__aenter__()


async def series(gateway: GatewayProcess) -> str:
    answer = await gateway.operate("GET", "/metrics")
    lines = answer.body.decode().splitlines()
    return "\n".join(line for line in lines if line and not line.startswith("#"))


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_fifty_thousand_writes_of_strangers_add_hardly_any_time_series(tmp_path: Path) -> None:
    """And none of the names that they bring is in any of them."""
    async with RecordingUpstream() as upstream:
        policies = tmp_path / "policies"
        policies.mkdir()
        policy = POLICY.format(port=upstream.port) + "    authority: header\n    intent: {mode: optional}\n"
        (policies / "reports.yaml").write_text(policy)
        async with running(tmp_path) as gateway:
            before = await series(gateway)
            crowd = [Strangers(gateway, seed) for seed in range(CALLERS)]
            await asyncio.gather(*(each.write(WRITES // CALLERS) for each in crowd))
            after = await series(gateway)
            forwarded = len(upstream.seen)

    assert forwarded > WRITES // 3
    assert len(after.splitlines()) - len(before.splitlines()) < AT_MOST
    told = after.lower()
    assert not [name for each in crowd for name in each.named if name in told]
    assert json.dumps(before) != json.dumps(after)
