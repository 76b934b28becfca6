"""The reference of settings, metrics and decisions is what the code says."""

import re

import pytest
from pydantic_settings import BaseSettings

from deploy.reference import TARGET, VALUES, metrics, render, settings
from gateway.settings import DeliverSettings, ServeSettings, parse_duration
from tests.pages import ROOT


def test_the_committed_page_is_the_generated_one() -> None:
    """Otherwise: `python -m deploy.reference`."""
    assert TARGET.read_text() == render()


@pytest.mark.parametrize(("command", "model"), [("serve", ServeSettings), ("deliver", DeliverSettings)])
def test_a_default_that_is_told_is_the_default(command: str, model: type[BaseSettings]) -> None:
    """In words where it depends on something else."""
    fields = {f"FENCEGATE_{name.upper()}": field for name, field in model.model_fields.items()}

    for _, variable, told, meaning in settings(command, model):
        default = fields[variable].default
        assert meaning
        if default not in (None, (), False) and not fields[variable].is_required():
            assert str(default) == told or float(default) == float(str(parse_duration(told)).replace("d", ""))


def test_every_closed_label_is_told() -> None:
    """Its values are the code's; those of the others come from policies."""
    closed = {(metric.name, label) for metric in metrics() for label in metric.labels}
    open_labels = {"upstream", "rule", "budget", "script", "version", "reason", "would"}

    assert {pair for pair in closed if pair[1] not in open_labels} == set(VALUES)


def test_every_variable_of_the_commands_is_told() -> None:
    """Whatever the commands read of the environment."""
    page, code = TARGET.read_text(), ROOT / "gateway"
    read = {name for path in code.rglob("*.py") for name in re.findall(r"FENCEGATE_[A-Z_]*[A-Z]", path.read_text())}

    assert {name for name in read if f"`{name}`" not in page} == set()
