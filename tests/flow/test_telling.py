"""A write is told what of its answer tells its outcome."""

from pathlib import Path

import pytest

from gateway.core.call import Call
from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.write import Write
from gateway.flow.telling import telling
from gateway.policy.match import Matched
from tests.playbook.given import write
from tests.policy.asking import request, rules

POLICY = """upstream: notes
url: http://127.0.0.1:9
protocol: {protocol}
mount: {{path: /mcp, coded_bodies: undone}}
writes:
  - {{name: call, match: POST /mcp, resource: notes}}
"""


def told(tmp_path: Path, protocol: str, id: str, *fields: tuple[str, str], at_graphql: bool = False) -> Write | Refused:
    body = f'{{"jsonrpc": "2.0", {id}"method": "tools/call", "params": {{"name": "x"}}}}'
    asked = request("POST", "/mcp", *fields, body=body)
    matched = rules(tmp_path, POLICY.format(protocol=protocol)).match(asked, Caller())
    assert isinstance(matched, Matched)
    return telling(write(matched.entry.rule), matched, asked, at_graphql=at_graphql)


@pytest.mark.parametrize(
    ("protocol", "id", "found"),
    [
        ("mcp", '"id": 7.0, ', Call("7", b"7.0", 25)),
        ("mcp", '"id": "a", ', Call("a", b'"a"', 25)),
        ("http", '"id": 7, ', None),
    ],
    ids=["a number", "a text", "no MCP"],
)
def test_only_a_call_over_mcp_has_an_id(tmp_path: Path, protocol: str, id: str, found: Call | None) -> None:
    """Any other write's answer is told by its status alone."""
    written = told(tmp_path, protocol, id)

    assert isinstance(written, Write)
    assert (written.call, written.is_graphql) == (found, False)


def test_a_call_in_a_coding_is_refused(tmp_path: Path) -> None:
    """Its id could not be replaced by one of its own."""
    refused = told(tmp_path, "mcp", '"id": 7, ', ("Content-Encoding", "gzip"))

    assert isinstance(refused, Refused)
    assert refused.decision.name == "unsupported-coding"
    assert isinstance(told(tmp_path, "mcp", '"id": 7, ', ("Content-Encoding", "identity")), Write)


def test_where_operations_of_graphql_are_sent_an_error_may_come_behind_the_deed(tmp_path: Path) -> None:
    """Whatever the rule looks at."""
    written = told(tmp_path, "http", "", at_graphql=True)

    assert isinstance(written, Write)
    assert written.is_graphql


def test_an_id_is_no_longer_than_is_held_of_an_answer(tmp_path: Path) -> None:
    """What stands in for it says what it was."""
    refused = told(tmp_path, "mcp", f'"id": "{"x" * 255}", ')

    assert isinstance(refused, Refused)
    assert refused.decision.name == "ambiguous-target"
    assert isinstance(told(tmp_path, "mcp", f'"id": "{"x" * 254}", '), Write)
