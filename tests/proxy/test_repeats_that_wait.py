"""What a person has seen, or the API has refused, is not swapped by a repeat under its key: over the wire."""

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.admin.conftest import Admin, listening
from tests.raw import RawAnswer
from tests.recording import RecordingUpstream, answering
from tests.stack import Stack, stack
from tests.until import until

POLICY = """
upstream: accounts
url: http://localhost:{port}
mount: {{path: /accounts}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: whole
    match: POST /accounts/{{id}}/whole
    resource: account/{{path.id}}
    intent: {{mode: required}}
    approval: required
  - name: nothing
    match: POST /accounts/{{id}}/nothing
    resource: account/{{path.id}}
    intent: {{mode: required, fingerprint: none}}
    approval: required
  - name: amount
    match: POST /accounts/{{id}}/amount
    resource: account/{{path.id}}
    intent: {{mode: required, fingerprint: [/amount]}}
    approval: required
  - name: queue
    match: POST /accounts/{{id}}/queue
    resource: account/{{path.id}}
    intent: {{mode: required, fingerprint: none}}
    delivery: queued
"""
REFUSED = b"HTTP/1.1 409 No\r\nContent-Length: 0\r\n\r\n"
DONE = b"HTTP/1.1 204 No Content\r\n\r\n"
JSON = "Content-Type: application/json"


@dataclass
class Desk:
    """A gateway whose writes wait, and its operators' listener."""

    agents: Stack
    admin: Admin

    async def ask(self, path: str, body: bytes, *fields: str) -> RawAnswer:
        """One write under the one key."""
        kind = () if any(field.startswith("Content-Type") for field in fields) else (JSON,)
        named = ("Idempotency-Key: k", *kind, *fields)
        return await self.agents.write(f"/accounts/7/{path}", *named, method="POST", body=body)

    async def show(self, id: str) -> Any:
        return json.loads((await self.admin.call("GET", f"/api/v1/intents/{id}")).body)

    async def approve(self, id: str, digest: str) -> None:
        document = json.dumps({"digest": digest, "note": "seen"}).encode()
        answer = await self.admin.call("POST", f"/api/v1/intents/{id}/approve", body=document)
        assert answer.status == 200, answer

    async def refused_retry(self, id: str) -> str:
        """What an operator is told who wants it sent again."""
        answer = await self.admin.call("POST", f"/api/v1/intents/{id}/retry", body=b'{"note": "once more"}')
        assert (answer.status, answer.problem["type"]) == (409, "urn:fencegate:wrong-state")
        return str(answer.problem["detail"])

    async def becomes(self, id: str, state: str) -> None:
        async def is_so() -> bool:
            return bool((await self.show(id))["state"] == state)

        await until(is_so)

    @property
    def sent(self) -> list[bytes]:
        return [seen.body for seen in self.agents.upstream.seen]


@pytest.fixture
async def desk(store_url: str, tmp_path: Path) -> AsyncIterator[Desk]:
    (tmp_path / "admin").mkdir()
    async with contextlib.AsyncExitStack() as ending:
        agents = await ending.enter_async_context(
            stack(store_url, tmp_path, POLICY, RecordingUpstream(answering(DONE)))
        )
        policy = POLICY.format(port=agents.upstream.port)
        admin = await ending.enter_async_context(listening(store_url, tmp_path / "admin", policy=policy))
        await agents.lease("account/7")
        yield Desk(agents, admin)


def id_of(answer: RawAnswer) -> str:
    return str(json.loads(answer.body)["id"])


@pytest.mark.parametrize(
    ("path", "first", "second"),
    [
        ("whole", (b'{"jsonrpc":"2.0","id":"a","n":5}',), (b'{"jsonrpc":"2.0","id":"b","n":5}',)),
        ("whole", (b'{"n": 5}', "X-Account: one"), (b'{"n": 5}', "X-Account: other")),
        ("whole", (b"n=5", "Content-Type: text/plain"), (b"n=5", "Content-Type: application/x-www-form-urlencoded")),
        ("nothing", (b'{"amount": 1}',), (b'{"amount": 1000}',)),
        ("amount", (b'{"amount": 1, "to": "me"}',), (b'{"amount": 1, "to": "you"}',)),
    ],
    ids=["another id of the call", "another header", "another type", "nothing is compared", "the amount is compared"],
)
async def test_what_was_approved_is_what_is_sent(
    desk: Desk, path: str, first: tuple[Any, ...], second: tuple[Any, ...]
) -> None:
    """A repeat that counts as alike changes nothing of what waits: the first bytes and fields go out, once."""
    taken = await desk.ask(path, *first)
    before = await desk.show(id_of(taken))
    repeat = await desk.ask(path, *second)
    waiting = await desk.show(id_of(taken))
    await desk.approve(id_of(taken), before["digest"])
    await desk.becomes(id_of(taken), "applied")
    after = await desk.ask(path, *second)

    assert [(answer.status, answer.decision) for answer in (taken, repeat)] == [(202, "awaiting-approval")] * 2
    assert (id_of(repeat), waiting["digest"]) == (id_of(taken), before["digest"])
    assert (after.status, after.decision) == (204, "replayed")
    [seen] = desk.agents.upstream.seen
    kind = next((field for field in first[1:] if field.startswith("Content-Type")), JSON)
    assert (seen.body, [f"Content-Type: {value}" for value in seen.values("content-type")]) == (first[0], [kind])
    assert [f"X-Account: {value}" for value in seen.values("x-account")] == [
        field for field in first[1:] if field.startswith("X-Account")
    ]


@pytest.mark.parametrize("when", ["before the approval", "after it"])
@pytest.mark.parametrize("path", ["nothing", "amount"])
async def test_nor_does_a_successor_swap_it(desk: Desk, path: str, when: str) -> None:
    """Who took over repeats what it finds, and says something else where its rule does not compare that."""
    bodies = b'{"amount": 1, "to": "me"}', b'{"amount": 1, "to": "you"}'
    taken = await desk.ask(path, bodies[0])
    before = await desk.show(id_of(taken))
    await desk.agents.lease("account/7", "agent-b", takeover=True)
    desk.agents.tokens["agent-a"] = desk.agents.tokens["agent-b"]
    repeat = await desk.ask(path, bodies[1])
    waiting = await desk.show(id_of(taken))
    await desk.approve(id_of(taken), before["digest"])
    if when == "after it":
        await desk.ask(path, bodies[1])
    await desk.becomes(id_of(taken), "applied")
    after = await desk.ask(path, bodies[1])

    assert (repeat.decision, id_of(repeat), waiting["digest"]) == ("awaiting-approval", id_of(taken), before["digest"])
    assert (after.status, after.decision, desk.sent) == (204, "replayed", [bodies[0]])


@pytest.mark.parametrize("path", ["whole", "nothing"])
async def test_an_approval_is_of_what_was_seen_alone(desk: Desk, path: str) -> None:
    """What the API has refused frees its key; another request under it waits for an approval of its own."""
    desk.agents.upstream.answer = answering(REFUSED)
    taken = await desk.ask(path, b'{"amount": 1}')
    await desk.approve(id_of(taken), (await desk.show(id_of(taken)))["digest"])
    await desk.becomes(id_of(taken), "failed")
    desk.agents.upstream.answer = answering(DONE)
    other = await desk.ask(path, b'{"amount": 1000}')
    told = await desk.refused_retry(id_of(other))

    assert (other.status, other.decision) == (202, "awaiting-approval")
    assert "the intent is awaiting_approval" in told
    assert (await desk.show(id_of(other)))["state"] == "awaiting_approval"
    assert desk.sent == [b'{"amount": 1}']


async def test_a_refused_write_gives_way_to_the_one_under_its_key(desk: Desk) -> None:
    """Only the new one is sent, once; an operator's word does not bring the old one back."""
    desk.agents.upstream.answer = answering(REFUSED)
    taken = await desk.ask("queue", b'{"amount": 1}')
    await desk.becomes(id_of(taken), "failed")
    desk.agents.upstream.answer = answering(DONE)
    other = await desk.ask("queue", b'{"amount": 1000}')
    await desk.becomes(id_of(other), "applied")
    told = await desk.refused_retry(id_of(other))

    assert (other.status, other.decision) == (202, "queued")
    assert "the intent is applied" in told
    assert desk.sent == [b'{"amount": 1}', b'{"amount": 1000}']
