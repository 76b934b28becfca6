"""What one gateway has granted, ended or left unknown holds at the other at once: they share a store, and no memory."""

import json
from pathlib import Path

import pytest

from tests.proxy.lease_calls import ASKED, lease_call
from tests.raw import ask
from tests.recording import OK, RecordingUpstream, answering
from tests.sessions import POLICY as ROOMS
from tests.sessions import Agent, SessionUpstream, lease
from tests.stack import POLICY, stack

KEYED = POLICY + "    intent: {{mode: required}}\n"
KEY = "Idempotency-Key: gk"


async def test_a_lease_ends_at_both(store_url: str, tmp_path: Path) -> None:
    """Given back at one, its token is dead at the other; so is the repeat of its grant, and the successor writes."""
    other_directory = tmp_path / "other"
    other_directory.mkdir()
    async with stack(store_url, tmp_path) as one, stack(store_url, other_directory) as other:
        first = json.loads((await lease_call(one, "leases", KEY, **ASKED)).body)
        again = json.loads((await lease_call(other, "leases", KEY, **ASKED)).body)
        token = f"Fencing-Token: {first['token']}"
        written = await ask(other.port, "PUT", "/reports/7", token, body=b"{}")
        await lease_call(one, "leases/release", token)
        dead = await ask(other.port, "PUT", "/reports/7", token, body=b"{}")
        late = await lease_call(other, "leases", KEY, **ASKED)
        newer = json.loads((await other.lease("report/7", "b")).body)
        older = await ask(one.port, "PUT", "/reports/7", token, body=b"{}")

        assert (again["token"], written.decision) == (first["token"], "forwarded")
        assert [answer.decision for answer in (dead, late, older)] == ["lease-expired", "lease-lost", "stale-epoch"]
        assert (newer["drained"], len(one.upstream.seen), len(other.upstream.seen)) == (True, 0, 1)


async def test_an_unknown_intent_is_held_at_both(store_url: str, tmp_path: Path) -> None:
    """Also for the successor; a refused one is free at both, and an applied one is replayed at both."""
    other_directory = tmp_path / "other"
    other_directory.mkdir()
    broken = RecordingUpstream(answering(b"", close=True))
    async with stack(store_url, tmp_path, KEYED, broken) as one, stack(store_url, other_directory, KEYED) as other:
        await one.lease("report/7")
        other.tokens = one.tokens
        unknown = await one.write("/reports/7", "Idempotency-Key: k-1")
        held = await other.write("/reports/7", "Idempotency-Key: k-1")
        one.upstream.answer = answering(b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n")
        refused = await one.write("/reports/7", "Idempotency-Key: k-2")
        one.upstream.answer = answering(OK)
        free = await other.write("/reports/7", "Idempotency-Key: k-2", body=b'{"other": 1}')
        replayed = await one.write("/reports/7", "Idempotency-Key: k-2", body=b'{"other": 1}')
        await other.lease("report/7", "b", takeover=True)
        still = await other.write("/reports/7", "Idempotency-Key: k-1", holder="b")

        assert [answer.decision for answer in (unknown, held, still)] == ["outcome-unknown"] * 3
        assert refused.value("Fencing-Outcome") == "not_applied"
        assert [answer.decision for answer in (free, replayed)] == ["forwarded", "replayed"]
        assert (len(one.upstream.seen), len(other.upstream.seen)) == (2, 1)


@pytest.mark.parametrize("key", [(), ("Idempotency-Key: k",)], ids=["without a key", "with a key that no rule reads"])
async def test_a_session_at_one_ends_before_the_write_at_the_other(
    store_url: str, tmp_path: Path, key: tuple[str, ...]
) -> None:
    """The successor's write waits for it there, too."""
    other_directory = tmp_path / "other"
    other_directory.mkdir()
    upstream, patient = SessionUpstream(), ROOMS.replace("queue_timeout: 100ms", "queue_timeout: 5s")
    async with (
        stack(store_url, tmp_path, patient, upstream) as one,
        stack(store_url, other_directory, patient.replace("{port}", str(upstream.port))) as other,
        Agent(one.port) as agent,
    ):
        opened = await agent.open("/rooms/7/live", await lease(one.port, "room/7"), *key)
        newer = await lease(other.port, "room/7", "b", takeover=True)
        written = await ask(other.port, "PUT", "/rooms/7", f"Fencing-Token: {newer}", body=b"new")
        rest = await agent.rest()

        assert (opened.status, written.decision) == (101, "forwarded")
        assert rest.endswith(b"stale-epoch")
        assert [event.partition(" ")[0] for event in upstream.order] == ["asked", "began", "reset", "PUT"]
