"""`fencegate check --openapi`: policies against the document of their API."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main

POLICY = """upstream: pets
url: https://api.example
writes:
  - {name: replace, match: "PUT /pets/{id}", resource: "pet/{path.id}"}
  - {name: old, match: "PUT /cats/{id}", resource: "pet/{path.id}"}
"""
DOCUMENT = """openapi: 3.0.3
servers: [{url: https://api.example}]
paths:
  /pets/{petId}: {put: {}, delete: {operationId: removePet}}
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "pets.yaml").write_text(POLICY)
    (tmp_path / "api.yml").write_text(DOCUMENT)
    return tmp_path


def run(directory: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", str(directory / "policies"), *arguments])


def test_gaps_and_idle_rules_are_warnings(directory: Path) -> None:
    """Each with the place where something can be done about it; status 1, for a pipeline."""
    result = run(directory, "--openapi", str(directory / "api.yml"))

    first, second, last = result.stdout.splitlines()
    assert result.exit_code == 1
    assert first.startswith(f"{directory}/api.yml:1:1: DELETE /pets/{{petId}} (removePet): no rule of upstream pets")
    assert second.startswith(f"{directory}/policies/pets.yaml:5:5: rule old takes no operation of the document")
    assert last == f"{directory}/policies: 1 upstream, 2 rules, 2 warnings"


def test_warnings_in_json(directory: Path) -> None:
    """Told apart from errors by their severity."""
    shown = json.loads(run(directory, "--openapi", str(directory / "api.yml"), "--json").stdout)

    assert shown["ok"] is False
    assert [finding["severity"] for finding in shown["findings"]] == ["warning", "warning"]


def test_what_is_most_likely_not_meant_is_a_warning(directory: Path) -> None:
    """It is told, and no reason for a pipeline to stop."""
    later = 'resource: "pet/{path.id}", delivery: queued, intent: {mode: required}}'
    text = POLICY.replace('resource: "pet/{path.id}"}', later, 1)
    (directory / "policies" / "pets.yaml").write_text(text)

    result = run(directory)

    warning, last = result.stdout.splitlines()
    assert result.exit_code == 0
    assert warning.startswith(f"{directory}/policies/pets.yaml:4:5: rule `replace` sends later")
    assert last == f"{directory}/policies: 1 upstream, 2 rules, 1 warning"
    shown = json.loads(run(directory, "--json").stdout)
    assert (shown["ok"], [finding["severity"] for finding in shown["findings"]]) == (True, ["warning"])


def test_a_directory_that_is_not_read_is_a_warning(directory: Path) -> None:
    """Principals in it would be nobody."""
    (directory / "policies" / "sub").mkdir()
    (directory / "policies" / "sub" / "principals.yaml").write_text("principals: []\n")

    result = run(directory)

    assert result.exit_code == 0
    assert f"{directory}/policies/sub:1:1: `principals.yaml` in this directory is not read" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--openapi", "/nonexistent"), "cannot be read"),
        (("--openapi", "API", "--upstream", "cats"), "there is no upstream `cats`"),
        (("--upstream", "pets"), "give --openapi FILE too"),
    ],
    ids=["no document", "no such upstream", "no document named"],
)
def test_a_slip_is_told(directory: Path, arguments: tuple[str, ...], message: str) -> None:
    """Instead of a comparison with nothing."""
    result = run(directory, *(str(directory / "api.yml") if one == "API" else one for one in arguments))

    assert result.exit_code != 0
    assert message in result.stderr


def test_errors_come_before_any_comparison(directory: Path) -> None:
    """A policy that does not load is not compared."""
    (directory / "policies" / "pets.yaml").write_text("upstream: pets\n")

    result = run(directory, "--openapi", "/nonexistent")

    assert result.exit_code == 1
    assert "pets.yaml:1:1: `url` is missing" in result.stdout


def test_what_can_be_taken_back_is_told_by_weight(directory: Path) -> None:
    """For each upstream, where any rule has a compensation; in JSON always, but for files with errors."""
    assert "reversible" not in run(directory).stdout
    undo = "intent: {mode: optional}, effect: {weight: 3, compensation: {request: DELETE /cats/1}}"
    policy = POLICY.replace('"pet/{path.id}"}', f'"pet/{{path.id}}", {undo}}}', 1)
    (directory / "policies" / "pets.yaml").write_text(policy)

    lines = run(directory).stdout.splitlines()
    shown = json.loads(run(directory, "--json").stdout)["reversible"]

    assert lines[:2] == ["reversible, by weight: 3 of 4 (75%)", "  pets: 3 of 4 (75%)"]
    assert shown == {"reversible": 3, "weight": 4, "upstreams": [{"name": "pets", "reversible": 3, "weight": 4}]}
    (directory / "policies" / "pets.yaml").write_text("upstream: pets\n")
    assert json.loads(run(directory, "--json").stdout)["reversible"] is None
