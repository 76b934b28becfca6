"""Reads that a policy closes, in every spelling that some server takes for one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.policy.lenient.closed_reads import ClosedReads
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
mount: {path: /m}
read_only: [{match: POST /m/search}]
closed:
  - {match: GET /m/admin/purge}
  - {match: "GET,OPTIONS /m/dumps/{id}"}
  - {match: "GET /m/docs/{id}", when: {query: {as: admin}}}
  - {when: {query: {sudo: {present: true}}}}
  - {when: {header: {x-act-as: {present: true}}}}
writes:
  - {name: write, match: "PUT /m/docs/{id}", resource: "doc/{path.id}"}
  - {name: talk, match: "GET /m/rooms/{id}", upgrade: websocket, resource: "room/{path.id}"}
"""
ACTS = ("X-Act-As", "7")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("closed"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("method", "target", "found"),
    [
        ("GET", "/m/admin/purge", "reads-denied"),
        ("HEAD", "/m/admin/purge", "reads-denied"),
        ("OPTIONS", "/m/admin/purge", "reads-denied"),
        ("OPTIONS", "/m/admin", "read"),
        ("OPTIONS", "/m/dumps/7", "reads-denied"),
        ("GET", "/m/dumps/7", "reads-denied"),
        ("GET", "/m/dumps", "read"),
        ("GET", "/m/dumps/7/8", "read"),
        ("GET", "/m/admin/%70urge", "reads-denied"),
        ("GET", "/m/admin/Purge", "ambiguous-target"),
        ("GET", "/m/Admin/purge", "ambiguous-target"),
        ("GET", "/m/admin/purge/", "ambiguous-target"),
        ("GET", "/m/admin/%2570urge", "ambiguous-target"),
        ("GET", "/m/admin%2Fpurge", "ambiguous-target"),
        ("GET", "/m/admin%252Fpurge", "ambiguous-target"),
        ("GET", "/m/admin/purge%20", "ambiguous-target"),
        ("GET", "/m/admin/purge.json", "ambiguous-target"),
        ("GET", "/m/index.php/admin/purge", "ambiguous-target"),
        ("GET", "/m/admin/purge%3Fx", "ambiguous-target"),
        ("GET", "/m/admin/purge%23", "ambiguous-target"),
        ("GET", "/m/admin/purge%253Fx", "ambiguous-target"),
        ("GET", "/m/admin/Purge.json&x/y", "ambiguous-target"),
        ("GET", "/m/admin/adm-in%3Fpurge", "read"),
        ("GET", "/m/admin/-purge-", "ambiguous-target"),
        ("GET", "/m/admin/purges", "read"),
        ("GET", "/m/admin/pur%20ge", "ambiguous-target"),
        ("GET", "/m/ad%20min/purge", "ambiguous-target"),
        ("GET", "/m/admin/pur+ge", "ambiguous-target"),
        ("GET", "/m/admin/pur%2520ge", "ambiguous-target"),
        ("GET", "/m/admin/pur%20ges", "read"),
        ("GET", "/m/docs/pur+ge", "read"),
        ("GET", "/m/docs/purge", "read"),
        ("GET", "/m/docs/7", "read"),
        ("GET", "/m/docs/7?as=admin", "reads-denied"),
        ("GET", "/m/docs/7?as=guest", "read"),
        ("GET", "/m/docs/7%3Fas=admin", "ambiguous-target"),
        ("GET", "/m/docs/7%26as=%61dmin", "ambiguous-target"),
        ("GET", "/m/docs/7&as=guest", "read"),
        ("GET", "/m/docs/7%3Fas=guest?as=admin", "reads-denied"),
        ("GET", "/m/docs/7%23as=admin", "read"),
        ("GET", "/m/docs/R%26D", "read"),
        ("GET", "/m/admin/purge%20HTTP/1.0", "ambiguous-target"),
        ("GET", "/m/Admin/purge%2520x/y", "ambiguous-target"),
        ("GET", "/m/docs/7%3Fas=admin%20HTTP/1.0", "ambiguous-target"),
        ("GET", "/m/docs/7%20HTTP/1.0?as=guest", "read"),
        ("GET", "/m/dumps%20a/7", "read"),
        ("GET", "/m/any%26sudo", "ambiguous-target"),
        ("GET", "/m/any&a=1%26sudo=1/x", "ambiguous-target"),
        ("GET", "/m/any%3Fpseudo=sudo", "read"),
        ("GET", "/m/docs/7?as=guest&as=admin", "ambiguous-target"),
        ("GET", "/m?sudo=x", "reads-denied"),
        ("GET", "/m/any/path?sudo", "reads-denied"),
        ("GET", "/m/any/path/?a=1&%73udo=", "reads-denied"),
        ("GET", "/m/rooms/7?sudo=x", "reads-denied"),
        ("GET", "/m/docs/7?sudo[]=x", "ambiguous-target"),
        ("GET", "/m/docs/7?SUDO=x", "ambiguous-target"),
        ("GET", "/m/docs/7?!sudo=x", "ambiguous-target"),
        ("GET", "/m/docs/7?$sudo=x", "ambiguous-target"),
        ("GET", "/m/docs/7?sudo:int=1", "ambiguous-target"),
        ("GET", "/m/docs/7?sudo(1i)=1", "ambiguous-target"),
        ("GET", "/m/docs/7?x:sudo=1", "read"),
        ("GET", "/m/docs/7?x:method=1", "ambiguous-target"),
        ("GET", "/m/docs/7?pseudo=sudo", "read"),
        ("GET", "/m/rooms/7", "read"),
    ],
)
def test_a_closed_read_is_refused_in_every_spelling(ruleset: RuleSet, method: str, target: str, found: str) -> None:
    """There is no rule to which another spelling would fall: it would pass."""
    assert name_of(ruleset.match(request(method, target), Caller())) == found


@pytest.mark.parametrize(("before", "found"), [("/m/admin", "read"), ("/m/admin/purge", "ambiguous-target")])
def test_a_long_path_is_read_as_far_as_closed_ones_go(ruleset: RuleSet, before: str, found: str) -> None:
    """To look for what is closed at each of its segments, in each way to read it, would take minutes."""
    target = f"{before}{'/index' * 5000}{'/a.php' * 10}.x.x.x.x.x.x"

    assert name_of(ruleset.match(request("GET", target), Caller())) == found


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ((ACTS,), "reads-denied"),
        ((("X-Act-As", ""),), "reads-denied"),
        ((("X_Act_As", "7"),), "ambiguous-target"),
        ((ACTS, ACTS), "ambiguous-target"),
        ((ACTS, ("Connection", "x-act-as")), "ambiguous-target"),
        ((("X-Act", "7"),), "read"),
    ],
)
def test_a_header_closes_reads_too(ruleset: RuleSet, fields: tuple[tuple[str, str], ...], found: str) -> None:
    """At whatever path, where the entry names none."""
    assert name_of(ruleset.match(request("GET", "/m/a/b", *fields), Caller())) == found


def test_a_body_that_comes_with_a_read_is_not_waited_for(ruleset: RuleSet) -> None:
    """A read writes nothing: its query is the query."""
    asked = request("GET", "/m/docs/7", ("Content-Length", "9"), ("Content-Type", "application/x-www-form-urlencoded"))

    assert name_of(ruleset.match(asked, Caller())) == "read"


def test_a_policy_that_closes_no_reads_looks_for_none(tmp_path: Path) -> None:
    """What is closed of writes costs a read nothing."""
    ruleset = rules(tmp_path, HEAD + "closed: [{match: PUT /a}]\n")
    (closed,) = ruleset.closed

    assert not ClosedReads(closed.matcher.upstream, [closed])
    assert name_of(ruleset.match(request("GET", "/a"), Caller())) == "read"


MCP = """\
protocol: mcp
mount: {path: /mcp}
closed:
  - {match: POST /mcp, when: {tool: purge}}
  - {match: POST /mcp, when: {json: {/method: resources/read}}}
  - {when: {header: {x-act-as: {present: true}}}}
  - {when: {json: {/params/_meta/as: {present: true}}}}
writes:
  - {name: note, match: POST /mcp, when: {tool: [note, purge]}, resource: note}
"""


@pytest.mark.parametrize(
    ("method", "params", "fields", "found"),
    [
        ("tools/list", {}, (), "read"),
        ("tools/list", {}, (ACTS,), "reads-denied"),
        ("tools/list", {"_meta": {"as": 1}}, (), "reads-denied"),
        ("tools/list", {"_meta": {"As": 1}}, (), "ambiguous-target"),
        ("resources/read", {"uri": "a"}, (), "reads-denied"),
        ("tools/call", {"name": "note"}, (), "note"),
        ("tools/call", {"name": "purge"}, (), "no-policy"),
        ("tools/call", {"name": "note"}, (ACTS,), "no-policy"),
        ("tools/call", {"name": "note", "_meta": {"as": None}}, (), "no-policy"),
    ],
)
def test_a_message_is_closed_whether_it_reads_or_writes(
    tmp_path: Path, method: str, params: dict[str, object], fields: tuple[tuple[str, str], ...], found: str
) -> None:
    """What the protocol passes by itself passes unless the policy closes it."""
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    asked = request("POST", "/mcp", *fields, ("Content-Type", "application/json"), body=message)

    assert name_of(rules(tmp_path, HEAD + MCP).match(asked, Caller())) == found


@pytest.mark.parametrize(
    ("target", "body", "found"),
    [
        ("/mcp", None, "read"),
        ("/mcp?sudo=1", None, "reads-denied"),
        ("/mcp?sudo=1", b"", "reads-denied"),
        ("/mcp?sudo=1", b"a=1", "reads-denied"),
        ("/mcp?other=1", b"a=1", "read"),
        ("/mcp?other=1", b"sudo=1", "ambiguous-target"),
    ],
)
def test_a_body_opens_no_end_of_a_session(tmp_path: Path, target: str, body: bytes | None, found: str) -> None:
    """Where one comes beside the query that is looked at, it is read first."""
    closed = "closed: [{match: DELETE /mcp, when: {query: {sudo: {present: true}}}}]"
    ruleset = rules(tmp_path, f"{HEAD}protocol: mcp\nmount: {{path: /mcp}}\n{closed}\n")
    length = () if body is None else (("Content-Length", str(len(body))),)
    asked = request("DELETE", target, ("Mcp-Session-Id", "s1"), *length)

    assert name_of(ruleset.match(asked, Caller())) == ("needs body" if body else found)
    assert name_of(ruleset.match(replace(asked, body=body or b""), Caller())) == found
