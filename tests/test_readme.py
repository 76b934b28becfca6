"""What README says of decisions, metrics, commands and options is what the code says."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from deploy.reference import metrics
from gateway.cli import main
from gateway.core.decision import DECISIONS
from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from tests.pages import README, rows

_NAME = re.compile(r"`([a-z-]+)`")
_POLICY = re.compile(r"^```yaml\n# fence/(\w+\.yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _told() -> list[tuple[str, str, str]]:
    """(decision, status, action) as README's table tells them; one status or action may stand for all of a row."""
    told = []
    for names, statuses, actions, _ in rows(README, "`Fencing-Decision`"):
        found = _NAME.findall(names)
        for cells, at in ((statuses, 1), (actions, 2)):
            assert cells.count(",") in (0, len(found) - 1), (names, at)
        for at, name in enumerate(found):
            status, action = (cell.split(", ")[at if "," in cell else 0] for cell in (statuses, actions))
            told.append((name, status, action))
    return told


@pytest.mark.parametrize(("name", "status", "action"), _told())
def test_a_decision_has_the_status_and_the_action_that_readme_says(name: str, status: str, action: str) -> None:
    """Agents are written by this table."""
    decision = DECISIONS[name]

    assert (decision.status is None) == (status == "the API's")
    assert decision.status is None or str(decision.status) == status
    assert (decision.action or "") == action


def test_every_metric_of_readme_exists() -> None:
    """What README says of a metric is said of one that is there."""
    known = {metric.name.removesuffix("_total") for metric in metrics()}

    for name in re.findall(r"`(fencegate_[a-z_]+)[`{]", README):
        assert name.removesuffix("_total") in known


def test_every_option_of_serve_in_readme_exists() -> None:
    """The synopsis is the command's."""
    help_text = CliRunner().invoke(main, ["serve", "--help"]).output

    for option in re.findall(r"--[a-z-]+", README[README.index("$ fencegate serve --policies DIR") :].splitlines()[0]):
        assert option in help_text


def test_the_policies_of_readme_are_right(tmp_path: Path) -> None:
    """Who copies them begins with something that works."""
    told = _POLICY.findall(README)
    for name, text in told:
        (tmp_path / name).write_text(text)

    loaded = load_policies(tmp_path, {"REPORTS_TOKEN": "s3cret-value"})

    assert isinstance(loaded, RuleSet), loaded
    assert sorted(upstream.name for upstream in loaded.upstreams) == sorted(Path(name).stem for name, _ in told)


def test_every_command_loads() -> None:
    """`--help` of each subcommand works."""
    context = click.Context(main)
    for name in main.list_commands(context):
        result = CliRunner().invoke(main, [name, "--help"])
        assert result.exit_code == 0, result.output
