"""What a policy closes, through a whole gateway: nothing is sent, and no epoch moves."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.proxy.mail import proof
from tests.raw import ask
from tests.stack import Stack, stack

POLICY = """
upstream: issues
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
closed:
  - {{match: "PUT,GET /issue/archive"}}
  - {{match: ["PUT /issue/{{id}}", "PUT /leased/{{id}}"], when: {{json: {{/update/links: {{present: true}}}}}}}}
  - {{when: {{query: {{sudo: {{present: true}}}}}}}}
  - {{when: {{header: {{x-act-as: {{present: true}}}}}}}}
writes:
  - {{name: edit, match: "PUT /issue/{{id}}", resource: issue, authority: header}}
  - {{name: leased, match: "PUT /leased/{{id}}", resource: leased}}
  - name: only
    match: PUT /only/{{id}}
    resource: issue
    authority: header
    only: {{query: [page], json: [/fields]}}
"""
JSON = "Content-Type: application/json"


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY) as gate:
        yield gate


@pytest.mark.parametrize(
    ("target", "fields", "body", "decision"),
    [
        ("/issue/archive", (), "{}", "no-policy"),
        ("/issue/Archive", (), "{}", "ambiguous-target"),
        ("/issue/7", (), '{"update": {"links": null}}', "no-policy"),
        ("/issue/7", (), '{"update": {"Links": []}}', "ambiguous-target"),
        ("/issue/7", (), '[{"update": {"links": []}}]', "ambiguous-target"),
        ("/issue/7?update=1", (), "", "ambiguous-target"),
        ("/issue/7?sudo", (), "{}", "no-policy"),
        ("/issue/archive%3Fx", (), "{}", "ambiguous-target"),
        ("/issue/7%26sudo=1", (), "{}", "ambiguous-target"),
        ("/issue/7", ("X-Act-As: 7",), "{}", "no-policy"),
        ("/issue/7", ("X_Act_As: 7",), "{}", "ambiguous-target"),
        ("/only/7?pages=1", (), "{}", "no-policy"),
        ("/only/7?page=1", (), '{"fields": 1, "meta": 2}', "no-policy"),
        ("/only/7", (), "[7]", "no-policy"),
        ("/only/7", (), "[", "ambiguous-target"),
        ("/only/7%26sudo=1", (), "{}", "ambiguous-target"),
    ],
)
async def test_what_is_closed_moves_nothing(
    gate: Stack, target: str, fields: tuple[str, ...], body: str, decision: str
) -> None:
    """Neither the API nor the epoch of the resource: an older one still writes."""
    refused = await ask(gate.port, "PUT", target, *proof(9), *fields, JSON, body=body.encode())
    older = await ask(gate.port, "PUT", "/only/7?page=1", *proof(1), JSON, body=b'{"fields": {"a": 1}}')

    assert (refused.status, refused.decision) == (400 if decision == "ambiguous-target" else 403, decision)
    assert older.decision == "forwarded"
    assert [seen.line for seen in gate.upstream.seen] == ["PUT /only/7?page=1 HTTP/1.1"]


@pytest.mark.parametrize("kind", ["Content-Type: application/xml", "Content-Type: application/x-yaml", "X-Type: none"])
async def test_what_is_no_json_is_not_looked_for_a_member(gate: Stack, kind: str) -> None:
    """Some server would find it there: nothing is sent of what has another type, or none."""
    refused = await ask(gate.port, "PUT", "/issue/7", *proof(1), kind, body=b"update: {links: []}\n")

    assert (refused.status, refused.decision) == (400, "ambiguous-target")
    assert gate.upstream.seen == []


async def test_what_is_not_there_closes_nothing(gate: Stack) -> None:
    """The body that was read for it reaches the API as it came; so does a request without one."""
    told = [
        await ask(gate.port, "PUT", "/issue/7", *proof(1), JSON, body=b'{"update": {"labels": []} }'),
        await ask(gate.port, "PUT", "/issue/7", *proof(1)),
        await ask(gate.port, "PUT", "/only/7", *proof(1)),
    ]

    assert [one.decision for one in told] == ["forwarded"] * 3
    assert [seen.body for seen in gate.upstream.seen] == [b'{"update": {"labels": []} }', b"", b""]


async def test_a_closed_read_is_not_passed(gate: Stack) -> None:
    """Whatever `reads` says, and whoever asks."""
    told = [
        await ask(gate.port, method, target, *fields)
        for method, target, *fields in (
            ("GET", "/issue/archive"),
            ("HEAD", "/issue/archive"),
            ("GET", "/issue/ARCHIVE/"),
            ("GET", "/issue/7?sudo=1"),
            ("GET", "/issue/7", "X-Act-As: 7"),
            ("GET", "/issue/7"),
        )
    ]

    denied = ["reads-denied", "reads-denied", "ambiguous-target", "reads-denied", "reads-denied"]
    assert [one.decision for one in told] == [*denied, "passed"]
    assert [seen.line for seen in gate.upstream.seen] == ["GET /issue/7 HTTP/1.1"]


async def test_a_refusal_names_what_is_not_listed(gate: Stack) -> None:
    """So that its sender knows what to leave out."""
    query = await ask(gate.port, "PUT", "/only/7?who=1", *proof(1), JSON, body=b"{}")
    body = await ask(gate.port, "PUT", "/only/7", *proof(1), JSON, body=b'{"fields": 1, "sudo": 1}')

    assert "'who'" in json.loads(query.body)["detail"]
    assert "'/sudo'" in json.loads(body.body)["detail"]


async def test_a_lease_is_granted_by_the_target_of_an_open_write(gate: Stack) -> None:
    """Who asks for one has no body yet, and needs none; for what is closed there is none."""
    told = [
        await ask(gate.port, "POST", "/-/fence/leases", JSON, body=json.dumps(asked).encode())
        for asked in (
            {"target": f"PUT {target}", "holder": "a", "ttl_s": 60} for target in ("/leased/7", "/issue/archive")
        )
    ]

    assert [one.decision for one in told] == ["granted", "no-such-resource"]


async def test_the_log_says_which_entry_closes_a_request(gate: Stack) -> None:
    """As `file:line`, which the caller is not told."""
    write = await ask(gate.port, "PUT", "/issue/archive", *proof(1))
    read = await ask(gate.port, "GET", "/issue/archive")
    lines = [line for line in gate.log.read_text().splitlines() if "/issue/archive" in line]

    assert len(lines) == 2
    assert all("closed at" in line and "policy.yaml:7" in line for line in lines)
    assert b"policy.yaml" not in write.body + read.body
