"""mcp.yaml: answers to what a server asked, versions of a tool, names in two places, paths beside the endpoint."""

import base64
import json

import pytest

from gateway.policy.ruleset import RuleSet
from tests.policy.examples.shipped import Header, shipped, told

SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "go on"}, "model": "m"}


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return shipped(tmp_path_factory.mktemp("mcp"), "mcp")


def answered(result: object, **more: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 3, "result": result, **more}


def call(name: str = "search", **params: object) -> dict[str, object]:
    return {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": name, "arguments": {"note": "plan"}, **params},
    }


ERROR = {"code": -1, "message": "x"}


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        *((answered(result), "passed") for result in ({}, {"_meta": {"a": 1}}, {"roots": []})),
        (answered({"roots": [{"uri": "file:///x"}]}), "passed"),
        *((answered({"action": action}), "passed") for action in ("decline", "cancel")),
        (answered(SAMPLED), "no-policy"),
        *((answered({**SAMPLED, "action": action}), "no-policy") for action in ("decline", "cancel", "accept")),
        (answered({"action": "accept", "content": {"a": 1}}), "no-policy"),
        (answered({"action": "decline", "content": {"a": 1}}), "no-policy"),
        (answered({"roots": [], "action": "accept", "content": {"a": 1}}), "no-policy"),
        (answered({**SAMPLED, "roots": []}), "no-policy"),
        (answered({"action": "decline"}, params={"name": "delete_note", "arguments": {"note": "x"}}), "no-policy"),
        ({"jsonrpc": "2.0", "id": 3, "error": ERROR}, "no-policy"),
        (answered({}, error=ERROR), "ambiguous-target"),
        (answered({"action": "decline"}, method="ping"), "ambiguous-target"),
        (call("delete_note") | {"result": {"action": "decline"}}, "ambiguous-target"),
        *(
            (batch, "ambiguous-target")
            for batch in (
                [answered({"action": "decline"})],
                [answered({"action": "decline"}), answered(SAMPLED)],
                [answered({}), answered(SAMPLED)],
                [answered({}), call()],
                [answered({})],
                [[answered({})]],
                [call()],
                [],
            )
        ),
        *((answered({"action": "decline", name: "accept"}), "ambiguous-target") for name in ("Action", "ACTION")),
        (answered({"Action": "accept"}), "ambiguous-target"),
        (answered({"roots": [], "action": "decline"}), "no-policy"),
    ],
    ids=json.dumps,
)
def test_an_answer_that_a_tool_could_go_on_with_does_not_pass(ruleset: RuleSet, body: object, decision: str) -> None:
    """Whatever it says beside a decline, to whichever question of the server."""
    assert told(ruleset, "POST", "/mcp", body=body) == decision


@pytest.mark.parametrize(
    ("method", "decision"),
    [
        *((name, "no-policy") for name in ("tasks/update", "tasks/cancel", "notifications/x", "roots/list")),
        *((name, "no-policy") for name in ("notifications/elicitation/complete", "sampling/createMessage")),
        ("elicitation/create", "no-policy"),
        *((name, "no-policy") for name in ("notifications/tools/call", "notifications/cancelled")),
        *((name, "ambiguous-target") for name in ("Tools/Call", "tools/call ", "tools/call\u200b", " ping")),
    ],
)
def test_a_method_that_no_rule_names_does_not_pass(ruleset: RuleSet, method: str, decision: str) -> None:
    """Not even where it names a tool that is read."""
    assert told(ruleset, "POST", "/mcp", body=call() | {"method": method}) == decision


CALLED = json.dumps(call("delete_note"))


@pytest.mark.parametrize(
    "body",
    [
        *(call() | {name: "x"} for name in ("METHOD", "Method", "Params", "PARAMS", "Result")),
        *(call() | {name: "x"} for name in ("param\u017f", "re\u017fult")),
        *(call(**{name: "x"}) for name in ("Name", "NAME", "Arguments", "argument\u017f", "__proto__")),
        *(call() | more for more in ({"method": ["tools/call"]}, {"__proto__": {}}, {"jsonrpc": "1.0"})),
        {name: value for name, value in call().items() if name != "jsonrpc"},
        CALLED.replace('"method"', '"method": "ping", "method"'),
        CALLED.replace('"name"', '"name": "search", "name"'),
        CALLED.replace('"params"', '"params": {"name": "search"}, "params"'),
        f"{CALLED}{CALLED}",
    ],
    ids=lambda body: body if isinstance(body, str) else json.dumps(body),
)  # fmt: skip
def test_a_message_says_each_thing_once(ruleset: RuleSet, body: object) -> None:
    """Nor is it one that only some servers take for a message."""
    assert told(ruleset, "POST", "/mcp", body=body) == "ambiguous-target"


@pytest.mark.parametrize(
    ("headers", "decision"),
    [
        ([("Content-Type", "application/json; charset=utf-8")], "forwarded"),
        *(
            ([("Content-Type", kind)], "ambiguous-target")
            for kind in (
                *("application/json; charset=utf-16", "application/json, text/plain", "application/merge-patch+json"),
                *("text/plain", "application/x-www-form-urlencoded"),
            )
        ),
        ([("Content-Type", "application/json"), ("Content_Type", "text/plain")], "ambiguous-target"),
        ([("Content-Encoding", "gzip")], "unsupported-coding"),
    ],
)
def test_a_message_is_called_json(ruleset: RuleSet, headers: list[Header], decision: str) -> None:
    """In UTF-8, and not coded."""
    assert told(ruleset, "POST", "/mcp", *headers, body=call("delete_note")) == decision


@pytest.mark.parametrize("task", [{}, None, {"ttl": 60_000}, True], ids=json.dumps)
def test_no_write_runs_as_a_task(ruleset: RuleSet, task: object) -> None:
    """Its answer would come before its tool is done."""
    assert told(ruleset, "POST", "/mcp", body=call("delete_note", task=task)) == "no-policy"


VERSIONED = {"fastmcp": {"version": "1"}}


@pytest.mark.parametrize(
    ("params", "decision"),
    [
        ({"_meta": {"progressToken": 1}}, "passed"),
        ({"_meta": VERSIONED}, "no-policy"),
        ({"_meta": {"fastmcp": {"version": None}}}, "no-policy"),
        *(({name: VERSIONED}, "ambiguous-target") for name in ("meta", "_Meta", "__meta", "_META")),
        ({"_meta": json.dumps(VERSIONED)}, "ambiguous-target"),
        *(
            ({"_meta": meta}, "ambiguous-target")
            for meta in (
                {"fastmcp": [{"version": "1"}]},
                {"fastmcp": '{"version": "1"}'},
                {"_fastmcp": {"version": "1"}},
                {"fastmcp": {"Version": "1"}},
                {"fastmcp.version": "1"},
                {"fastmcp/version": "1"},
            )
        ),
    ],
    ids=json.dumps,
)
def test_no_older_version_of_a_tool_is_called(ruleset: RuleSet, params: dict[str, object], decision: str) -> None:
    """However that is spelled which FastMCP chooses one by."""
    assert told(ruleset, "POST", "/mcp", body=call(**params)) == decision


@pytest.mark.parametrize(
    ("name", "decision"),
    [
        ("delete_note", "forwarded"),
        *((name, "no-policy") for name in ("__ab12cd_delete_note", "notes_delete_note", "search@1")),
        *((name, "ambiguous-target") for name in ("Delete_note", "delete-note", "Search", "search ")),
    ],
)
def test_a_tool_has_one_name(ruleset: RuleSet, name: str, decision: str) -> None:
    """FastMCP finds the tools of a mounted server under a prefix, too."""
    assert told(ruleset, "POST", "/mcp", body=call(name)) == decision


def coded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    ("headers", "decision"),
    [
        ([("Mcp-Name", coded("search"))], "passed"),
        ([("Mcp-Param-Note", "plan")], "passed"),
        *(([("Mcp-Name", name)], "ambiguous-target") for name in ("delete_note", coded("delete_note"))),
        ([("Mcp_Name", "delete_note")], "ambiguous-target"),
        *(([("Mcp-Method", name)], "ambiguous-target") for name in ("tools/list", "Tools/Call", "ping")),
    ],
)
def test_a_header_names_no_other_tool(ruleset: RuleSet, headers: list[Header], decision: str) -> None:
    """Somebody before the server may go by it."""
    assert told(ruleset, "POST", "/mcp", *headers, body=call()) == decision


@pytest.mark.parametrize(
    ("method", "target", "decision"),
    [
        *(("POST", target, "no-policy") for target in ("/mcp/", "/mcp/x", "/mcp/messages")),
        *((method, "/mcp", "no-policy") for method in ("PUT", "PATCH", "DELETE", "QUERY")),
        *(("POST", target, "no-upstream") for target in ("/MCP", "/mcp%2F", "/mcp.json", "/mcp%20")),
        *(("POST", target, "ambiguous-target") for target in ("/mcp//", "/mcp;x", "/mcp/.", "/%6dcp", "//mcp")),
    ],
)
def test_calls_go_to_the_endpoint_alone(ruleset: RuleSet, method: str, target: str, decision: str) -> None:
    """Other paths of the server may lead there, too."""
    assert told(ruleset, method, target, body=call("delete_note")) == decision
