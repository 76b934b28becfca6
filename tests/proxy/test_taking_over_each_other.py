"""Agents that take one resource over from each other all the time, with bodies that come late, in pieces or in part."""

import asyncio
import contextlib
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.stack import POLICY, Stack, stack

# What was broken off counts as in flight until `total`.
FENCED = POLICY.replace("total: 5s", "total: 1s").replace(
    "writes:", "capabilities: {{fencing_token: X-Fence}}\nwrites:"
)
AGENTS, WRITES = 6, 12


class Api(RecordingUpstream):
    """Takes its time for each whole request."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(self._answer)
        self.draw, self.at_once, self.most = draw, 0, 0

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        # An API's work: writes that overlap are seen here.
        await asyncio.sleep(self.draw.random() * 0.01)
        self.at_once -= 1
        await answer_ok(seen, writer)


@dataclass
class Agent:
    """One that takes over, writes a few times, and gives back or not."""

    name: str
    gate: Stack
    draw: random.Random
    told: dict[bytes, str | None] = field(default_factory=dict)

    async def pause(self) -> None:
        """The pace of an agent: about as long as a late body has time."""
        await asyncio.sleep(self.draw.random() * 0.04)

    async def run(self) -> None:
        for at in range(WRITES):
            await self.gate.lease("report/7", self.name, takeover=True)
            await self.write(f"{self.name}.{at}.".encode() + b"x" * self.draw.choice((1, 100, 50_000)))
            if self.draw.random() < 0.3:
                token = f"Fencing-Token: {self.gate.tokens[self.name]}"
                body = json.dumps({"resource": "report/7"}).encode()
                await ask(self.gate.port, "POST", "/-/fence/leases/release", token, body=body)

    async def write(self, body: bytes) -> None:
        """Its head, and after a while its body or a part of that; a quarter of the callers leave within it."""
        field, sent = f"Content-Length: {len(body)}", body
        if self.draw.random() < 0.5:
            field, sent = "Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        begun = self.draw.choice((0, 0, 1, len(sent) // 2))
        async with RawClient(self.gate.port) as client:
            head = request("PUT", "/reports/7", f"Fencing-Token: {self.gate.tokens[self.name]}", field)
            await client.send(head + sent[:begun])
            await self.pause()
            with contextlib.suppress(ConnectionError):
                if self.draw.random() < 0.25:
                    await client.send(sent[begun : len(sent) - 1])
                    return
                await client.send(sent[begun:])
                self.told[body] = (await client.answer()).decision


@pytest.mark.parametrize("seed", range(3))
async def test_no_older_write_comes_behind_a_newer_one_or_beside_it(
    store_url: str, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor twice, nor one that was told to have been refused."""
    monkeypatch.setattr("gateway.upstream.sender._BEGINS_SOON_S", 0.02)
    draw = random.Random(seed)
    async with stack(store_url, tmp_path, FENCED, Api(draw)) as gate:
        agents = [Agent(f"agent-{at}", gate, random.Random(draw.random())) for at in range(AGENTS)]
        await asyncio.gather(*(agent.run() for agent in agents))
        await gate.lease("report/7", "last", takeover=True)
        last = await gate.write("/reports/7", holder="last", body=b"last")

        assert isinstance(gate.upstream, Api)
        bodies = [seen.body for seen in gate.upstream.seen]
        epochs = [int(seen.values("X-Fence")[0]) for seen in gate.upstream.seen]
        told = {body: decision for agent in agents for body, decision in agent.told.items()}
        assert (last.decision, bodies[-1], gate.upstream.most) == ("forwarded", b"last", 1)
        assert epochs == sorted(epochs)
        assert len(set(bodies)) == len(bodies)
        assert {told.get(body, "outcome-unknown") for body in bodies[:-1]} <= {"forwarded", "outcome-unknown"}
        assert [body[:20] for body, decision in told.items() if decision == "forwarded" and body not in bodies] == []
        assert "forwarded" in told.values() and "stale-epoch" in told.values()
