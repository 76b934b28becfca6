"""The commands as a person or a script uses them: what they print, and with which status they end."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway import __version__
from gateway.cli import main
from tests.recording import RecordingUpstream
from tests.store.server import Server

GOOD = """
upstream: reports
url: http://127.0.0.1:9000
mount: {path: /reports}
writes:
  - name: replace
    match: PUT /reports/{id}
    resource: report/{path.id}
  - name: comment
    match: POST /reports/{id}/comments
    when: {json: {/kind: note}}
    resource: report/{path.id}
"""
BAD = "upstream: reports\nurll: http://127.0.0.1:9000\n"
CASES = """
cases:
  - name: one report is one resource
    request: PUT /reports/7
    expect: {decision: forwarded, resource: report/WANTED}
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """A directory with one good policy."""
    (tmp_path / "reports.yaml").write_text(GOOD)
    return tmp_path


def test_the_version_is_the_packages() -> None:
    """`fencegate --version` says it."""
    assert run("--version").stdout == f"fencegate, version {__version__}\n"


def test_the_list_of_commands_loads_none_of_them() -> None:
    """Help comes at once: no web server, no YAML, no store client is imported for it."""
    heavy = ["aiohttp", "redis", "yaml", "pydantic", "prometheus_client"]
    program = f"""
import sys
from gateway.cli import main
try:
    main(["--help"])
finally:
    print([name for name in {heavy} if name in sys.modules])
"""
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert "serve" in shown
    assert shown.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "name",
    [
        *("serve", "demo", "check", "test", "explain", "import-openapi"),
        *("schema", "doctor", "resources", "intents", "audit"),
    ],
)
def test_every_command_explains_itself(name: str) -> None:
    """The list and the commands agree."""
    assert name in run("--help").stdout
    assert run(name, "--help").exit_code == 0


def test_check_says_what_is_there(policies: Path) -> None:
    """Good files end with status 0."""
    result = run("check", str(policies))

    assert (result.exit_code, result.stdout) == (0, f"{policies}: 1 upstream, 2 rules, no errors\n")


def test_check_shows_each_error_with_its_place(policies: Path) -> None:
    """As file:line:column: message, which editors understand; status 1."""
    (policies / "reports.yaml").write_text(BAD)

    result = run("check", str(policies))

    assert result.exit_code == 1
    assert f"{policies}/reports.yaml:2:1: " in result.stdout


def test_check_in_json(policies: Path) -> None:
    """The same findings, for programs."""
    (policies / "reports.yaml").write_text(BAD)

    result = run("check", "--json", str(policies))

    shown = json.loads(result.stdout)
    assert (result.exit_code, shown["ok"]) == (1, False)
    assert ("error", 2, 1) in {(found["severity"], found["line"], found["column"]) for found in shown["findings"]}


@pytest.mark.parametrize(("wanted", "status"), [("7", 0), ("8", 1)])
def test_test_runs_the_cases_beside_the_policies(wanted: str, status: int, policies: Path) -> None:
    """Status 1 as soon as one case fails; which one and why is printed."""
    (policies / "reports.test.yaml").write_text(CASES.replace("WANTED", wanted))

    result = run("test", str(policies))

    assert result.exit_code == status
    assert "one report is one resource" in result.stdout
    assert result.stdout.splitlines()[-1] == f"{1 - status} passed, {status} failed"
    assert json.loads(run("test", "--json", str(policies)).stdout)["passed"] is (status == 0)


def test_explain_names_the_rule_and_the_resource(policies: Path) -> None:
    """And says of the other rules why they did not take it."""
    result = run("explain", "PUT", "http://gateway/reports/7", "--policies", str(policies))

    assert result.exit_code == 0
    assert "report/7" in result.stdout
    assert "rule comment" in result.stdout


def test_explain_reads_the_body_for_rules_that_do(policies: Path) -> None:
    """From the command line or from a file."""
    (policies / "note.json").write_text('{"kind": "note"}')
    asked = ("explain", "POST", "/reports/7/comments", "--policies", str(policies), "--json")
    kind = ("--header", "Content-Type: application/json")

    for body in ('{"kind": "note"}', f"@{policies}/note.json"):
        answer = json.loads(run(*asked, *kind, "--body", body).stdout)["answer"]
        assert (answer["decision"], answer["rule"], answer["resource"]) == ("forwarded", "comment", "report/7")
    assert json.loads(run(*asked, *kind, "--body", '{"kind": "x"}').stdout)["answer"]["decision"] == "no-policy"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("PUT", "/reports/../7"), "ambiguous-target: "),
        (("PUT", "/reports/7", "--header", "nothing"), "write 'NAME: VALUE'"),
        (("PUT", "/reports/7", "--body", "@/nonexistent"), "/nonexistent cannot be read"),
    ],
)
def test_explain_says_what_to_write_instead(arguments: tuple[str, ...], message: str, policies: Path) -> None:
    """A question that cannot be asked is an error, not an answer."""
    result = run("explain", *arguments, "--policies", str(policies))

    assert result.exit_code != 0
    assert message in result.stderr


def test_doctor_finds_the_bundled_store_fit(tmp_path: Path) -> None:
    """Its own configuration passes its own examination; nothing has to run for it."""
    (tmp_path / "data").mkdir()

    result = run("doctor", "--data-dir", str(tmp_path / "data"), "--json")

    shown = json.loads(result.stdout)
    assert (result.exit_code, shown["ok"]) == (0, True), shown
    assert {"version", "persistence", "eviction", "clock"} <= {check["name"] for check in shown["checks"]}


def test_doctor_says_what_is_wrong_with_a_store(store_server: Server) -> None:
    """Each unfit point comes with what to do; status 1."""
    result = run("doctor", "--store", store_server.url)

    assert result.exit_code == 1
    assert "BAD persistence: the append-only file is off\n    Set appendonly yes" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data-dir", "/nonexistent"), "There is no data directory /nonexistent"),
        (("--store", "http://store"), "--store"),
    ],
)
def test_doctor_needs_a_store(arguments: tuple[str, str], message: str) -> None:
    """A slip in an option does not make a directory, or a traceback."""
    result = run("doctor", *arguments)

    assert result.exit_code != 0
    assert message in result.stderr
    assert not Path("/nonexistent").exists()


def test_doctor_reports_a_store_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Being away is a finding like any other, in JSON too."""
    # It asks again until then.
    monkeypatch.setattr("gateway.cli.doctor._WITHIN_S", 0.2)
    result = run("doctor", "--store", f"unix://{tmp_path}/none", "--json")

    (check,) = json.loads(result.stdout)["checks"]
    assert (result.exit_code, check["name"], check["ok"]) == (1, "reachable", False)


async def test_doctor_asks_each_upstream_of_the_policies(tmp_path: Path) -> None:
    """One that answers without credentials can be written past the gateway: status 1. No store is wanted for that."""
    async with RecordingUpstream() as upstream:
        policy = f"upstream: api\nurl: http://127.0.0.1:{upstream.port}\n"
        policy += "credentials: [{header: X-Key, value: s3cret}]\n"
        (tmp_path / "api.yaml").write_text(policy)
        arguments = ("doctor", "--policies", str(tmp_path), "--data-dir", str(tmp_path / "none"), "--json")
        result = await asyncio.to_thread(run, *arguments)

    (check,) = json.loads(result.stdout)["checks"]
    assert (result.exit_code, check["name"], check["ok"]) == (1, "upstream api", False)
    assert [(seen.line, seen.values("x-key")) for seen in upstream.seen] == [("GET / HTTP/1.1", [])]
    assert "s3cret" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [("check",), ("explain", "PUT", "/reports/7", "--policies"), ("explain", "GET", "/x", "--json", "--policies")],
    ids=["check", "explain", "explain in JSON"],
)
@pytest.mark.parametrize("fault", ["", "urll: x\n", "replay_headers: [X-Key, X-Key]\n"], ids=["", "shape", "value"])
def test_no_credential_is_shown(policies: Path, arguments: tuple[str, ...], fault: str) -> None:
    """Whether the policies are right or not, and wherever the credential stands."""
    (policies / "secret").write_text("s3cret-in-a-file")
    in_file = f"{{header: X-B, value: '${{file:{policies}/secret}}'}}"
    credentials = f"credentials: [{{header: X-A, value: s3cret}}, {in_file}]\n"
    (policies / "reports.yaml").write_text(GOOD + credentials + fault)

    result = run(*arguments, str(policies))

    assert (result.exit_code == 0) is (fault == "")
    assert "s3cret" not in result.output


def test_doctor_shows_the_policies_errors(tmp_path: Path) -> None:
    """Nobody is asked by a policy that is not right."""
    result = run("doctor", "--policies", str(tmp_path), "--data-dir", str(tmp_path / "none"))

    assert result.exit_code == 1
    assert "there is no policy file here" in result.output


def test_serve_names_the_setting_that_is_wrong() -> None:
    """And what to write; nothing is started."""
    result = run("serve", "--policies", "policies", "--admin", "0.0.0.0:8081")

    assert result.exit_code == 1
    assert "no admin token is set" in result.stderr
