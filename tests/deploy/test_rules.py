"""Rules and alerts: they ask for what exists, each has its story, and people are told what to do."""

import re
import shutil
import subprocess

import click
import pytest
import yaml

from gateway.cli import main
from gateway.cli.lists_first import ListsFirst
from tests.deploy.promql import faults, recorded
from tests.pages import ROOT

PROMETHEUS = ROOT / "deploy" / "prometheus"
GROUPS = yaml.safe_load((PROMETHEUS / "rules.yml").read_text())["groups"]
RULES = [rule for group in GROUPS for rule in group["rules"]]
ALERTS = [rule for rule in RULES if "alert" in rule]
RECORDED = {rule["record"] for rule in RULES if "record" in rule}
RUNBOOK = (ROOT / "deploy" / "RUNBOOK.md").read_text()
_SECTION = re.compile(r"(?ms)^### (\w+)\n(.*?)(?=^##|\Z)")
SECTIONS = dict(_SECTION.findall(RUNBOOK))


def name_of(rule: dict[str, str]) -> str:
    return rule.get("alert") or rule["record"]


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_a_rule_asks_for_what_the_gateway_tells(rule: dict[str, str]) -> None:
    """Each metric, each label, each value that the code gives."""
    assert list(faults(rule["expr"])) == []
    assert recorded(rule["expr"]) <= RECORDED


@pytest.mark.parametrize("alert", ALERTS, ids=name_of)
def test_an_alert_says_how_bad_it_is_and_what_to_do(alert: dict[str, dict[str, str]]) -> None:
    """Its section in the runbook has a meaning, what to look at, and how it ends, and the same severity."""
    name, severity = str(alert["alert"]), alert["labels"]["severity"]

    assert severity in ("critical", "warning")
    assert alert["annotations"]["summary"]
    assert alert["annotations"]["runbook_url"] == f"RUNBOOK.md#{name.lower()}"
    assert SECTIONS[name].strip().startswith(f"*{severity}.*")
    assert "\nLook: " in SECTIONS[name] and "\nEnd: " in SECTIONS[name]


def test_the_runbook_has_no_alert_that_is_not_there() -> None:
    """In the order of the rules."""
    assert list(SECTIONS) == [alert["alert"] for alert in ALERTS]


COMMANDS = sorted(set(re.findall(r"`fencegate ([^`]+)`", RUNBOOK)) - {"…"})


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_runbook_exists(line: str) -> None:
    """With its options: nobody tries them out in the night."""
    words = line.split()
    command: click.Command = main
    context = click.Context(main)
    while words and isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        if found is None:
            break
        command, words = found, words[1:]
    if isinstance(command, ListsFirst) and words:
        command = command.commands[command.first]
    options = {name for option in command.params for name in option.opts}

    assert command is not main
    assert {word for word in words if word.startswith("--")} <= options
    assert isinstance(command, click.Group) or all(word.startswith("--") or word.isupper() for word in words[:1])


def test_each_alert_is_tried_out() -> None:
    """It fires in its story, and is silent before."""
    stories = yaml.safe_load((PROMETHEUS / "rules.test.yml").read_text())["tests"]
    counted = re.findall(
        r'alertname="(\w+)".*?\'samples\': (\[[^\]]*\])', str(stories).replace("exp_samples", "samples")
    )

    for alert in ALERTS:
        samples = [found for name, found in counted if name == alert["alert"]]
        assert "[]" in samples and "[{'value': 1}]" in samples, alert["alert"]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool on PATH (Debian: apt-get install prometheus)")
@pytest.mark.parametrize(
    "arguments",
    ["check config prometheus.yml", pytest.param("test rules rules.test.yml", marks=pytest.mark.slow)],
)
def test_promtool_agrees(arguments: str) -> None:
    """Rules, alerts and their stories, by Prometheus' own tool."""
    told = subprocess.run(
        ["promtool", *arguments.split()], cwd=PROMETHEUS, check=False, capture_output=True, text=True, timeout=120
    )

    assert told.returncode == 0, told.stdout + told.stderr
