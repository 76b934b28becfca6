"""What a placeholder takes of a request, where that depends on the protocol that the upstream speaks."""

import json
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.match import Matched
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

CALLER = Caller()
RULE = """\
protocol: {protocol}
mount: {{path: /m}}
writes:
  - name: write
    match: POST /m
    when: {{json: {{/method: tools/call}}}}
    resource: "note/{{json:/params/arguments/note}}"
    intent: {{mode: optional, key: "{{json:/params/arguments/key}}"}}
"""


def named(ruleset: RuleSet, note: str, key: str) -> list[object]:
    """The resource and the intent of a call, or their refusals."""
    params = {"name": "write", "arguments": {"note": note, "key": key}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    asked = request("POST", "/m", body=body)
    matched = ruleset.match(asked, CALLER)
    if not isinstance(matched, Matched):
        return [matched]
    resource = ruleset.resolve(matched, asked, CALLER)
    if isinstance(resource, Refused):
        return [resource]
    return [resource, ruleset.intent_of(matched, asked, CALLER, resource)]


@pytest.mark.parametrize("text", ["null", '{"id": 7}', "[7]", "{", "["])
@pytest.mark.parametrize("place", ["resource", "key"])
def test_a_text_that_a_tool_may_read_as_json_names_nothing(tmp_path: Path, place: str, text: str) -> None:
    """MCP's SDK for Python parses it where the tool wants no text; elsewhere it is a name as others are."""
    said = (text, "k") if place == "resource" else ("7", text)

    *_, refused = named(rules(tmp_path, HEAD + RULE.format(protocol="mcp")), *said)
    *_, plain = named(rules(tmp_path, HEAD + RULE.format(protocol="http")), *said)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET
    assert not isinstance(plain, Refused)


@pytest.mark.parametrize("text", ["7", "nullable", "true", "a{b}", "x[1]", "NULL"])
def test_another_text_is_a_name_to_a_tool_too(tmp_path: Path, text: str) -> None:
    """A text of a number or a truth stays one, and so does what no JSON begins with."""
    resource, intent = named(rules(tmp_path, HEAD + RULE.format(protocol="mcp")), text, text)

    assert resource == f"note/{text}"
    assert not isinstance(intent, Refused)
