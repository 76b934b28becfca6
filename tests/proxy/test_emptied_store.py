"""A store that was emptied under living gateways, before any of them has missed its mark there."""

import json
from pathlib import Path
from typing import Any

from gateway.store.keys import marks
from tests.raw import ask
from tests.stack import Stack, stack
from tests.until import until

POLICY = """
upstream: mail
url: http://localhost:{port}
mount: {{path: /mail}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: send
    match: POST /mail/{{box}}
    resource: mailbox/{{path.box}}
    authority: header
    intent: {{mode: required}}
  - name: draft
    match: PUT /mail/drafts/{{box}}
    resource: draft/{{path.box}}
  - name: file
    match: PUT /mail/{{box}}
    resource: mailbox/{{path.box}}
    authority: header
"""


async def send(gate: Stack) -> str | None:
    """The same action, under the same key."""
    gate.tokens["agent-a"] = "41"
    fields = ("Fencing-Holder: agent-a", "Idempotency-Key: order-17", "Content-Type: application/json")
    return (await gate.write("/mail/7", *fields, method="POST")).decision


def directory(beside: Path, name: str) -> Path:
    (beside / name).mkdir()
    return beside / name


def has_marked_twice(raw: Any) -> bool:
    """Each has learned what the shards began with between its first marks."""
    numbers = [int(mark.partition(b" ")[0]) for mark in raw.hgetall(marks("000")).values()]
    return len(numbers) == 2 and min(numbers) > 1


async def test_a_key_that_was_executed_is_not_executed_by_one_who_never_saw_it(
    store_url: str, tmp_path: Path, raw: Any
) -> None:
    """It knows nothing of the mailbox, and yet that this is not the store that it knew (G4, G6)."""
    async with (
        stack(store_url, directory(tmp_path, "one"), POLICY) as one,
        stack(store_url, directory(tmp_path, "two"), POLICY) as two,
    ):
        await until(lambda: has_marked_twice(raw))
        assert await send(one) == "forwarded"

        raw.flushall()

        assert await send(two) == "store-regressed"
        assert two.upstream.seen == []
        assert await send(one) == "store-regressed"
        assert len(one.upstream.seen) == 1


async def test_an_older_epoch_is_admitted_by_nobody(store_url: str, tmp_path: Path, raw: Any) -> None:
    """Nor by a gateway that never saw the resource; what it grants before it has looked around is nothing, and what it
    grants afterwards is not drained (G1, G3)."""
    async with (
        stack(store_url, directory(tmp_path, "one"), POLICY) as one,
        stack(store_url, directory(tmp_path, "two"), POLICY) as two,
    ):
        await until(lambda: has_marked_twice(raw))
        await one.lease("draft/7")
        old = await one.write("/mail/drafts/7")
        newer = await ask(one.port, "PUT", "/mail/7", "Fencing-Token: 100", "Fencing-Holder: a", body=b"x")

        raw.flushall()

        told = [await ask(gate.port, "PUT", "/mail/7", "Fencing-Token: 50", "Fencing-Holder: b", body=b"x")
                for gate in (two, one)]  # fmt: skip
        granted = await two.lease("draft/7", "agent-b")
        stale = await one.write("/mail/drafts/7")

        assert [answer.decision for answer in (old, newer)] == ["forwarded"] * 2
        assert [answer.decision for answer in (*told, stale)] == ["store-regressed"] * 3
        assert granted.decision == "store-regressed" or not json.loads(granted.body)["drained"]
        assert (len(one.upstream.seen), two.upstream.seen) == (2, [])
