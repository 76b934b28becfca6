"""`fencegate import-openapi`: a first policy, on stdout or in a new file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main

DOCUMENT = """
openapi: 3.0.3
info: {title: Pet Store}
servers: [{url: https://api.example}]
paths:
  /pets/{id}: {put: {operationId: replacePet}}
  /pets/search: {post: {operationId: searchPets}}
"""


@pytest.fixture
def document(tmp_path: Path) -> Path:
    (tmp_path / "pets.yaml").write_text(DOCUMENT)
    return tmp_path / "pets.yaml"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["import-openapi", *map(str, arguments)])


def test_the_policy_goes_to_stdout_and_the_questions_to_stderr(document: Path) -> None:
    """So that the one can be piped and the other is seen."""
    result = run(document)

    assert result.exit_code == 0
    assert result.stdout.startswith("# Proposed by `fencegate import-openapi` from pets.yaml (Pet Store)")
    assert "upstream: pet-store\n" in result.stdout
    assert "DECIDE searchPets (POST /pets/search): is it a read?" in result.stderr
    assert result.stderr.splitlines()[-1] == "2 rules, 3 questions; read it, then `fencegate check`"


def test_rules_that_list_not_all_are_told(tmp_path: Path) -> None:
    """With `--only-documented`: nobody reads each rule for it."""
    (tmp_path / "api.yaml").write_text(
        "openapi: 3.0.3\ninfo: {title: a}\nservers: [{url: https://api.example}]\n"
        "paths: {/a: {put: {requestBody: {content: {text/plain: {}}}}}}\n"
    )

    result = run(tmp_path / "api.yaml", "--only-documented")

    assert result.stderr.splitlines()[-1].startswith("1 rule (1 without a whole list), ")


def test_what_it_writes_passes_the_check(document: Path, tmp_path: Path) -> None:
    """Also against the document itself: nothing is left open by accident."""
    (tmp_path / "policies").mkdir()

    written = run(document, "--upstream", "pets", "--output", tmp_path / "policies" / "pets.yaml")
    checked = CliRunner().invoke(main, ["check", str(tmp_path / "policies"), "--openapi", str(document)])

    assert (written.exit_code, written.stdout) == (0, "")
    assert (checked.exit_code, checked.stdout) == (0, f"{tmp_path}/policies: 1 upstream, 2 rules, no errors\n")


def test_what_it_leaves_closed_the_check_knows_of(tmp_path: Path) -> None:
    """By `closed` where a match can name it; the rest is told, and no rule takes it."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "api.yaml").write_text(
        "openapi: 3.0.3\ninfo: {title: pets}\nservers: [{url: https://api.example}]\npaths:\n"
        "  /pets: {put: {}}\n  /pets/{id}: {post: {}}\n  /pets/{id}:feed: {post: {}}\n"
    )

    written = run(tmp_path / "api.yaml", "--output", tmp_path / "policies" / "pets.yaml")
    checked = CliRunner().invoke(main, ["check", str(tmp_path / "policies"), "--openapi", str(tmp_path / "api.yaml")])

    assert written.exit_code == 0
    [told, count] = checked.stdout.splitlines()
    assert "POST /pets/{id}:feed: no rule of upstream pets takes it" in told
    assert count == f"{tmp_path}/policies: 1 upstream, 1 rule, 1 warning"


def test_a_policy_is_never_overwritten(document: Path, tmp_path: Path) -> None:
    """Somebody may have worked on it."""
    (tmp_path / "mine.yaml").write_text("mine")

    result = run(document, "--output", tmp_path / "mine.yaml")

    assert result.exit_code == 1
    assert "is there already" in result.stderr
    assert (tmp_path / "mine.yaml").read_text() == "mine"


def test_the_same_in_json(document: Path) -> None:
    """For programs: the text, the count of rules, the questions."""
    shown = json.loads(run(document, "--json").stdout)

    assert (shown["rules"], len(shown["open"])) == (2, 3)
    assert shown["text"].startswith("# Proposed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("/nonexistent.yaml",), "cannot be read"),
        (("pets.yaml", "--upstream", "Pet Store"), "write lower-case letters"),
        (("pets.yaml", "--output", "/nonexistent/pets.yaml"), "cannot be written"),
    ],
    ids=["no document", "no name", "no directory"],
)
def test_a_slip_is_told(document: Path, arguments: tuple[str, ...], message: str) -> None:
    """And nothing is written."""
    first = str(document) if arguments[0] == "pets.yaml" else arguments[0]

    result = run(first, *arguments[1:])

    assert result.exit_code != 0
    assert message in result.stderr
