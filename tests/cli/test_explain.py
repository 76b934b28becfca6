"""`fencegate explain --har`: recorded traffic, judged and counted."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main

POLICY = """upstream: pets
url: https://api.example
mount: {path: /pets-api, strip: true}
writes:
  - {name: replace, match: "PUT /pets-api/pets/{id}", resource: "pet/{path.id}"}
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "pets.yaml").write_text(POLICY)
    requests = [("PUT", "pets/7"), ("GET", "pets/7"), ("DELETE", "pets/\x1b[2J"), ("PUT", "pets/8")]
    entries = [{"request": {"method": method, "url": f"https://api.example/{path}"}} for method, path in requests]
    (tmp_path / "a.har").write_text(json.dumps({"log": {"entries": entries}}))
    return tmp_path


def run(directory: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["explain", *arguments, "--policies", str(directory / "policies")])


def test_one_line_a_request_and_a_summary(directory: Path) -> None:
    """And each reason once, with its count. What a terminal must not be given is escaped."""
    result = run(directory, "--har", str(directory / "a.har"))

    lines = [line.split() for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert lines[1:5] == [
        ["forwarded", "replace", "pet/7", "PUT", "https://api.example/pets/7"],
        ["passed", "-", "-", "GET", "https://api.example/pets/7"],
        ["ambiguous-target", "-", "-", "DELETE", "https://api.example/pets/\\x1b[2J"],
        ["forwarded", "replace", "pet/8", "PUT", "https://api.example/pets/8"],
    ]
    counted, _, why = result.stdout.splitlines()[-3:]
    assert counted == "4 requests: 2 forwarded, 1 passed, 1 ambiguous-target"
    assert why.startswith("1 ambiguous-target: Nothing was forwarded: ")


def test_the_same_in_json(directory: Path) -> None:
    """Each request with all that is known of it, and the counts."""
    shown = json.loads(run(directory, "--har", str(directory / "a.har"), "--json").stdout)

    assert shown["summary"] == {"forwarded": 2, "passed": 1, "ambiguous-target": 1}
    assert shown["requests"][0]["target"] == "/pets-api/pets/7"
    assert shown["requests"][0]["answer"]["resource"] == "pet/7"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "METHOD URL, or --har FILE"),
        (("PUT",), "METHOD URL, or --har FILE"),
        (("PUT", "/a", "--har", "a.har"), "brings its own requests"),
        (("--har", "/nonexistent"), "cannot be read"),
    ],
    ids=["nothing", "no URL", "both", "no archive"],
)
def test_a_question_is_one_of_two(directory: Path, arguments: tuple[str, ...], message: str) -> None:
    """A request that is spelled out, or an archive."""
    result = run(directory, *arguments)

    assert result.exit_code != 0
    assert message in result.stderr


@pytest.mark.parametrize("arguments", [("--body", "\udcff"), ("--header", "X: \udcff")], ids=["body", "header"])
def test_bytes_that_are_no_text_are_asked_about_as_they_are(directory: Path, arguments: tuple[str, ...]) -> None:
    """A command line may have any."""
    result = run(directory, "PUT", "/pets-api/pets/7", *arguments)

    assert (result.exit_code, result.exception) == (0, None)


def test_a_principal_is_told_what_it_may(directory: Path) -> None:
    """By its rights; one that there is not is an error that names those there are."""
    (directory / "policies" / "principals.yaml").write_text(
        f"principals: [{{name: ada, key: 'sha256:{'0' * 64}', resources: pet/7}}]\n"
    )
    told = [run(directory, "PUT", f"/pets-api/pets/{id}", "--principal", "ada").stdout for id in (7, 8)]
    unknown = run(directory, "PUT", "/pets-api/pets/7", "--principal", "bob")

    assert [text.splitlines()[0].rpartition(" ")[2] for text in told] == ["forwarded", "forbidden"]
    assert unknown.exit_code == 2
    assert "there are: ada" in unknown.stderr


@pytest.mark.parametrize(
    ("header", "decision"),
    [
        ((), "forwarded"),
        (("--header", "Content-Type: application/json"), "forwarded"),
        (("--header", "Content-Type: application/x-www-form-urlencoded"), "ambiguous-target"),
    ],
    ids=["none", "json", "form"],
)
def test_a_body_is_json_if_no_header_says_otherwise(directory: Path, header: tuple[str, ...], decision: str) -> None:
    """What is asked here stays short; agents have to send the type."""
    (directory / "policies" / "pets.yaml").write_text(
        POLICY + '  - {name: add, match: "POST /pets-api/pets", resource: "pet/{json:/id}"}\n'
    )

    shown = run(directory, "POST", "/pets-api/pets", "--body", '{"id": "7"}', "--json", *header)

    assert json.loads(shown.stdout)["answer"]["decision"] == decision
