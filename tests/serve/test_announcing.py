"""What the log says of a gateway that starts."""

import json
from pathlib import Path

import pytest

from gateway.log import Log
from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from gateway.serve.announcing import say_what_is_in_force
from tests.gateway_process import write_policy

OBSERVING = "    mode: observe\n"
PRINCIPALS = f"principals: [{{name: ada, key: 'sha256:{'0' * 64}', resources: '**'}}]\n"


@pytest.mark.parametrize(
    ("rule", "principals", "said"),
    [
        ("", None, [{"event": "every caller is anonymous: no principals are configured"}]),
        ("", PRINCIPALS, [{"event": "every request needs the key of a principal", "principals": 1}]),
        (
            OBSERVING,
            PRINCIPALS,
            [
                {"event": "every request needs the key of a principal", "principals": 1},
                {
                    "event": "rules only observe, and refuse nothing for fence or intent",
                    "rules": 1,
                    "first": "reports/write",
                },
            ],
        ),
    ],
    ids=["anonymous", "principals", "observing"],
)
def test_what_is_in_force_is_told(
    rule: str, principals: str | None, said: list[dict[str, object]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Who may call, and what is refused nothing: both are easily forgotten."""
    policies = write_policy(tmp_path, 9)
    policy = policies / "reports.yaml"
    policy.write_text(policy.read_text() + rule)
    if principals is not None:
        (policies / "principals.yaml").write_text(principals)
    rules = load_policies(policies, {})
    assert isinstance(rules, RuleSet)

    say_what_is_in_force(rules, Log("json"))

    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [{name: line[name] for name in line if name not in ("ts", "level")} for line in lines] == said
