"""What an operator who has only the command line can find out and end: an unknown payment, an overtaken agent, and a
store that was away.
"""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway import settings
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, answer_ok, answering
from tests.store.server import Server
from tests.story.gateways import Gateway
from tests.until import until

pytestmark = pytest.mark.slow

POLICY = """
upstream: bank
url: http://127.0.0.1:{port}
mount: {{path: /payments}}
timeouts: {{connect: 1s, total: 5s, late: 1s}}
writes:
  - name: pay
    match: POST /payments/{{account}}
    resource: account/{{path.account}}
    intent: {{mode: optional}}
"""
ACME = "account/acme"


@dataclass
class Told:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


@dataclass
class Bank:
    """A gateway before a payment API; agents call it, and the operator has its commands."""

    gateway: Gateway
    upstream: RecordingUpstream

    async def pay(self, holder: str, key: str) -> RawAnswer:
        fields = (f"Fencing-Token: {self.gateway.tokens[holder]}", f"Idempotency-Key: {key}")
        kind = "Content-Type: application/json"
        return await ask(self.gateway.port, "POST", "/payments/acme", *fields, kind, body=b'{"amount": 1250}')

    async def says(self, *words: str) -> Told:
        """`fencegate WORDS`, as the operator types it."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=settings.environment() | {"FENCEGATE_ADMIN": f"127.0.0.1:{self.gateway.admin}"},
        )
        out, err = await process.communicate()
        assert process.returncode is not None
        return Told(process.returncode, out.decode(), err.decode())


@pytest.fixture
async def bank(tmp_path: Path, flushed_store: Server) -> AsyncIterator[Bank]:
    (tmp_path / "policies").mkdir()
    async with RecordingUpstream() as upstream:
        (tmp_path / "policies" / "bank.yaml").write_text(POLICY.format(port=upstream.port))
        async with Gateway(tmp_path / "policies", tmp_path / "gateway", flushed_store.url) as gateway:
            yield Bank(gateway, upstream)


def steps(told: Told) -> list[tuple[str, str]]:
    """The steps of a list of events, each with whom its epoch was granted to; the oldest first."""
    events = json.loads(told.out)
    holders = {event["epoch"]: event["holder"] for event in events if event["to"] == "granted"}
    return [(event["to"], holders[event["epoch"]]) for event in reversed(events)]


@pytest.mark.promise("G5")
async def test_an_unknown_payment_is_found_and_resolved(bank: Bank) -> None:
    """The list says which one it is, the command that shows it says all that is known, and one word ends it."""
    await bank.gateway.lease(ACME, "agent-a")
    bank.upstream.answer = answering(b"", close=True)
    assert (await bank.pay("agent-a", "invoice-17")).decision == "outcome-unknown"
    bank.upstream.answer = answer_ok

    listed = await bank.says("intents")
    head, line = listed.out.splitlines()
    assert head.startswith("ID")
    assert ACME in line and "invoice-17" in line
    intent = line.split()[0]
    shown = await bank.says("intents", "show", intent)
    assert re.search(r"^state +unknown$", shown.out, re.MULTILINE), shown.out
    assert "in_flight > unknown" in shown.out
    resolved = await bank.says("intents", "resolve", intent, "--applied", "--note", "the bank has it, 14:02")
    assert (resolved.status, resolved.out) == (0, f"{intent} is applied.\n")
    assert "It counts as done: whoever repeats it is told so, and nothing is sent." in resolved.err

    assert (await bank.says("intents")).out == "No intent is unknown.\n"
    assert (await bank.pay("agent-a", "invoice-17")).decision == "replayed"
    assert len(bank.upstream.seen) == 1
    trail = await bank.says("audit", "--intent", intent)
    assert "unknown > applied" in trail.out and "the bank has it, 14:02" in trail.out


@pytest.mark.promise("G2")
async def test_an_overtaken_agent_is_understood_and_ended(bank: Bank) -> None:
    """Who has the resource now, since when, who was refused, and how whoever has it is ended too."""
    await bank.gateway.lease(ACME, "agent-a")
    assert (await bank.pay("agent-a", "invoice-1")).status == 200
    await bank.gateway.lease(ACME, "agent-b", takeover=True)
    assert (await bank.pay("agent-a", "invoice-2")).decision == "stale-epoch"
    assert (await bank.pay("agent-b", "invoice-3")).status == 200

    leases = await bank.says("leases")
    assert [line.split()[:2] for line in leases.out.splitlines()[1:]] == [[ACME, "agent-b"]]
    trail = await bank.says("audit", "--resource", ACME, "--json")
    assert steps(trail) == [
        ("granted", "agent-a"),
        ("in_flight", "agent-a"),
        ("applied", "agent-a"),
        ("granted", "agent-b"),
        ("refused", "agent-a"),
        ("in_flight", "agent-b"),
        ("applied", "agent-b"),
    ]
    table = (await bank.says("audit", "--resource", ACME)).out
    assert "taken over from agent-a with " in table and "stale-epoch" in table

    ended = await bank.says("resources", "advance", ACME)
    assert ended.status == 0 and "every older one is refused" in ended.out
    assert (await bank.pay("agent-b", "invoice-4")).decision == "stale-epoch"
    assert (await bank.says("leases")).out == "There is no live lease of this kind.\n"
    assert [payment.line for payment in bank.upstream.seen] == ["POST /payments/acme HTTP/1.1"] * 2
    verified = await bank.says("audit", "verify")
    assert (verified.status, verified.out) == (0, "9 events were verified: none is missing, none was changed.\n")


@pytest.mark.promise("G6")
async def test_a_store_that_was_away_is_found_and_checked(bank: Bank, flushed_store: Server) -> None:
    """Each command says what is away, and what to do; afterwards that nothing was lost and nothing was changed."""
    await bank.gateway.lease(ACME, "agent-a")
    assert (await bank.pay("agent-a", "invoice-1")).status == 200
    flushed_store.kill()
    assert (await bank.pay("agent-a", "invoice-2")).decision == "store-unavailable"

    away = await bank.says("resources", "show", ACME)
    assert away.status == 1
    assert "The store did not answer" in away.err and "`fencegate doctor --store URL`" in away.err
    doctor = await bank.says("doctor", "--store", flushed_store.url)
    assert doctor.status == 1
    assert doctor.out.startswith("BAD reachable: ") and "Start the store" in doctor.out

    flushed_store.start()

    async def is_back() -> bool:
        return (await bank.says("store")).status == 0

    await until(is_back)
    assert (await bank.says("store")).out.endswith("Nothing is missing.\n")
    assert (await bank.says("leases")).out.splitlines()[1].split()[:2] == [ACME, "agent-a"]
    assert (await bank.pay("agent-a", "invoice-2")).status == 200
    verified = await bank.says("audit", "verify", "--json")
    assert (verified.status, json.loads(verified.out)["findings"]) == (0, [])
