"""Grants under a key, called again by others, otherwise, or too late: the key's own lease or none."""

import json
from pathlib import Path

import pytest

from tests.proxy.lease_calls import ASKED, lease_call
from tests.proxy.principals import Gate, gateway
from tests.raw import RawAnswer
from tests.stack import stack

KEY = "Idempotency-Key: gk"


async def granted(gate: Gate, name: str, holder: str) -> RawAnswer:
    body = {"resource": "report/c7", "holder": holder, "ttl_s": 60}
    return await gate.by(name, "POST", "/-/fence/leases", KEY, body=body)


async def test_a_key_gives_nobody_anothers_token(store_url: str, tmp_path: Path) -> None:
    """Another of the tenant or of another one, under the same key, naming the same holder: the lease is held."""
    async with gateway(store_url, tmp_path) as gate:
        first = await granted(gate, "ada", "a")
        others = [await granted(gate, name, "a") for name in ("cyd", "bob")]
        another = await granted(gate, "ada", "b")
        again = await granted(gate, "ada", "a")

        assert [(answer.status, answer.decision) for answer in (*others, another)] == [(409, "lease-held")] * 3
        token = json.loads(first.body)["token"]
        assert not any(token.partition(".")[2].encode() in answer.body for answer in (*others, another))
        assert json.loads(again.body)["token"] == token


@pytest.mark.parametrize("more", [{"ttl_s": 600}, {"takeover": True}, {"wait_s": 20}], ids=str)
async def test_a_repeat_that_asks_for_more_gets_what_was_granted(
    store_url: str, tmp_path: Path, more: dict[str, object]
) -> None:
    """The same lease under the same token, until the same instant."""
    async with stack(store_url, tmp_path) as gate:
        first = json.loads((await lease_call(gate, "leases", KEY, **ASKED)).body)
        again = json.loads((await lease_call(gate, "leases", KEY, **(ASKED | more))).body)

        told = ("epoch", "token", "expires_at")
        assert [again[name] for name in told] == [first[name] for name in told]


@pytest.mark.parametrize("more", [{}, {"takeover": True}, {"wait_s": 20}], ids=str)
async def test_a_repeat_behind_a_takeover_waits_for_nothing(
    store_url: str, tmp_path: Path, more: dict[str, object]
) -> None:
    """Its lease is lost, and stays so when the successor lets go."""
    async with stack(store_url, tmp_path) as gate:
        await lease_call(gate, "leases", KEY, **ASKED)
        await gate.lease("report/7", "b", takeover=True)
        held = await lease_call(gate, "leases", KEY, **(ASKED | more))
        written = await gate.write("/reports/7", holder="b")
        await lease_call(gate, "leases/release", f"Fencing-Token: {gate.tokens['b']}")
        free = await lease_call(gate, "leases", KEY, **(ASKED | more))

        assert [(answer.status, answer.decision) for answer in (held, free)] == [(409, "lease-lost")] * 2
        assert written.decision == "forwarded"
        assert await gate.highest("report/7") is None
