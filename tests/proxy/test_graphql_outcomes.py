"""What becomes of an operation of GraphQL that its server refuses by status."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.recording import answering
from tests.stack import Stack, stack
from tests.until import until

POLICY = """
upstream: pay
url: http://localhost:{port}
mount: {{path: /graphql}}
writes:
  - name: pay
    match: POST /graphql
    when: {{graphql: {{mutation: [pay]}}}}
    resource: account/{{graphql.id}}
    intent: {{mode: required}}
"""
EARLY = b'{"errors": [{"message": "Unknown argument."}]}'
LATE = b'{"errors": [{"message": "too much", "path": ["b"]}], "data": {"a": {"id": "7"}, "b": null}}'
BARE = b'{"errors": [{"message": "too much", "path": ["b"]}]}'
OWN = b'{"message": "Bad credentials"}'
LARGE = LATE[:-1] + b', "extensions": {"x": "' + b"x" * 900_000 + b'"}}'


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY) as gate:
        yield gate


async def pay(gate: Stack) -> RawAnswer:
    document = 'mutation { a: pay(id: "7", amount: 5) { id } b: pay(id: "7", amount: 0) { id } }'
    fields = "Content-Type: application/json", f"Fencing-Token: {gate.tokens['agent-a']}", "Idempotency-Key: k-1"
    return await ask(gate.port, "POST", "/graphql", *fields, body=json.dumps({"query": document}).encode())


@pytest.mark.parametrize(
    ("status", "body", "outcome", "again"),
    [
        ("400 Bad Request", LATE, "unknown", "outcome-unknown"),
        ("403 Forbidden", BARE, "unknown", "outcome-unknown"),
        ("400 Bad Request", LARGE, None, "outcome-unknown"),
        ("400 Bad Request", EARLY, "not_applied", "forwarded"),
        ("401 Unauthorized", OWN, "not_applied", "forwarded"),
        ("413 Content Too Large", b"<html>", "not_applied", "forwarded"),
        ("500 Internal Server Error", EARLY, "unknown", "outcome-unknown"),
        ("200 OK", LATE, "applied", "replayed"),
    ],
    ids=[
        *("a later field refused", "without data", "large", "no such argument", "who stands before it", "no GraphQL"),
        *("a fault", "a later field refused, 200"),
    ],
)
async def test_a_field_that_is_refused_behind_another_holds_the_key(
    gate: Stack, status: str, body: bytes, outcome: str | None, again: str
) -> None:
    """Servers take the answer's status from what a resolver throws, once the fields before it have acted."""
    kind = "text/html" if body == b"<html>" else "application/json"
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    gate.upstream.answer = answering(head.encode() + body)
    await gate.lease("account/7")
    first = await pay(gate)
    second: list[RawAnswer] = []

    async def is_settled() -> bool:
        second[:] = [await pay(gate)]
        return second[0].decision != "intent-in-progress"

    await until(is_settled)
    assert (first.decision, first.value("Fencing-Outcome"), first.body) == ("forwarded", outcome, body)
    assert second[0].decision == again
    assert len(gate.upstream.seen) == 1 + (again == "forwarded")
