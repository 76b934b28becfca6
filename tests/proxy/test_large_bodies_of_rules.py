"""Bodies that rules have to read come slowly and all at once: they wait on the disk, and memory stays flat."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.bench.process import resident_mib
from tests.gateway_process import POLICY, running
from tests.raw import RawClient, request
from tests.recording import RecordingUpstream

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

AT_ONCE = 40
SIZE = 8 << 20
# All of them together are 320 MiB. Three at a time are read, and each is there twice while it is parsed.
AT_MOST_MIB = 160


async def test_many_at_once_cost_little_memory(tmp_path: Path) -> None:
    """All of them are forwarded: each has its turn before the rules."""
    everybody = asyncio.Barrier(AT_ONCE)
    async with RecordingUpstream() as upstream:
        policies = tmp_path / "policies"
        policies.mkdir()
        policy = POLICY.format(port=upstream.port).replace("report/{path.id}", "report/{json:/id}")
        (policies / "reports.yaml").write_text(policy + "    authority: header\n")
        async with running(tmp_path) as gateway:
            (worker,) = gateway.workers()
            before = resident_mib(worker, peak=True)

            async def write(number: int) -> str | None:
                body = json.dumps({"id": f"r{number}", "text": "x" * SIZE}).encode()
                fields = ("Fencing-Token: 1", "Fencing-Holder: a", "Content-Type: application/json")
                async with RawClient(gateway.proxy) as client:
                    whole = request("PUT", "/reports/7", *fields, body=body)
                    await client.send(whole[:-1])
                    await everybody.wait()
                    await client.send(whole[-1:])
                    return (await client.answer()).decision

            decisions = await asyncio.gather(*(write(number) for number in range(AT_ONCE)))
            grown = resident_mib(worker, peak=True) - before

    assert set(decisions) == {"forwarded"}
    assert grown < AT_MOST_MIB, f"grown by {grown:.0f} MiB"
