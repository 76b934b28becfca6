"""Leases taken by a target: what is granted is what the write of that target will need, and nothing by any trick."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - {{name: any, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}"}}
  - {{name: special, match: PUT /docs/special, resource: special/one}}
  - {{name: asked, match: POST /asked, when: {{query: {{kind: a}}}}, resource: "asked/{{query.r}}"}}
  - {{name: headed, match: POST /headed, when: {{header: {{x-kind: a}}}}, resource: "headed/{{query.r}}"}}
  - {{name: told, match: POST /told, resource: "told/{{json:/r}}"}}
  - {{name: own, match: POST /own, resource: "own/{{tenant}}/{{principal}}"}}
"""


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY) as gate:
        yield gate


async def lease(gate: Stack, target: str) -> RawAnswer:
    asked = {"target": target, "holder": "a", "ttl_s": 60}
    return await ask(gate.port, "POST", "/-/fence/leases", body=json.dumps(asked).encode())


@pytest.mark.parametrize(
    ("target", "resource"),
    [
        ("PUT /docs/7", "doc/7"),
        ("PUT /docs/7?x=1", "doc/7"),
        ("PUT /docs/%37", "doc/7"),
        ("PUT /docs/special", "special/one"),
        ("PUT /docs/specials", "doc/specials"),
        ("POST /asked?kind=a&r=7", "asked/7"),
        ("POST /own", "own/default/anonymous"),
    ],
)
async def test_a_target_s_lease_is_the_one_that_its_write_needs(gate: Stack, target: str, resource: str) -> None:
    """The same rule is chosen, by the same reading; and the write goes through under it."""
    granted = await lease(gate, target)
    method, _, path = target.partition(" ")
    token = json.loads(granted.body)["token"]
    written = await ask(gate.port, method, path, f"Fencing-Token: {token}", body=b"x")

    assert (granted.status, json.loads(granted.body)["resource"]) == (201, resource)
    assert (written.decision, written.value("Fencing-Epoch")) == ("forwarded", token.partition(".")[0])


AMBIGUOUS = {
    "two blanks": "PUT  /docs/7",
    "a tab": "PUT\t/docs/7",
    "another case": "PUT /docs/SPECIAL",
    "an encoded slash": "PUT /docs/a%2Fb",
    "an address": "PUT http://x/docs/7",
    "two slashes": "PUT //docs/7",
    "a dot segment": "PUT /docs/../docs/7",
    "a NUL": "PUT /docs/7%00",
    "a fragment": "PUT /docs/7#x",
    "no ASCII": "PUT /docs/\u00e9",
    "a version behind it": "PUT /docs/7 HTTP/1.1",
    "another line": "PUT /docs/7\r\nX-Kind: a",
    "a parameter twice": "POST /asked?kind=a&r=7&r=8",
    "a parameter's twin": "POST /asked?kind=a&[r]=7",
    "a semicolon": "POST /asked?kind=a;r=7",
    "another method": "POST /asked?kind=a&r=7&_method=PUT",
    "a method alone": "PUT",
    "an authority": "CONNECT x",
}
UNKNOWN = {
    "another spelling of the method": "put /docs/7",
    "a read": "GET /docs/7",
    "a slash at the end": "PUT /docs/special/",
    "without what the condition wants": "POST /asked?r=7",
    "a header that no target has": "POST /headed?r=7",
    "the gateway's own": "PUT /-/fence/leases",
}


@pytest.mark.parametrize(
    ("target", "told"),
    [*((target, (400, "ambiguous-target")) for target in AMBIGUOUS.values()),
     *((target, (404, "no-such-resource")) for target in UNKNOWN.values())],
    ids=[*AMBIGUOUS, *UNKNOWN],
)  # fmt: skip
async def test_no_other_target_gets_a_lease(gate: Stack, target: str, told: tuple[int, str]) -> None:
    """Neither one with two readings nor one that no rule takes by itself."""
    refused = await lease(gate, target)

    assert (refused.status, refused.decision) == told
    assert "epoch" not in json.loads(refused.body)


INTEGERS = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
defaults: {{values: integer}}
writes:
  - {{name: path, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}"}}
  - {{name: query, match: POST /docs, resource: "doc/{{query.id}}"}}
"""
OTHERWISE = [
    *("07", "+7", "7 ", " 7", "7%20", "_all", "*", "7.0", "-7", "-0", "00", "7:archive", "7,8", "0x7", "7_0", "1e1"),
    *("9223372036854775808", "\u0667", "\uff17", "7\u200b", "", "null", "True"),
]


async def test_no_lease_is_granted_for_what_is_no_integer(store_url: str, tmp_path: Path) -> None:
    """Where the rule says `values: integer`: neither by the resource's name nor by a target, in path or query."""
    async with stack(store_url, tmp_path, INTEGERS) as gate:
        for text in OTHERWISE:
            by_name = await gate.lease(f"doc/{text}", takeover=True)
            by_target = [await lease(gate, f"{target}{text}") for target in ("PUT /docs/", "POST /docs?id=")]

            assert (by_name.status, by_name.decision) == (404, "no-such-resource"), text
            assert {answer.status for answer in by_target} <= {400, 404}, text
            assert all("token" not in json.loads(answer.body) for answer in by_target), text

        granted = [await gate.lease("doc/7"), await lease(gate, "PUT /docs/%38"), await lease(gate, "POST /docs?id=0")]
        assert [json.loads(answer.body)["resource"] for answer in granted] == ["doc/7", "doc/8", "doc/0"]


async def test_a_target_whose_resource_stands_in_a_body_has_none(gate: Stack) -> None:
    """The lease of such a write is taken by the resource's name."""
    by_target = await lease(gate, "POST /told")
    await gate.lease("told/7")
    written = await gate.write("/told", "Content-Type: application/json", method="POST", body=b'{"r": 7}')

    assert by_target.status >= 400 and "token" not in json.loads(by_target.body)
    assert written.decision == "forwarded"
