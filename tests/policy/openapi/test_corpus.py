"""Documents as FastAPI, springdoc and NestJS write them: imported in both ways, checked, and asked about requests.

Beside each document `NAME.test.yaml` has requests of honest callers, which pass in both ways, and `NAME.only.test.yaml`
those that say what the document does not name.
"""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main

CORPUS = Path(__file__).parent / "corpus"
DOCUMENTS = sorted(path for path in CORPUS.iterdir() if not path.name.endswith(".test.yaml"))

BODIES = {
    "fastapi": "[json, form, multipart]",
    "nestjs": "[json, form, multipart]",
    "springdoc": "[json, application/xml]",
}
TARGETS = {
    "fastapi": ("PUT", "/warehouse/items/7"),
    "nestjs": ("POST", "/cattery/cats"),
    "springdoc": ("POST", "/orders/api/v1/orders"),
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def imported(document: Path, directory: Path, *options: str) -> Path:
    """The policy of a document, alone in a directory."""
    policies = directory / "policies"
    policies.mkdir()
    written = run("import-openapi", document, "--output", policies / "api.yaml", *options)
    assert written.exit_code == 0, written.output
    return policies


def asked(policies: Path, document: Path, which: str) -> tuple[list[str], str]:
    """The cases that do not hold, and how many do."""
    shutil.copy(CORPUS / f"{document.stem}{which}.test.yaml", policies / "api.test.yaml")
    *lines, count = run("test", policies).output.splitlines()
    return [line for line in lines if not line.endswith(": ok")], count


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("options", [(), ("--only-documented",)], ids=["any", "only"])
def test_the_policy_checks_and_takes_honest_requests(tmp_path: Path, document: Path, options: tuple[str, ...]) -> None:
    """Also against its document: no operation is left out by accident."""
    policies = imported(document, tmp_path, *options)

    checked = run("check", policies, "--openapi", document)

    assert checked.exit_code == 0, checked.output
    assert asked(policies, document, "")[0] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_what_the_document_does_not_name_is_refused(tmp_path: Path, document: Path) -> None:
    """Where the rules list what it names."""
    policies = imported(document, tmp_path, "--only-documented")

    assert asked(policies, document, ".only")[0] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_without_lists_a_rule_takes_whatever_a_request_says(tmp_path: Path, document: Path) -> None:
    """The same requests, and none of them refused."""
    failed, count = asked(imported(document, tmp_path), document, ".only")

    assert count.startswith("0 passed")
    assert all(line.endswith("got decision `forwarded`, not `no-policy`") for line in failed), failed


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_the_bodies_are_those_that_the_document_names(tmp_path: Path, document: Path) -> None:
    """Of all its operations: no other one passes, whatever the rule."""
    policies = imported(document, tmp_path)

    assert f", bodies: {BODIES[document.stem]}}}\n" in (policies / "api.yaml").read_text()
    target, text = TARGETS[document.stem], ("--header", "Content-Type: text/plain", "--body", "{}")
    assert run("explain", *target, *text, "--policies", policies).output.startswith(f"{' '.join(target)}: no-policy")
