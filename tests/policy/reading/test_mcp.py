"""MCP: which messages pass as reads, which need a rule, and which can be read in two ways."""

import json
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.reading.mcp import NOTIFICATIONS, READS
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

POLICY = """\
protocol: mcp
mount: {path: /mcp}
read_only:
  - {match: POST /mcp, when: {tool: [search, read]}}
  - {match: POST /mcp, when: {answer: true, json: {/result/action: decline}}}
writes:
  - {name: note, match: POST /mcp, when: {tool: write}, resource: "note/{json:/params/arguments/note}"}
  - {name: purge, match: POST /mcp, when: {json: {/method: notes/purge}}, resource: notes}
  - {name: asked, match: POST /mcp, when: {answer: true, json: {/result/action: cancel}}, resource: notes}
  - {name: plain, match: "PUT /mcp/files/{id}", resource: "file/{path.id}"}
"""


@pytest.fixture
def ruleset(tmp_path: Path) -> RuleSet:
    return rules(tmp_path, HEAD + POLICY)


def message(method: str | None = None, id: object = 1, **members: object) -> dict[str, object]:
    """A message; an id of None leaves it out."""
    message: dict[str, object] = {"jsonrpc": "2.0"}
    message |= {} if id is None else {"id": id}
    message |= {} if method is None else {"method": method}
    return message | members


def call(name: str, **arguments: object) -> dict[str, object]:
    return message("tools/call", params={"name": name, "arguments": arguments})


def told(ruleset: RuleSet, body: object, *headers: tuple[str, str], target: str = "/mcp", method: str = "POST") -> str:
    """`read`, the rule's name, or the refusal's."""
    text = body if isinstance(body, bytes | None) else json.dumps(body)
    match ruleset.match(request(method, target, *headers, body=text), Caller()):
        case Read():
            return "read"
        case Matched(entry):
            return entry.rule.name
        case NeedsBody():
            return "needs body"
        case Refused(decision):
            return decision.name


@pytest.mark.parametrize("method", sorted(READS))
def test_a_method_that_writes_nothing_passes(ruleset: RuleSet, method: str) -> None:
    """With an id or without; no rule is asked."""
    assert told(ruleset, message(method)) == "read"
    assert told(ruleset, message(method, None)) == "read"


@pytest.mark.parametrize("method", sorted(NOTIFICATIONS))
def test_a_notification_passes_and_a_request_of_its_name_does_not(ruleset: RuleSet, method: str) -> None:
    """The protocol has no such request: a server that takes one does something of its own."""
    assert told(ruleset, message(method, None)) == "read"
    assert told(ruleset, message(method)) == "no-policy"


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        (call("write", note=7), "note"),
        (call("search"), "read"),
        (call("drop"), "no-policy"),
        (message("tools/call", None, params={"name": "drop"}), "ambiguous-target"),
        (message("tools/call", None, params={"name": "search"}), "ambiguous-target"),
        (message("notifications/cancelled", None, params={"requestId": "fencegate-0-Nw=="}), "ambiguous-target"),
        (message("notifications/cancelled", None, params={"requestId": 7, "x": "fencegate-"}), "ambiguous-target"),
        (message("tools/call", params=["search"]), "ambiguous-target"),
        (message("notes/purge"), "purge"),
        (message("notifications/purge", None), "no-policy"),
        (message("tasks/cancel"), "no-policy"),
        (message("Ping"), "no-policy"),
        (message("ping "), "ambiguous-target"),
        (message(result={}), "read"),
        (message(result={"_meta": {}}), "read"),
        (message(result={"roots": [{"uri": "file:///a"}]}), "read"),
        (message(result={"action": "accept", "content": {}}), "no-policy"),
        (message(result={"roots": [], "action": "accept"}), "no-policy"),
        (message(result={"action": "cancel"}), "asked"),
        (message(result={"action": "decline"}), "read"),
        (message(result={"role": "assistant", "content": [], "model": "m"}), "no-policy"),
        (message(result=[]), "ambiguous-target"),
        (message(result=None), "no-policy"),
        (message(error={"code": -1, "message": "no"}), "no-policy"),
        (message(result={}, error=None), "ambiguous-target"),
        ([message("ping"), message(result={"action": "accept"})], "ambiguous-target"),
        (call("write", note=7) | {"params": {"name": "write", "arguments": {"note": 7}, "task": {}}}, "no-policy"),
        (call("write", note=7) | {"params": {"name": "write", "arguments": {"note": 7}, "task": None}}, "no-policy"),
        (call("search") | {"params": {"name": "search", "task": {}}}, "read"),
        (message("notes/purge", params={"task": {}}), "purge"),
        ([message("ping"), message("notifications/initialized", None), message(result={})], "read"),
        ([message("ping"), call("search")], "ambiguous-target"),
        ([message("ping"), "ping"], "ambiguous-target"),
        ([[message("ping")]], "ambiguous-target"),
        ([], "ambiguous-target"),
        (message(), "ambiguous-target"),
        (message("ping", result={}), "ambiguous-target"),
        (message("ping", error=None), "ambiguous-target"),
        (message(7), "ambiguous-target"),
        (message("ping", Method="tools/call"), "ambiguous-target"),
        (message(result={}, METHOD="tools/call"), "ambiguous-target"),
        (message("ping", **{"method\u200b": "tools/call"}), "ambiguous-target"),
        (message("ping", **{" method": "tools/call"}), "ambiguous-target"),
        (message("ping", **{"method\t": "tools/call"}), "ambiguous-target"),
        (message("ping", **{"me thod": "tools/call"}), "ambiguous-target"),
        (message("ping", **{"Par\u00adams": {}}), "ambiguous-target"),
        (message("ping", **{"\u2060RESULT": {}}), "ambiguous-target"),
        (message(result={}, **{"id ": 2}), "ambiguous-target"),
        ([message("ping", **{" method": "tools/call"})], "ambiguous-target"),
        (message("ping", _method="tools/call"), "ambiguous-target"),
        (message("tools/call", params={"name": "search", "meta": {}}), "ambiguous-target"),
        (message("ping", methods="tools/call"), "read"),
        (message("tools/call", params={"name": "search", "arguments\u200b": {"a": 1}}), "ambiguous-target"),
        (message("tools/call", params={"name": "search", " _meta": {}}), "ambiguous-target"),
        (message("tools/call", params={"name": "search", "Arguments": {}}), "ambiguous-target"),
        (message("notes/purge", params={"\u2060name": "x"}), "ambiguous-target"),
        (message("tools/call", params={"name": "write", "Task": {}}), "ambiguous-target"),
        (call("write", **{"note": 7, " text": 8}), "note"),
        (message("ping", jsonrpc="1.0"), "ambiguous-target"),
        ({"method": "ping", "id": 1}, "ambiguous-target"),
        (message("tools/call", params={"name": "search", "Name": "drop"}), "ambiguous-target"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "m\\u0065thod": "tools/call"}', "ambiguous-target"),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"} {}', "ambiguous-target"),
        (b"", "ambiguous-target"),
        ("ping", "ambiguous-target"),
        (7, "ambiguous-target"),
        (None, "needs body"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict | list) else None,
)
def test_a_message_is_judged_by_its_body(ruleset: RuleSet, body: object, decision: str) -> None:
    """`tools/call` and what the protocol does not have need a rule; what reads in two ways is refused."""
    assert told(ruleset, body) == decision


def test_whoever_answers_what_a_server_asked_is_told_why_it_is_refused(ruleset: RuleSet) -> None:
    """A call of a tool may wait for it, and its holder may have been overtaken."""
    answer = ruleset.match(request("POST", "/mcp", body=json.dumps(message(result={"action": "accept"}))), Caller())

    assert isinstance(answer, Refused)
    assert "an answer to what the server asked" in answer.detail


@pytest.mark.parametrize(
    ("headers", "body", "decision"),
    [
        ([("Mcp-Method", "tools/call"), ("Mcp-Name", "write")], call("write", note=7), "note"),
        ([("Mcp-Method", "tools/call")], call("write", note=7), "note"),
        ([("Mcp-Name", "=?base64?d3JpdGU=?=")], call("write", note=7), "note"),
        ([("Mcp-Name", "=?BASE64?d3JpdGU=?=")], call("write", note=7), "note"),
        ([("Mcp-Method", "ping")], message("ping"), "read"),
        ([("Mcp-Name", "file:///a")], message("resources/read", params={"uri": "file:///a"}), "read"),
        ([("Mcp-Name", "t1")], message("tasks/get", params={"taskId": "t1"}), "read"),
        ([("Mcp-Method", "ping")], call("write", note=7), "ambiguous-target"),
        ([("Mcp.Method", "tools/call")], message("ping"), "ambiguous-target"),
        ([("Mcp-Method", "tools/call")], message("ping"), "ambiguous-target"),
        ([("Mcp-Method", "Tools/call")], call("write", note=7), "ambiguous-target"),
        ([("Mcp-Method", "tools/call"), ("Mcp-Method", "tools/call")], call("write", note=7), "ambiguous-target"),
        ([("Mcp-Name", "search")], call("write", note=7), "ambiguous-target"),
        ([("Mcp-Name", "write"), ("Mcp-Name", "write")], call("write", note=7), "ambiguous-target"),
        ([("Mcp-Name", "=?base64?d3JpdGU?=")], call("write", note=7), "ambiguous-target"),
        ([("Mcp-Name", "=?base64?/w==?=")], call("write", note=7), "ambiguous-target"),
        ([("Mcp-Name", "=?base64?d3Jp\xe9GU=?=")], call("write", note=7), "ambiguous-target"),
        ([("Mcp-Name", "write")], message("tools/call", params=["write"]), "ambiguous-target"),
        ([("Mcp-Name", "write")], message("tools/list"), "ambiguous-target"),
        ([("Mcp-Name", "write")], message(result={"name": "write"}), "ambiguous-target"),
        ([("Mcp-Method", "ping")], message(result={}), "ambiguous-target"),
        ([("Mcp-Method", "ping")], [message("ping")], "ambiguous-target"),
        ([("Mcp-Name", "write")], [message("ping")], "ambiguous-target"),
        ([("Mcp-Method", "ping")], "ping", "ambiguous-target"),
    ],
)
def test_a_header_must_say_what_the_body_says(
    ruleset: RuleSet, headers: list[tuple[str, str]], body: object, decision: str
) -> None:
    """Somebody before the server may have judged by the header. One that is missing is the server's to miss."""
    assert told(ruleset, body, *headers) == decision


SESSION = ("Mcp-Session-Id", "s1")


@pytest.mark.parametrize(
    ("method", "target", "headers", "decision"),
    [
        ("DELETE", "/mcp", [SESSION], "read"),
        ("DELETE", "/mcp/", [SESSION], "read"),
        ("DELETE", "/mcp", [], "no-policy"),
        ("DELETE", "/mcp/files/7", [SESSION], "no-policy"),
        ("PUT", "/mcp", [SESSION], "no-policy"),
        ("GET", "/mcp", [SESSION], "read"),
        ("PUT", "/mcp/files/7", [], "plain"),
        ("POST", "/mcp/", [], "needs body"),
        ("POST", "/mcp/files", [], "no-policy"),
    ],
)
def test_only_the_endpoint_takes_messages(
    ruleset: RuleSet, method: str, target: str, headers: list[tuple[str, str]], decision: str
) -> None:
    """A path below the mount is ordinary HTTP: a message there would be no message to whoever serves it."""
    assert told(ruleset, None, *headers, target=target, method=method) == decision
    if decision != "needs body":
        assert told(ruleset, message("ping"), *headers, target=target, method=method) == decision


@pytest.mark.parametrize(
    ("body", "resource"),
    [
        (call("write", note="7", note_text="x"), "note/7"),
        (call("write", note="7", Note="8"), None),
        (call("write", note="7", _note="8"), None),
        (call("write", note="7", constructor="8"), None),
        (call("write", note="7") | {"params.arguments.note": "8"}, None),
    ],
    ids=["plain", "capital", "underscore", "constructor", "way"],
)
def test_an_argument_with_a_twin_names_no_resource(
    ruleset: RuleSet, body: dict[str, object], resource: str | None
) -> None:
    """A server in another language may hand its tool the other one."""
    asked = request("POST", "/mcp", body=json.dumps(body))
    found = ruleset.match(asked, Caller())
    assert isinstance(found, Matched)

    name = found.entry.template.fill(asked, found.path, Caller(), found.body)

    assert (None if isinstance(name, Refused) else name) == resource
