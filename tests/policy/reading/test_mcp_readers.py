"""What passes to an MCP server is to the official SDK for Python what it was to the rules: drawn messages."""

import json

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is not installed (pip install mcp)")

from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from mcp.types import CallToolRequestParams, JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from gateway.core.caller import NOBODY
from gateway.core.decision import Refused
from gateway.policy.match import Matched, Read
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

POLICY = """\
protocol: mcp
mount: {path: /mcp}
read_only: [{match: POST /mcp, when: {tool: search}}]
writes: [{name: note, match: POST /mcp, when: {tool: write}, resource: "note/{json:/params/arguments/note}"}]
"""


def write(note: str, text: str | None = None) -> None:
    """A tool, as a server has it."""


ARGUMENTS = func_metadata(write)


def done(body: bytes) -> tuple[str, object] | None:
    """What a server does: a method, and of a call its tool, and the note that is written. None where it refuses."""
    try:
        message = jsonrpc_message_adapter.validate_json(body, by_name=False)
        if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
            return "answer", None
        if message.method != "tools/call":
            return message.method, None
        call = CallToolRequestParams.model_validate(message.params or {}, by_name=False)
        if call.name != "write":
            return f"tools/call {call.name}", None
        given = ARGUMENTS.arg_model.model_validate(ARGUMENTS.pre_parse_json(call.arguments or {}))
        return "tools/call write", given.model_dump_one_level()["note"]
    except ValidationError:
        return None


METHODS = [
    '"tools/call"',
    '"tools/call"',
    '"ping"',
    '"tools/list"',
    '"notifications/x"',
    '"tools\\u002fcall"',
    '"Tools/Call"',
]
TOOLS = [
    '"write"',
    '"write"',
    '"search"',
    '"wr\\u0069te"',
    '"Write"',
    '"search\\u0000"',
    '" write"',
    "null",
    '["write"]',
]
NOTES = [
    '"n1"',
    '"n1"',
    "7",
    '"7"',
    '"null"',
    '"[7]"',
    '"{}"',
    '"\\"n1\\""',
    '"n\\u0031"',
    '"n1\\u0000"',
    "null",
    "true",
]
NAMES = ["jsonrpc", "id", "method", "params", "result", "error", "Method", "method ", "meth\\u006fd", "PARAMS", "task"]
WITHIN = ["name", "arguments", "Name", "n\\u0061me", "note", "_meta", "task"]
BESIDE = ["note", "Note", "note ", "no_te", "n\\u006fte", "$set", "text", "__proto__"]
AROUND = [("", "")] * 6 + [("[", "]"), ("\ufeff", ""), ("", "{}"), ("", "\n"), ("\n", " "), ("", "\0")]


def member(draw: st.DrawFn, names: list[str], values: list[str]) -> list[str]:
    """One more, or none."""
    if draw(st.integers(0, 2)):
        return []
    return [f'"{draw(st.sampled_from(names))}":{draw(st.sampled_from(values))}']


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    """A call, or another message, with a member too many at any depth."""
    given = [f'"note":{draw(st.sampled_from(NOTES))}', *member(draw, BESIDE, ['"n2"', '{"note":"n2"}'])]
    arguments = f"{{{','.join(draw(st.permutations(given)))}}}"
    called = [f'"name":{draw(st.sampled_from(TOOLS))}', f'"arguments":{arguments}']
    called += member(draw, WITHIN, ['"write"', "{}", "null", '{"note":"n2"}'])
    members = ['"jsonrpc":"2.0"', '"id":1', f'"method":{draw(st.sampled_from(METHODS))}']
    members.append(f'"params":{{{",".join(draw(st.permutations(called)))}}}')
    members += member(
        draw, NAMES, ['"tools/call"', '"ping"', "{}", '{"name":"write","arguments":{"note":"n2"}}', "null"]
    )
    before, after = draw(st.sampled_from(AROUND))
    return f"{before}{{{','.join(draw(st.permutations(members)))}}}{after}".encode()


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("mcp"), HEAD + POLICY)


@given(messages())
@settings(max_examples=400)
@example(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"note":"n1"}}}')
@example(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{}}}')
def test_a_server_does_what_the_rules_were_told(ruleset: RuleSet, body: bytes) -> None:
    """It writes what is fenced, and nothing by what passes as a read."""
    asked = request("POST", "/mcp", ("Content-Type", "application/json"), body=body)
    found = ruleset.match(asked, NOBODY)
    does = done(body)

    if isinstance(found, Read):
        assert does is None or does[0] != "tools/call write"
    if isinstance(found, Matched) and does is not None:
        resource = ruleset.resolve(found, asked, NOBODY)
        assert isinstance(resource, Refused) or (does[0] == "tools/call write" and resource == f"note/{does[1]}")


def test_a_server_does_what_it_is_plainly_told() -> None:
    """Else the drawn messages would show nothing."""
    params = {"name": "write", "arguments": {"note": "n1"}}
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    assert done(call.encode()) == ("tools/call write", "n1")
