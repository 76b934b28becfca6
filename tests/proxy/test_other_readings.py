"""Paths and values that some server reads as another rule's or resource's: nothing of them is sent, no epoch moves."""

import json
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream
from tests.stack import stack

JSON = "Content-Type: application/json"
PATHS = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: "DELETE /docs/{{id}}", when: {{query: {{dryRun: All}}}}}}
writes:
  - {{name: publish, match: "POST /docs/publish_all", resource: docs, intent: {{mode: required}}}}
  - {{name: one, match: "POST,DELETE /docs/{{id}}", resource: "doc/{{path.id}}"}}
  - {{name: any, match: "POST /docs/{{rest...}}", resource: "any/{{path.rest}}", values: any}}
  - {{name: first, match: "PUT /docs", resource: "doc/{{json:/items/0/id}}"}}
"""
UUID = "0f1d2c3b-4a59-4687-9a0b-c1d2e3f40007"
UUIDS = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - {{name: put, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}", values: uuid, intent: {{mode: optional}}}}
"""


def told(answer: RawAnswer) -> tuple[int | None, str | None]:
    return answer.status, answer.decision


@pytest.mark.parametrize(
    ("resource", "target"),
    [
        ("doc/publ\u0131sh_all", "/docs/publ%C4%B1sh_all"),
        ("doc/publish-all", "/docs/publish-all"),
        ("doc/publish.all", "/docs/publish.all"),
        ("any/index.php/publish_all", "/docs/index.php/publish_all"),
        ("any/(S(x))/publish_all", "/docs/(S(x))/publish_all"),
        ("doc/publish_all.php", "/docs/publish_all.php"),
    ],
    ids=["dotless i", "a dash", "a dot", "a program", "a session", "an ending"],
)
async def test_another_rules_path_is_sent_in_its_own_spelling(
    store_url: str, tmp_path: Path, resource: str, target: str
) -> None:
    """Django, CherryPy, PHP and ASP.NET would run the stricter one; a document of another name is written."""
    async with stack(store_url, tmp_path, PATHS) as gate:
        assert (await gate.lease(resource)).status == 201
        refused = await gate.write(target, JSON, method="POST")
        await gate.lease("doc/publish-alls")
        written = await gate.write("/docs/publish-alls", JSON, method="POST")

        assert told(refused) == (400, "ambiguous-target")
        assert written.decision == "forwarded"
        assert [seen.line for seen in gate.upstream.seen] == ["POST /docs/publish-alls HTTP/1.1"]


async def test_a_uuid_is_one_resource_in_one_spelling(store_url: str, tmp_path: Path) -> None:
    """In another one nobody gets a lease, and nothing is sent; nor does an intent run again under it."""
    others = (UUID.upper(), UUID.replace("-", ""), f"urn:uuid:{UUID}")
    async with stack(store_url, tmp_path, UUIDS) as gate:
        await gate.lease(f"doc/{UUID}")
        leases = [await gate.lease(f"doc/{other}", "agent-b") for other in others]
        first = await gate.write(f"/docs/{UUID}", JSON, "Idempotency-Key: k-1")
        again = [await gate.write(f"/docs/{other}", JSON, "Idempotency-Key: k-1") for other in others]

        assert [lease.status for lease in leases] == [404] * 3
        assert first.decision == "forwarded"
        assert [told(answer) for answer in again] == [(400, "ambiguous-target")] * 3
        assert len(gate.upstream.seen) == 1


async def test_an_object_is_no_list_of_one(store_url: str, tmp_path: Path) -> None:
    """An API that takes one item for a list would write document 8 here."""
    item = {"id": "7"}
    async with stack(store_url, tmp_path, PATHS) as gate:
        await gate.lease("doc/7")
        before = await gate.highest("doc/7")
        body = json.dumps({"items": {"0": item, "id": "8"}}).encode()
        refused = await gate.write("/docs", JSON, body=body)
        written = await gate.write("/docs", JSON, body=json.dumps({"items": [item]}).encode())

        assert told(refused) == (400, "ambiguous-target")
        assert written.decision == "forwarded"
        assert await gate.highest("doc/7") == before
        assert len(gate.upstream.seen) == 1


async def test_a_deletion_that_is_a_read_has_no_body(store_url: str, tmp_path: Path) -> None:
    """Kubernetes would read it in place of the query, and delete."""
    async with stack(store_url, tmp_path, PATHS) as gate:
        refused = await ask(gate.port, "DELETE", "/docs/7?dryRun=All", JSON, body=b'{"kind": "DeleteOptions"}')
        passed = await ask(gate.port, "DELETE", "/docs/7?dryRun=All", JSON)

        assert told(refused) == (400, "ambiguous-target")
        assert passed.decision == "passed"
        assert [seen.body for seen in gate.upstream.seen] == [b""]


async def test_no_field_names_another_method_or_user_or_a_job(store_url: str, tmp_path: Path) -> None:
    """The first is refused, as Feathers would run it; the others do not arrive."""
    dropped = ("ES-Security-RunAs-User: root", "X-Redmine-Switch-User: root", "MSCRMCallerID: root", "Sudo: root")
    later = ("X-Arango-Async: store", "X-Amz-Invocation-Type: Event")
    upstream = RecordingUpstream()
    async with stack(store_url, tmp_path, PATHS, upstream) as gate:
        await gate.lease("doc/7")
        refused = await gate.write("/docs/7", JSON, "X-Service-Method: purge", method="POST")
        queried = await gate.write("/docs/7?%24httpHeaders=x", JSON, method="POST")
        written = await gate.write("/docs/7", JSON, *dropped, *later, method="POST")

        assert [told(answer) for answer in (refused, queried)] == [(400, "ambiguous-target")] * 2
        assert written.decision == "forwarded"
        names = [line.partition(":")[0].lower() for line in (*dropped, *later)]
        assert [value for name in names for value in gate.upstream.seen[0].values(name)] == []
        assert len(gate.upstream.seen) == 1
