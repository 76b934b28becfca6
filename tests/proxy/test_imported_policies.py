"""A policy as `import-openapi` writes it, and agents who know the API by its paths and not by names of resources."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from gateway.policy.openapi.policy_text import policy_text
from tests.policy.openapi.documents import document
from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

SERVER = "http://localhost:1"
PATHS = {
    "/pets": {"get": {"operationId": "listPets"}, "post": {"operationId": "addPet"}},
    "/pets/{petId}": {"put": {"operationId": "replacePet"}, "delete": {"operationId": "dropPet"}},
    "/pets/{petId}/photos/{photoId}": {"put": {"operationId": "setPhoto"}},
}


PAYMENTS = {
    "/payments": {
        "post": {
            "operationId": "pay",
            "parameters": [{"name": name, "in": "header", "required": True} for name in ("Tenant", "Idempotency-Key")],
        }
    }
}


def imported(directory: Path, paths: Mapping[str, object] = PATHS, *, names_all: bool = False) -> str:
    """The policy, with its upstream where the test has one."""
    read = document(directory, paths, names_all=names_all, servers=[{"url": SERVER}])
    text = policy_text(read, "openapi.json", "shop").text
    return text.replace("{", "{{").replace("}", "}}").replace(SERVER, "http://localhost:{port}")


async def lease(gate: Stack, target: str, holder: str, by: str = "target", **more: object) -> RawAnswer:
    asked = {by: target, "holder": holder, "ttl_s": 60, **more}
    return await ask(gate.port, "POST", "/-/fence/leases", body=json.dumps(asked).encode())


def token(granted: RawAnswer) -> str:
    return f"Fencing-Token: {json.loads(granted.body)['token']}"


@pytest.mark.parametrize(
    ("method", "target", "resource"),
    [
        ("PUT", "/shop/pets/7", "shop/pets/7"),
        ("DELETE", "/shop/pets/a%2Db?force=1", "shop/pets/a-b"),
        ("POST", "/shop/pets", "shop/pets"),
        ("PUT", "/shop/pets/7/photos/2", "shop/pets/7/photos/2"),
    ],
)
async def test_a_lease_is_taken_by_the_write_it_is_for(
    store_url: str, tmp_path: Path, method: str, target: str, resource: str
) -> None:
    """The rules find the resource, its token writes there and nowhere else, and renewing goes by the target too."""
    async with stack(store_url, tmp_path, imported(tmp_path)) as gate:
        granted = await lease(gate, f"{method} {target}", "agent-a")
        written = await ask(gate.port, method, target, token(granted), body=b"{}")
        elsewhere = await ask(gate.port, "PUT", "/shop/pets/8", token(granted), body=b"{}")
        body = json.dumps({"target": f"{method} {target}"}).encode()
        ended = [
            await ask(gate.port, "POST", f"/-/fence/leases/{call}", token(granted), body=body)
            for call in ("renew", "release")
        ]

        assert (granted.status, json.loads(granted.body)["resource"]) == (201, resource)
        assert (written.decision, elsewhere.decision) == ("forwarded", "token-invalid")
        assert [answer.status for answer in ended] == [200, 204]
        assert [seen.line for seen in gate.upstream.seen] == [f"{method} {target.removeprefix('/shop')} HTTP/1.1"]


async def test_two_writes_of_one_resource_are_one_lease(store_url: str, tmp_path: Path) -> None:
    """Whoever takes it over by another of its operations shuts the first holder out."""
    async with stack(store_url, tmp_path, imported(tmp_path)) as gate:
        first = await lease(gate, "PUT /shop/pets/7", "agent-a")
        held = await lease(gate, "DELETE /shop/pets/7", "agent-b")
        second = await lease(gate, "DELETE /shop/pets/7", "agent-b", takeover=True)
        late = await ask(gate.port, "PUT", "/shop/pets/7", token(first), body=b"{}")

        assert (held.status, held.decision, second.status) == (409, "lease-held", 201)
        assert (late.status, late.decision) == (412, "stale-epoch")
        assert gate.upstream.seen == []


@pytest.mark.parametrize(
    ("is_decided", "decisions"),
    [(False, ["forwarded", "replayed"]), (True, ["forwarded", "forwarded"])],
    ids=["as proposed", "decided"],
)
async def test_a_header_that_chooses_the_account_is_asked_about(
    store_url: str, tmp_path: Path, is_decided: bool, decisions: list[str]
) -> None:
    """With the resource that the question proposes, the second account's payment is none of the first's."""
    text = imported(tmp_path, PAYMENTS)
    assert "does the header `Tenant` choose" in text
    [proposed] = re.findall(r"`(shop/[^`]*)`", text)
    if is_decided:
        text = text.replace("resource: shop/payments", f'resource: "{proposed}"')

    async with stack(store_url, tmp_path, text) as gate:
        found = []
        for account in ("north", "south"):
            resource = f"shop/{account}/payments" if is_decided else "shop/payments"
            granted = await lease(gate, resource, "agent-a", "resource", takeover=True)
            fields = f"Tenant: {account}", "Idempotency-Key: order-17", "Content-Type: application/json"
            found.append(await ask(gate.port, "POST", "/shop/payments", token(granted), *fields, body=b"{}"))

        assert [answer.decision for answer in found] == decisions


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        ("GET /shop/pets/7", "no-such-resource"),
        ("PATCH /shop/pets/7", "no-such-resource"),
        ("PUT /pets/7", "no-such-resource"),
        ("PUT /shop/pets/../7", "ambiguous-target"),
        ("PUT", "ambiguous-target"),
    ],
)
async def test_a_target_that_writes_nothing_has_no_lease(
    store_url: str, tmp_path: Path, target: str, decision: str
) -> None:
    """A read, an operation that the document does not have, the API's own path, and what can be read in two ways."""
    async with stack(store_url, tmp_path, imported(tmp_path)) as gate:
        assert (await lease(gate, target, "agent-a")).decision == decision


async def test_a_segment_that_is_a_slash_reaches_the_api_as_it_came(store_url: str, tmp_path: Path) -> None:
    """RabbitMQ's first virtual host is called `/`. A placeholder takes none: to some servers nothing is left of it."""
    queue = {"parameters": [{"name": "queue", "in": "path", "schema": {"type": "string", "pattern": "^[a-z0-9]+$"}}]}
    paths = {"/queues/%2F/{queue}": {"put": queue}, "/queues/{host}/{queue}": {"put": queue}}

    async with stack(store_url, tmp_path, imported(tmp_path, paths)) as gate:
        granted = await lease(gate, "PUT /shop/queues/%2F/q1", "agent-a")
        written = await ask(gate.port, "PUT", "/shop/queues/%2F/q1", token(granted), body=b"{}")
        refused = [await ask(gate.port, "PUT", f"/shop/queues/{one}/q1", token(granted)) for one in ("%2f", "%2Fa")]

        assert json.loads(granted.body)["resource"] == "shop/queues/%2F/q1"
        assert (written.decision, [one.decision for one in refused]) == ("forwarded", ["ambiguous-target"] * 2)
        assert [seen.line for seen in gate.upstream.seen] == ["PUT /queues/%2F/q1 HTTP/1.1"]


async def test_what_the_document_does_not_name_never_leaves(store_url: str, tmp_path: Path) -> None:
    """Where the policy lists what it names: a member, a parameter, and a body where there is none."""
    schema = {"properties": {"name": {"type": "string"}}}
    put = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    paths = {"/pets/{petId}": {"put": put, "delete": {"parameters": [{"name": "force", "in": "query"}]}}}
    json_type = "Content-Type: application/json"

    async with stack(store_url, tmp_path, imported(tmp_path, paths, names_all=True)) as gate:
        fence = token(await lease(gate, "PUT /shop/pets/7", "agent-a"))
        asked = [
            ("PUT", "", b'{"name":"Tom"}'),
            ("PUT", "", b'{"name":"Tom","owner":8}'),
            ("PUT", "?owner=8", b'{"name":"Tom"}'),
            ("DELETE", "?force=true", None),
            ("DELETE", "?force=true", b'{"all":true}'),
        ]
        found = [
            await ask(gate.port, method, f"/shop/pets/7{query}", fence, *([json_type] if body else []), body=body)
            for method, query, body in asked
        ]

        passed = "forwarded", "no-policy", "no-policy", "forwarded", "no-policy"
        assert tuple(answer.decision for answer in found) == passed
        assert len(gate.upstream.seen) == 2
