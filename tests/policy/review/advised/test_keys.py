"""Keys that an API would honour."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.keys import dropped_keys, keys_forgotten_early
from tests.policy.asking import HEAD, rules

NATIVE = "capabilities: {idempotency_key: X-Key}\n"


@pytest.mark.parametrize(
    ("head", "more", "warned"),
    [
        (NATIVE, "", True),
        (NATIVE, ", intent: {mode: 'off'}", True),
        (NATIVE, ", intent: {mode: optional}", False),
        (NATIVE, ", mode: observe", False),
        (NATIVE, ", upgrade: websocket", False),
        ("", "", False),
    ],
    ids=["by default", "off", "optional", "it observes", "a session", "the API takes none"],
)
def test_a_rule_without_intents_drops_keys(tmp_path: Path, head: str, more: str, warned: bool) -> None:
    """The header is the gateway's own there: a repeat under the agent's key acts again."""
    method = "GET" if "upgrade" in more else "POST"
    rule = f'{{name: one, match: "{method} /x/{{id}}", resource: "x/{{path.id}}"{more}}}'
    found = list(dropped_keys(rules(tmp_path, f"{HEAD}{head}writes:\n  - {rule}\n")))

    assert ["in X-Key: an agent's key is dropped" in one.message for one in found] == ([True] if warned else [])


@pytest.mark.parametrize(
    ("total", "retain", "on_unknown", "warned"),
    [
        ("30s", "24h", "retry", False),
        ("30s", "61s", "retry", False),
        ("30s", "60s", "retry", True),
        ("30s", "20s", "retry", True),
        ("30s", "20s", "hold", False),
    ],
    ids=["by default", "longer than two", "as long as two", "not one", "it holds"],
)
def test_a_key_is_remembered_for_longer_than_two_attempts_may_last(
    tmp_path: Path, total: str, retain: str, on_unknown: str, warned: bool
) -> None:
    """Or what took its whole time is never sent again."""
    head = f"timeouts: {{total: {total}}}\ncapabilities: {{idempotency_key: {{header: X-Key, retain: {retain}}}}}\n"
    intent = f"intent: {{mode: required, on_unknown: {on_unknown}}}"
    rule = f'{{name: one, match: "POST /x/{{id}}", resource: "x/{{path.id}}", {intent}}}'
    found = list(keys_forgotten_early(rules(tmp_path, f"{HEAD}{head}writes:\n  - {rule}\n")))

    assert ["is never sent again" in one.message for one in found] == [True] * warned


def test_the_others_of_an_upstream_are_counted(tmp_path: Path) -> None:
    """One warning for all of its rules."""
    rule = '  - {name: NAME, match: "POST /x/NAME/{id}", resource: "x/{path.id}"}\n'
    policy = f"{HEAD}{NATIVE}writes:\n" + "".join(rule.replace("NAME", name) for name in ("a", "b", "c"))

    [found] = dropped_keys(rules(tmp_path, policy))

    assert (found.line, found.column) == (5, 5)
    assert found.message.startswith("rule `a` (and 2 others of its upstream) has no intents")
