"""MCP's messages under every Content-Type: they are JSON, and nothing passes that is called anything else."""

from pathlib import Path

import pytest

from tests.proxy.notes import POLICY, call
from tests.raw import ask
from tests.stack import stack

READ = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
BODIES = (
    call(),
    call("drop"),
    READ,
    b"[" + READ + b"]",
    b"[" + READ + b", " + call() + b"]",
    b"x=" + call(),
    b'{"a": "&method=tools/list&"}',
)
OTHER_TYPES = {
    "a form": ("Content-Type: application/x-www-form-urlencoded",),
    "a text": ("Content-Type: text/plain",),
    "multipart": ("Content-Type: multipart/form-data; boundary=b",),
    "a type that ends in json": ("Content-Type: application/vnd.mcp+json",),
    "no type": (),
}


@pytest.mark.parametrize("fields", OTHER_TYPES.values(), ids=OTHER_TYPES)
async def test_a_message_that_is_not_called_json_never_passes(
    store_url: str, tmp_path: Path, fields: tuple[str, ...]
) -> None:
    """Neither a call, nor a listing, nor a batch: a server that parses any body would run what nobody judged."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("note/7")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        told = [await ask(gate.port, "POST", "/mcp", token, *fields, body=body) for body in BODIES]

        assert {answer.decision for answer in told} == {"ambiguous-target"}
        assert gate.upstream.seen == []


@pytest.mark.parametrize("type", ["application/json", "application/json; charset=utf-8"])
async def test_a_message_that_is_called_json_is_judged(store_url: str, tmp_path: Path, type: str) -> None:
    """By what it calls: a call of the rule's tool, a listing or a batch of listings."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("note/7")
        fields = (f"Content-Type: {type}", f"Fencing-Token: {gate.tokens['agent-a']}")
        told = [(await ask(gate.port, "POST", "/mcp", *fields, body=body)).decision for body in BODIES]

        refused = ["ambiguous-target"] * 3
        assert told == ["forwarded", "no-policy", "passed", "passed", *refused]
        assert [seen.body for seen in gate.upstream.seen][1:] == [READ, BODIES[3]]
