"""Two tenants that write one resource: their intents are apart, and what holds it back is named and no more."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.proxy.principals import POLICY as PLAIN
from tests.proxy.principals import Gate, gateway
from tests.raw import RawAnswer
from tests.recording import OK, RecordingUpstream, Seen, answering
from tests.until import until

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
defaults: {{intent: {{mode: required}}}}
writes:
  - {{name: ask, match: "PATCH /reports/{{id}}", resource: "report/{{path.id}}", approval: required}}
  - {{name: write, match: "PUT /reports/{{id}}", resource: "report/{{path.id}}", fence: {{after_unknown: hold}}}}
"""


async def write(gate: Gate, name: str, method: str, key: str) -> RawAnswer:
    """Under a lease of its own, which ends with it."""
    await gate.grant(name, "report/7")
    fields = (f"Fencing-Token: {gate.tokens[name]}", f"Idempotency-Key: {key}")
    answer = await gate.by(name, method, "/reports/7", *fields, body={"a": 1})
    await gate.end(name, "report/7")
    return answer


async def shown(gate: Gate, name: str, id: object, *fields: str) -> tuple[int, str | None]:
    answer = await gate.by(name, "GET", f"/-/fence/intents/{id}", *fields)
    return answer.status, answer.decision


async def test_one_key_of_two_tenants_waits_twice(store_url: str, tmp_path: Path) -> None:
    """At one target and with one body: each has its own 202, and sees its own."""
    async with gateway(store_url, tmp_path, policy=POLICY) as gate:
        told = {name: await write(gate, name, "PATCH", "k") for name in ("ada", "bob")}
        ids = {name: json.loads(answer.body)["id"] for name, answer in told.items()}
        seen = [(await shown(gate, name, id))[0] for id in ids.values() for name in ids]

        assert [(one.status, one.decision) for one in told.values()] == [(202, "awaiting-approval")] * 2
        assert len(set(ids.values())) == 2
        assert seen == [200, 404, 404, 200]
        assert gate.upstream.seen == []


async def test_an_unknown_write_of_another_tenant_is_named_and_not_shown(store_url: str, tmp_path: Path) -> None:
    """Whoever is held back by it can tell an operator which; no token of the resource opens it."""
    silent = RecordingUpstream(answer=answering(b"", close=True))
    async with gateway(store_url, tmp_path, silent, POLICY) as gate:
        unknown = await write(gate, "ada", "PUT", "ada-has-a-key")
        held = await write(gate, "bob", "PUT", "k")
        id = unknown.problem["intent"]["id"]
        told = [await shown(gate, "bob", id, *([f"Fencing-Token: {gate.tokens[whose]}"] if whose else []))
                for whose in ("", "bob", "ada")]  # fmt: skip

        assert (held.status, held.decision, held.problem["intent"]["id"]) == (409, "outcome-unknown", id)
        assert b"ada" not in held.body
        assert told == [(404, "no-such-intent")] * 3
        assert await shown(gate, "ada", id) == (200, "shown")
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize(
    ("key", "other"),
    [((), (200, "shown")), (("Idempotency-Key: k",), (404, "no-such-intent"))],
    ids=["unkeyed", "keyed"],
)
async def test_what_a_late_answer_proved_is_told_to_other_tenants_without_it(
    store_url: str, tmp_path: Path, key: tuple[str, ...], other: tuple[int, str]
) -> None:
    """An unkeyed write is its resource's: who has a right to that sees its state and no answer; a key is a tenant's."""
    told = asyncio.Event()

    async def late(_: Seen, writer: asyncio.StreamWriter) -> None:
        await told.wait()
        writer.write(OK)

    policy = PLAIN.replace("connect: 1s, total: 5s", "connect: 100ms, total: 300ms")
    async with gateway(store_url, tmp_path, RecordingUpstream(late), policy) as gate:
        await gate.grant("ada", "report/7")
        unknown = await gate.put("ada", "/reports/7", *key, body={"a": 1})
        id = unknown.problem["intent"]["id"]
        told.set()
        own: list[RawAnswer] = []

        async def has_ended() -> bool:
            own.append(await gate.by("ada", "GET", f"/-/fence/intents/{id}"))
            return bool(json.loads(own[-1].body)["state"] != "unknown")

        await until(has_ended)
        seen = await gate.by("bob", "GET", f"/-/fence/intents/{id}")

        assert (unknown.status, json.loads(own[-1].body)["state"]) == (504, "applied")
        assert (seen.status, seen.decision) == other
        if seen.status == 200:
            assert json.loads(seen.body)["state"] == "applied"
            assert json.loads(seen.body).get("response") is None
        assert b'"ok"' not in seen.body
