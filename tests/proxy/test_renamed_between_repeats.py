"""Policies whose names are changed by a reload between an intent and its repeat: it stays the same intent."""

from pathlib import Path

import pytest

from tests.proxy.reloading import reloading
from tests.raw import RawAnswer, ask
from tests.recording import OK, RecordingUpstream, answering

POLICY = """
upstream: docs
url: http://localhost:PORT
mount: {path: /docs}
timeouts: {connect: 1s, total: 5s}
capabilities: {idempotency_key: X-Key}
writes:
  - name: write
    match: PUT /docs/{id}
    resource: doc/{path.id}
    authority: header
    intent: {mode: required, on_unknown: hold}
"""
CHANGES = {
    "the upstream": [("upstream: docs", "upstream: papers")],
    "the rule": [("name: write", "name: put")],
    "both": [("upstream: docs", "upstream: papers"), ("name: write", "name: put")],
    "the placeholder": [("{id}", "{number}"), ("path.id", "path.number")],
    "the header of the API's keys": [("X-Key", "X-Other")],
    "which methods": [("PUT /docs", "PUT,PATCH /docs")],
    "who may leave the key out": [("mode: required", "mode: optional")],
    "how it is delivered": [("    intent", "    delivery: queued\n    intent")],
    "whether it is approved": [("    intent", "    approval: required\n    intent")],
    "what becomes of an unknown one": [("capabilities: {idempotency_key: X-Key}\n", "")],
}


async def write(port: int, body: bytes = b'{"a": 1}') -> RawAnswer:
    fields = ("Fencing-Token: 5", "Fencing-Holder: a", "Idempotency-Key: k", "Content-Type: application/json")
    return await ask(port, "PUT", "/docs/7", *fields, body=body)


@pytest.mark.parametrize("known", [True, False], ids=["applied", "unknown"])
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
async def test_its_repeat_is_not_sent(
    store_url: str, tmp_path: Path, changes: list[tuple[str, str]], known: bool
) -> None:
    """The one that is known is replayed, the one that nobody knows is held, and another body is another request."""
    answer = answering(OK) if known else answering(b"", close=True)
    async with RecordingUpstream(answer) as upstream:
        policy = POLICY.replace("PORT", str(upstream.port))
        async with reloading(store_url, tmp_path, policy) as gate:
            first = await write(gate.port)
            for old, new in changes:
                assert old in policy
                policy = policy.replace(old, new)
            gate.policy(policy)
            upstream.answer = answering(OK)
            again, other = await write(gate.port), await write(gate.port, b'{"a": 2}')

            assert first.decision == ("forwarded" if known else "outcome-unknown")
            assert again.decision == ("replayed" if known else "outcome-unknown")
            assert other.decision == "intent-mismatch"
            assert len(upstream.seen) == 1
