"""Calls of agents with whatever they may say, drawn from a seed: each is answered, none with a fault of the gateway."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.raw import RawAnswer, RawClient, request
from tests.stack import Stack, stack

POLICY = """
upstream: api
url: http://localhost:{port}
mount: {{path: /r}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: numbered
    match: PUT /r/x/{{id}}
    resource: x/{{path.id}}
    intent: {{mode: optional}}
    fence: {{sequence: increasing}}
    revision: gateway
  - name: queued
    match: POST /r/q/{{id}}/{{rest...}}
    resource: q/{{path.id}}/{{path.rest}}
    intent: {{mode: required}}
    delivery: queued
  - {{name: epoch, match: "PUT /r/e/{{id}}", resource: "e/{{path.id}}", authority: header, on_stale: quarantine}}
  - name: approved
    match: PUT /r/a/{{id}}
    resource: a/{{path.id}}
    intent: {{mode: required}}
    approval: required
"""
RESOURCES = (
    *("x/1", "q/1/2", "e/1", "a/1", "x/", "x", "/", "", "x/1/", "x/%31", "x/1 2", "x/:", "x/a:b c", "x/{id}"),
    *("q/1/2/3/4", "q/1//2", "q/1/..", "*", "**", "x/\0", "x/\ud800", "x/\u202e", "\U0001f600/1", "x/\U0001f600"),
    *("x/" + "a" * 600, "e/" + "9" * 505),
)
TARGETS = (
    *("PUT /r/x/1", "POST /r/q/1/2", "PUT /r/e/1", "GET /r/x/1", "PUT", "PUT ", "PUT  /r/x/1", " PUT /r/x/1"),
    *("PUT /r/x/1?x=1", "PUT /r/x/1#f", "PUT http://h/r/x/1", "PUT /r/x/%2e%2e", "FOO /r/x/1", "PUT /-/fence/leases"),
    *("PUT //r/x/1", "PUT /r/x/1\r\nX: y", "OPTIONS *", "CONNECT a:1", "PUT /r/x/\ud800"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 1e308, 1.5, 60, 86_400, 86_400.0001, 10**30, 2**64, 0.999999),
    *("60", "1e3", [], {}, [1], "A", "a b", " ", "\0", "\ud800", "é", "\U0001f600", "a" * 300),
)
FIELDS = (
    *("Fencing-Token: 1", "Fencing-Token: 18446744073709551615", "Fencing-Token: 18446744073709551616"),
    *("Fencing-Token: 01", "Fencing-Token: a.b.c", "Fencing-Token: ", "Fencing-Token: 1." + "a" * 30),
    *("Fencing-Holder: h", "Fencing-Holder: \xff", "Fencing-Holder: " + "\xc3\xa9" * 200),
    *("Idempotency-Key: k", 'Idempotency-Key: "k"', 'Idempotency-Key: "\\""', "Fencing-Sequence: 18446744073709551615"),
    *("Fencing-Sequence: x", "Fencing-If-Revision: 99999999999999999999", "Expect: 100-continue", "Range: bytes=0-1"),
    *("Prefer: wait=0", "Prefer: wait=99999999999999999999x", 'Prefer: wait=-1, wait="x"'),
    "traceparent: 00-" + "0" * 32 + "-" + "0" * 16 + "-01",
)
LOOKUPS = (
    *(
        "intents/",
        "intents/x",
        "intents/000",
        "intents/" + "9" * 25,
        "intents/39d8tvryjq5zMDVLcCgaN91_w",
        "intents/%00",
    ),
    *("intents/a/b", "leases", "leases?resource=%FF", "leases?resource=x/1&resource=x/2", "", "x", "leases/renew"),
    "leases?resource=" + "a" * 700,
)
WRITES = (
    *("PUT /r/x/1", "POST /r/q/1/2", "PUT /r/e/1", "PUT /r/a/1", "PUT /r/x/%F0%9F%98%80", "POST /r/q/1/2/3"),
    "PUT /r/e/%00",
)
BODIES = (b"{}", b"", b'{"a":1e999}', b"[" * 70 + b"]" * 70, b"\xff", b'{"a":1,"a":2}')
# What a right gateway may say of its own accord while others write.
BUSY = {"store-unavailable", "takeover-pending", "resource-busy"}


def lease_call(draw: random.Random) -> tuple[str, str, bytes]:
    """Mostly with the right members, of which some have another value."""
    call = draw.choice(("leases", "leases", "leases/renew", "leases/release", "epochs"))
    asked: dict[str, Any] = {}
    if draw.random() < 0.85:
        asked["resource"] = draw.choice(RESOURCES[:4] if draw.random() < 0.5 else (*RESOURCES, *VALUES))
    if draw.random() < 0.15:
        asked["target"] = draw.choice(TARGETS if draw.random() < 0.85 else VALUES)
    if call == "leases":
        for name, usual in (("holder", "A"), ("ttl_s", 60), ("takeover", True)):
            if draw.random() < 0.9:
                asked[name] = usual if draw.random() < 0.8 else draw.choice(VALUES)
    if draw.random() < 0.2:
        asked["wait_s"] = draw.choice((0, 0.01, -1, 56, "1", None, True, [], 1e308))
    body = json.dumps(asked).encode()
    return "POST", f"/-/fence/{call}", body[: draw.randint(0, len(body))] if draw.random() < 0.1 else body


def drawn(draw: random.Random, tokens: list[str]) -> bytes:
    """Half of them under a token that was granted, be it for this resource or another."""
    chance = draw.random()
    if chance < 0.6:
        method, target, body = lease_call(draw)
    elif chance < 0.7:
        method, target, body = "GET", f"/-/fence/{draw.choice(LOOKUPS)}", b""
    else:
        method, _, target = draw.choice(WRITES).partition(" ")
        body = draw.choice(BODIES)
    fields = draw.sample(FIELDS, draw.randint(0, 3))
    if tokens and draw.random() < 0.5:
        fields = [field for field in fields if not field.startswith("Fencing-Token")]
        fields.append(f"Fencing-Token: {draw.choice(tokens[-6:])}")
    return request(method, target, *fields, body=body)


async def answered(gate: Stack, data: bytes) -> RawAnswer:
    async with RawClient(gate.port) as client:
        await client.send(data)
        return await client.answer(data.split(b" ", 1)[0].decode())


@pytest.mark.parametrize(
    ("seed", "calls"),
    [(1, 1_000), (2, 1_000), *(pytest.param(seed, 15_000, marks=pytest.mark.slow) for seed in (3, 4))],
)
async def test_no_call_fails(store_url: str, tmp_path: Path, seed: int, calls: int) -> None:
    """Nor is anybody kept from a lease by them afterwards, and the log tells of no bug."""
    draw = random.Random(seed)
    told: set[str | None] = set()
    tokens: list[str] = []
    async with stack(store_url, tmp_path, POLICY) as gate:
        for _ in range(calls):
            data = drawn(draw, tokens)
            answer = await answered(gate, data)
            told.add(answer.decision)
            if answer.status == 201 and answer.decision == "granted":
                tokens.append(json.loads(answer.body)["token"])
            assert answer.status < 500 or answer.decision in BUSY, (data, answer)

        assert None not in told
        assert told >= {"granted", "lease-held", "released", "awaiting-approval", "bad-request", "stale-epoch"}
        assert (await gate.lease("x/last")).status == 201
        assert "Traceback" not in gate.log.read_text()
        assert '"level":"error"' not in gate.log.read_text()
