"""A list or an object where a rule reads one value is no value: some APIs take the item of a list for the list."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
defaults: {{authority: header}}
read_only:
  - {{match: POST /ask, when: {{json: {{/op: [get, list]}}}}}}
writes:
  - {{name: one, match: POST /docs, resource: "doc/{{json:/id}}"}}
  - {{name: first, match: POST /lists, resource: "doc/{{json:/items/0/id}}"}}
  - {{name: keyed, match: POST /keyed, resource: keyed, intent: {{mode: required, key: "{{json:/k}}"}}}}
  - name: paid
    match: POST /paid
    resource: paid
    budget: [{{per: tenant, window: 1d, value: "json:/amount", total: 10}}]
"""


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY) as gate:
        yield gate


async def post(gate: Stack, target: str, body: bytes, *fields: str) -> RawAnswer:
    return await ask(gate.port, "POST", target, "Content-Type: application/json", *fields, body=body)


async def post_all(gate: Stack, target: str, *bodies: bytes, epoch: int = 5) -> list[tuple[int, str | None]]:
    answers = [await post(gate, target, body, *proof(epoch)) for body in bodies]
    return [(answer.status, answer.decision) for answer in answers]


async def test_an_id_in_a_list_names_no_resource(gate: Stack) -> None:
    """Nor one that is a member's name; no epoch has moved."""
    refused = await post_all(gate, "/docs", b'[{"id":7}]', b'["7"]', b'{"id":["7"]}', b'{"id":{"7":null}}')

    assert refused == [(400, "resource-unresolved")] * 4
    assert await post_all(gate, "/docs", b'{"id":"7"}', epoch=1) == [(200, "forwarded")]
    assert [seen.body for seen in gate.upstream.seen] == [b'{"id":"7"}']


async def test_a_list_in_a_list_is_no_item(gate: Stack) -> None:
    """A place is one of the list that is named, however many lists are around what stands there."""
    refused = await post_all(gate, "/lists", b'{"items":[[{"id":8}]]}', b'{"items":[["8"]]}')

    assert refused == [(400, "resource-unresolved")] * 2
    assert await post_all(gate, "/lists", b'{"items":[{"id":8}]}', epoch=1) == [(200, "forwarded")]
    assert len(gate.upstream.seen) == 1


async def test_a_key_in_a_list_names_no_intent(gate: Stack) -> None:
    """Where one is required nothing is sent."""
    refused = await post_all(gate, "/keyed", b'[{"k":"x"}]', b'{"k":["x"]}', b'["x"]')

    assert refused == [(400, "resource-unresolved")] * 3
    assert await post_all(gate, "/keyed", b'{"k":"x"}', epoch=1) == [(200, "forwarded")]
    assert len(gate.upstream.seen) == 1


async def test_an_amount_in_a_list_is_none(gate: Stack) -> None:
    """It is refused and takes nothing of the budget, all of which can be spent afterwards."""
    refused = await post_all(gate, "/paid", b'[{"amount":1}]', b'{"amount":[1]}')
    spent = await post_all(gate, "/paid", b'{"amount":10}', b'{"amount":1}', epoch=1)

    assert refused == [(400, "resource-unresolved")] * 2
    assert spent == [(200, "forwarded"), (429, "quota-exceeded")]
    assert [seen.body for seen in gate.upstream.seen] == [b'{"amount":10}']


async def test_a_harmless_value_in_a_list_makes_no_read(gate: Stack) -> None:
    """Whoever has no token passes nothing that an API could take for another operation."""
    listed = (b'{"op":["get"]}', b'[{"op":"get"}]', b'["get"]')
    answers = [await post(gate, "/ask", body) for body in listed]
    read = await post(gate, "/ask", b'{"op":"get"}')

    assert [(answer.status, answer.decision) for answer in answers] == [(400, "ambiguous-target")] * 3
    assert read.decision == "passed"
    assert [seen.body for seen in gate.upstream.seen] == [b'{"op":"get"}']
