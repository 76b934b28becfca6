"""What editors are told of policy files agrees with what `check` takes."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gateway.policy.finding import Finding
from gateway.policy.load import load_policies, read_file
from gateway.policy.review.json_schema import policy_json_schema
from gateway.policy.source import Source, read_source
from tests.policy.test_load import EVERYTHING

EXAMPLES = Path(__file__).parents[3] / "policies"
POLICIES = sorted(path for path in EXAMPLES.glob("*.yaml") if not path.name.endswith(".test.yaml"))
VALIDATOR = Draft202012Validator(policy_json_schema())
HEAD = "upstream: a\nurl: http://a\n"


def plain(value: Any) -> Any:
    """Numbers as an editor has them."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return float(value) if isinstance(value, Decimal) else value


def faults(source: Source | tuple[Finding, ...]) -> list[str]:
    assert isinstance(source, Source)
    return [error.message for error in VALIDATOR.iter_errors(plain(source.value))]


def test_the_schema_is_a_schema() -> None:
    """Of the draft that it names."""
    Draft202012Validator.check_schema(policy_json_schema())


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_every_example_is_valid(path: Path) -> None:
    """An editor marks nothing in what `check` takes."""
    assert faults(read_file(path)) == []


def test_every_field_in_every_spelling_is_valid() -> None:
    """Durations and sizes as text, lists of one as their item, a capability as its header."""
    short = HEAD + "capabilities: {idempotency_key: Idempotency-Key}\ntoken_from: basic\nlimits: {body: 1024}\n"
    short += "mount: {bodies: json}\n"
    rule = "defaults: {resource: x}\nwrites: [{name: a, match: PUT /a, when: {json: {/a: [1, null]}}}]\n"

    listed = (
        HEAD + "writes: [{name: a, match: PUT /a, resource: x, values: [a, 1], only: {query: {b: c}, json: LIST}}]\n"
    )

    assert faults(read_source("a", listed.replace("LIST", "[/a, {/b: [x, 1, null, [y]], /c: 7}]"))) == []
    assert faults(read_source("a", listed.replace("[a, 1]", "{path.a: [b], path.c: word}"))) == []
    assert faults(read_source("a", EVERYTHING)) == []
    assert faults(read_source("a", short + rule)) == []


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "timeout: {total: 3s}\n",
        HEAD + "timeouts: {total: 3 seconds}\n",
        HEAD + "timeouts: {total: 3}\n",
        HEAD + "limits: {body: 1GB}\n",
        HEAD + "reads: maybe\n",
        HEAD + "writes: [{match: PUT /a, resource: a}]\n",
        HEAD + "writes: [{name: a, match: PUT /a, resource: a, fence: {order: loose}}]\n",
        "url: http://a\n",
    ],
)
def test_what_an_editor_marks_is_an_error_of_check_too(tmp_path: Path, text: str) -> None:
    """The schema is never stricter."""
    (tmp_path / "policy.yaml").write_text(text)

    assert faults(read_source("a", text))
    assert isinstance(load_policies(tmp_path, {}), tuple)


def test_durations_sizes_and_conditions_are_described() -> None:
    """What a hover shows says how they are written."""
    models = policy_json_schema()["$defs"]

    assert "`250ms`" in models["Timeouts"]["properties"]["total"]["description"]
    assert "`64KiB`" in models["Limits"]["properties"]["body"]["description"]
    assert "JSON pointer" in models["When"]["properties"]["json"]["description"]
    assert "default" not in models["Timeouts"]["properties"]["total"]
