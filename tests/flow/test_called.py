"""A write is given the id of the call that it is."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.flow.called import called
from gateway.policy.match import Matched
from tests.playbook.given import write
from tests.policy.asking import request, rules

POLICY = """upstream: notes
url: http://127.0.0.1:9
protocol: {protocol}
mount: {{path: /mcp}}
writes:
  - {{name: call, match: POST /mcp, resource: notes}}
"""


@pytest.mark.parametrize(
    ("protocol", "id", "found"),
    [("mcp", '"id": 7.0, ', "7"), ("mcp", '"id": "a", ', "a"), ("mcp", "", None), ("http", '"id": 7, ', None)],
    ids=["a number", "a text", "a notification", "no MCP"],
)
def test_only_a_call_over_mcp_has_one(tmp_path: Path, protocol: str, id: str, found: str | None) -> None:
    """Any other write's answer is told by its status alone."""
    body = f'{{"jsonrpc": "2.0", {id}"method": "tools/call", "params": {{"name": "x"}}}}'
    matched = rules(tmp_path, POLICY.format(protocol=protocol)).match(request("POST", "/mcp", body=body), Caller())
    assert isinstance(matched, Matched)

    assert called(write(matched.entry.rule), matched).call == found
