"""Tools whose calls wait for a person or in a queue: callers are told in JSON-RPC, and nothing is sent before."""

import json
from pathlib import Path

import pytest

from tests.proxy.notes import call, error, post
from tests.stack import stack
from tests.until import until

POLICY = """
upstream: notes
url: http://localhost:{port}
protocol: mcp
mount: {{path: /mcp}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: write
    match: POST /mcp
    when: {{tool: write}}
    resource: note/{{json:/params/arguments/note}}
    intent: {{mode: required, key: "{{json:/params/_meta/key}}"}}
"""
WAITING = {"approval: required": "awaiting-approval", "delivery: queued": "queued"}


@pytest.mark.parametrize(("term", "decision"), WAITING.items(), ids=WAITING.values())
async def test_a_call_that_waits_is_told_so_as_an_error(
    store_url: str, tmp_path: Path, term: str, decision: str
) -> None:
    """Code -32013: who repeats the call has an answer later. A call without a token is told what it lacks."""
    async with stack(store_url, tmp_path, f"{POLICY}    {term}\n") as gate:
        await gate.lease("note/7")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        first = await post(gate, call(key="k-1"), token)
        again = await post(gate, call(key="k-1", id="8"), token)
        bare = await post(gate, call(key="k-2"))

        assert first.decision == decision
        assert error(first)["code"] == -32013
        assert json.loads(first.body)["id"] == 7
        assert again.decision == decision or (
            decision == "queued" and again.decision in ("intent-in-progress", "replayed")
        )
        assert json.loads(again.body)["id"] == 8
        assert error(bare)["code"] == -32007
        if decision == "queued":
            await until(lambda: bool(gate.upstream.seen))
        assert len(gate.upstream.seen) == (decision == "queued")
