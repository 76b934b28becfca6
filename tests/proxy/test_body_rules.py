"""Rules that read GraphQL and forms, through a whole gateway: what they cannot read for certain moves nothing."""

import gzip
import json
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: tracker
url: http://localhost:{port}
mount: {{path: /t}}
timeouts: {{connect: 1s, total: 5s}}
limits: {{body: 256KiB}}
read_only:
  - {{match: POST /t/graphql, when: {{graphql: query}}}}
writes:
  - name: update
    match: POST /t/graphql
    when: {{graphql: {{mutation: [issueUpdate, issueArchive]}}}}
    resource: issue/{{graphql.id}}
  - name: post
    match: POST /t/messages
    when: {{form: {{kind: [note, mail]}}}}
    resource: issue/{{form.issue}}
"""
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"
# A comment in gzip's own head: to a server that does not decode it, these bytes are a form of another issue.
_PACKED = gzip.compress(b"kind=note&issue=7", mtime=0)
POLYGLOT = _PACKED[:3] + b"\x10" + _PACKED[4:10] + b"&kind=note&issue=8&\0" + _PACKED[10:]


async def ask_graphql(gate: Stack, document: str, query: str = "", **more: object) -> RawAnswer:
    body = json.dumps({"query": document, **more}).encode()
    return await gate.write(f"/t/graphql{query}", JSON, method="POST", body=body)


async def test_a_mutation_is_a_write_of_what_its_argument_names(store_url: str, tmp_path: Path) -> None:
    """Literal or variable, under any alias; the bytes arrive as they were sent, and a query needs no token."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("issue/7")
        literal = await ask_graphql(gate, 'mutation { a: issueUpdate(id: "7") { ok } }')
        variable = await ask_graphql(gate, "mutation M($i: ID!) { issueArchive(id: $i) { ok } }", variables={"i": "7"})
        query = await ask_graphql(gate, "{ issue(id: 9) { title } }")

        assert [one.decision for one in (literal, variable, query)] == ["forwarded", "forwarded", "passed"]
        assert json.loads(gate.upstream.seen[1].body)["variables"] == {"i": "7"}
        assert len(gate.upstream.seen) == 3


@pytest.mark.parametrize(
    ("document", "more", "decision"),
    [
        ("mutation { issueUpdate(id: 7) { ok } issueDelete(id: 7) { ok } }", {}, "no-policy"),
        ("mutation issueUpdate { issueDelete(id: 7) { ok } }", {}, "no-policy"),
        ("mutation { issueUpdate: issueDelete(id: 7) { ok } }", {}, "no-policy"),
        ("mutation { ...F } fragment F on Mutation { issueDelete(id: 7) { ok } }", {}, "no-policy"),
        ("mutation B { issueDelete(id: 7) { ok } }", {"operationName": "B"}, "no-policy"),
        ("query A { a } mutation B { issueUpdate(id: 7) { ok } }", {}, "ambiguous-target"),
        ("subscription { issues { id } }", {}, "no-policy"),
        ("mutation { issueUpdate(id: 7) { ok } b: issueUpdate(id: 8) { ok } }", {}, "ambiguous-target"),
        (
            "mutation ($id: ID, $x: ID) { issueUpdate(id: $x) { ok } }",
            {"variables": {"id": "7"}},
            "resource-unresolved",
        ),
        ("{ a }", {"extensions": {"persistedQuery": {"sha256Hash": "x"}}}, "ambiguous-target"),
        ("{ a }", {"documentId": "x"}, "ambiguous-target"),
        ("{" + "a " * 20_000 + "}", {}, "ambiguous-target"),
    ],
)
async def test_what_is_no_plain_mutation_of_one_resource_goes_no_further(
    store_url: str, tmp_path: Path, document: str, more: dict[str, object], decision: str
) -> None:
    """Neither the upstream nor the resource's epoch sees it."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("issue/7")
        answer = await ask_graphql(gate, document, **more)

        assert answer.decision == decision
        assert gate.upstream.seen == []
        assert (await ask_graphql(gate, "mutation { issueUpdate(id: 7) { ok } }")).decision == "forwarded"


@pytest.mark.parametrize(
    ("target", "document", "accept", "kind"),
    [
        (
            "/t/graphql",
            "mutation { issueUpdate(id: 7) { ok } }",
            "application/graphql-response+json",
            "graphql-response",
        ),
        ("/t/graphql", "mutation { issueUpdate(id: 7) { ok } }", "application/json", "problem"),
        (
            "/t/graphql",
            "mutation { issueDelete(id: 7) { ok } }",
            "application/graphql-response+json",
            "graphql-response",
        ),
        ("/t/messages", "mutation { a }", "application/graphql-response+json", None),
    ],
    ids=["by the fence", "by the fence, to an older client", "by the policy", "of another path"],
)
async def test_a_refusal_of_graphql_is_read_by_its_clients(
    store_url: str, tmp_path: Path, target: str, document: str, accept: str, kind: str | None
) -> None:
    """They show `errors`, and some of them by GraphQL's own type alone; elsewhere it is a plain problem."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        body = json.dumps({"query": document}).encode()
        answer = await ask(gate.port, "POST", target, JSON, f"Accept: {accept}", body=body)
        told = json.loads(answer.body)

        assert (answer.value("Content-Type") or "").startswith(f"application/{kind or 'problem'}+json")
        expected = [{"message": told["detail"], "extensions": {"code": answer.decision}}] if kind else None
        assert answer.status >= 400 and told.get("errors") == expected


@pytest.mark.parametrize(
    ("method", "query", "body"),
    [
        ("POST", "?query=mutation%7Ba%7D", b'{"query": "{ a }"}'),
        ("POST", "", b'[{"query": "{ a }"}]'),
        ("POST", "", b'{"query": "{ a }", "query": "mutation { a }"}'),
        ("POST", "", b'{"query": "{ a }", "qu\\u0065ry": "mutation { a }"}'),
        ("GET", "?query=mutation%7Ba%7D", b""),
        ("HEAD", "?query=mutation%7Ba%7D", b""),
    ],
)
async def test_a_request_with_two_operations_is_ambiguous(
    store_url: str, tmp_path: Path, method: str, query: str, body: bytes
) -> None:
    """In the URL and the body, in a batch, under one name twice, or against its method."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("issue/7")
        answer = await gate.write(f"/t/graphql{query}", JSON, method=method, body=body)

        assert (answer.status, answer.decision) == (400, "ambiguous-target")
        assert gate.upstream.seen == []


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        ("/t/api/v2?query=mutation%7Ba%7D", "ambiguous-target"),
        ("/t/GraphQL/?query=%6dutation%7Ba%7D", "ambiguous-target"),
        ("/t/api/v2?query=fragment+F+on+A%7Ba%7D+subscription%7Ba%7D", "ambiguous-target"),
        ("/t/api/v2?query=mutation%7B" + "a+" * 1000 + "%7D", "ambiguous-target"),
        ("/t/search?query=mutation+of+genes", "passed"),
        ("/t/search?query=%7B&filter=mutation", "passed"),
        ("/t/api/v2?query=%7Ba%7D", "passed"),
    ],
)
async def test_a_get_is_a_read_at_every_path(store_url: str, tmp_path: Path, target: str, decision: str) -> None:
    """An upstream with GraphQL rules may serve it elsewhere too; what only looks for a word is a search."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        answer = await ask(gate.port, "GET", target)

        assert answer.decision == decision
        assert len(gate.upstream.seen) == (decision == "passed")


@pytest.mark.parametrize(
    ("field", "body", "decision"),
    [
        (FORM, b"kind=note&issue=7&text=a+b", "forwarded"),
        (FORM, b"kind=other&issue=7", "no-policy"),
        (FORM, b"issue=7", "no-policy"),
        (FORM, b"kind=note", "resource-unresolved"),
        (FORM, b"kind=note&issue=8&issue=7", "ambiguous-target"),
        (FORM, b"kind=note&issue=7&Issue=8", "ambiguous-target"),
        (FORM, b"kind=note&issue=7&issue[]=8", "ambiguous-target"),
        (FORM, b"kind=note&issue=7;issue=8", "ambiguous-target"),
        (FORM, b"kind=note&issue=7&_method=DELETE", "ambiguous-target"),
        (FORM, b"kind=note&issue=7&x=%FF", "ambiguous-target"),
        (FORM, b"kind=note&issue=7]=8", "ambiguous-target"),
        (FORM.replace("application", "Application"), b"kind=note&issue=7", "ambiguous-target"),
        (FORM + "; charset=utf-16", b"kind=note&issue=7", "ambiguous-target"),
        (JSON, b'{"kind": "note", "issue": "7"}', "ambiguous-target"),
        ("Content-Type: multipart/form-data; boundary=b", b"--b--", "ambiguous-target"),
        ("X: 1", b"kind=note&issue=7", "ambiguous-target"),
        (FORM + "\r\nContent_Type: application/json", b"kind=note&issue=7", "ambiguous-target"),
        (FORM + "\r\nContent-Encoding: identity", b"kind=note&issue=7", "forwarded"),
        (FORM + "\r\nContent-Encoding: gzip", gzip.compress(b"kind=note&issue=7", mtime=0), "unsupported-coding"),
        (FORM + "\r\nContent-Encoding: gzip", POLYGLOT, "unsupported-coding"),
    ],
)
async def test_a_form_is_a_write_of_what_its_field_names(
    store_url: str, tmp_path: Path, field: str, body: bytes, decision: str
) -> None:
    """One value of one field in one spelling; the upstream gets the bytes as they came, or nothing."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("issue/7")
        answer = await gate.write("/t/messages", field, method="POST", body=body)

        assert answer.decision == decision
        assert [seen.body for seen in gate.upstream.seen] == ([body] if decision == "forwarded" else [])


async def test_a_body_without_a_type_is_no_operation(store_url: str, tmp_path: Path) -> None:
    """Its upstream may take it for a form; the answer says which type to send."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("issue/7")
        body = json.dumps({"query": "mutation { issueUpdate(id: 7) { ok } }"}).encode()
        answer = await gate.write("/t/graphql", method="POST", body=body)

        assert (answer.status, answer.decision) == (400, "ambiguous-target")
        assert "Send `Content-Type: application/json`" in answer.problem["detail"]
        assert gate.upstream.seen == []
