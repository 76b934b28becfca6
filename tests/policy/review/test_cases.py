"""The users' test format: what it asks, and how it fails."""

from pathlib import Path

import pytest

from gateway.policy.review.cases import run_cases
from tests.policy.asking import one_rule

EXAMPLES = Path(__file__).parents[3] / "policies"


def test_the_examples_say_what_their_tests_want() -> None:
    """Every policy that the project ships has cases, and they hold."""
    report = run_cases(EXAMPLES, {})

    assert report.passed, "\n".join(map(str, (*report.findings, *report.results)))
    tested = {Path(result.place.file).name.removesuffix(".test.yaml") for result in report.results}
    assert tested == {path.stem for path in EXAMPLES.glob("*.yaml") if not path.name.endswith(".test.yaml")}


def test_a_case_that_does_not_hold_says_what_came(tmp_path: Path) -> None:
    """The failure names each field that differs, and the place of the case."""
    (tmp_path / "policy.yaml").write_text(one_rule())
    (tmp_path / "policy.test.yaml").write_text(
        "cases:\n"
        "  - {name: good, request: PUT /x/7, expect: {decision: forwarded, resource: x/7}}\n"
        "  - {name: bad, request: PUT /x/7, expect: {decision: forwarded, rule: two, resource: x/8}}\n"
        "  - {name: refused, request: PUT /x/../7, expect: {decision: no-policy}}\n"
    )

    report = run_cases(tmp_path, {})

    assert not report.passed
    assert [result.failure is None for result in report.results] == [True, False, False]
    assert report.results[1].failure == "got rule `one`, not `two`, resource `x/7`, not `x/8`"
    assert str(report.results[2]).startswith(f"{tmp_path}/policy.test.yaml:4: refused: got decision `ambiguous-target`")


def test_a_case_may_expect_the_intents_key(tmp_path: Path) -> None:
    """Or that there is none, or that it is malformed."""
    (tmp_path / "policy.yaml").write_text(one_rule(more="    intent: {mode: required}\n"))
    (tmp_path / "policy.test.yaml").write_text(
        "cases:\n"
        "  - name: named\n"
        "    request: {method: PUT, target: /x/7, headers: {Idempotency-Key: '\"k\"'}}\n"
        "    expect: {decision: forwarded, intent_key: k}\n"
        "  - name: another\n"
        "    request: {method: PUT, target: /x/7, headers: {Idempotency-Key: k}}\n"
        "    expect: {decision: forwarded, intent_key: l}\n"
        "  - {name: none, request: PUT /x/7, expect: {decision: idempotency-key-required}}\n"
        "  - name: malformed\n"
        "    request: {method: PUT, target: /x/7, headers: {Idempotency-Key: [k, k]}}\n"
        "    expect: {decision: header-malformed}\n"
    )

    report = run_cases(tmp_path, {})

    assert [result.failure for result in report.results] == [None, "got intent_key `k`, not `l`", None, None]


def test_a_case_may_expect_every_refusal_that_there_is(tmp_path: Path) -> None:
    """Of a form beyond what all servers read, and of a token that is sent twice."""
    (tmp_path / "policy.yaml").write_text(one_rule(resource="x/{form.id}"))
    form = "headers: {Content-Type: application/x-www-form-urlencoded}"
    (tmp_path / "policy.test.yaml").write_text(
        "cases:\n"
        "  - name: large\n"
        f"    request: {{method: PUT, target: /x/7, {form}, body: id={'7' * (2 << 20)}}}\n"
        "    expect: {decision: body-too-large}\n"
        "  - name: twice\n"
        "    request: {method: PUT, target: /x/7, headers: {Fencing-Token: ['1', '1']}}\n"
        "    expect: {decision: token-malformed}\n"
    )

    report = run_cases(tmp_path, {})

    assert report.passed, "\n".join(map(str, (*report.findings, *report.results)))


@pytest.mark.parametrize(
    ("cases", "line", "column", "message"),
    [
        ("cases: []\n", 1, 8, "at least one value is wanted"),
        ("cases:\n  - {name: a, request: PUT, expect: {decision: passed}}\n", 2, 24, "a request is a method"),
        ("cases:\n  - {name: a, request: PUT /x, expect: {decision: denied}}\n", 2, 51, "write `forwarded`"),
        ("cases:\n  - {name: a, request: PUT /x, expects: {}}\n", 2, 5, "`expect` is missing"),
        ("cases: [\n", 2, 1, "this is not valid YAML"),
    ],
)
def test_a_bad_test_file_is_shown_with_its_place(
    tmp_path: Path, cases: str, line: int, column: int, message: str
) -> None:
    """A fault in a test file is a finding like one in a policy, and no case is run."""
    (tmp_path / "policy.yaml").write_text(one_rule())
    (tmp_path / "policy.test.yaml").write_text(cases)

    report = run_cases(tmp_path, {})

    first = report.findings[0]
    assert (first.line, first.column) == (line, column)
    assert first.message.startswith(message)
    assert not report.results


def test_bad_policies_and_missing_tests_are_findings(tmp_path: Path) -> None:
    """Nothing that was not run counts as passed."""
    empty = run_cases(tmp_path, {})
    (tmp_path / "policy.yaml").write_text(one_rule())
    untested = run_cases(tmp_path, {})

    assert empty.findings
    assert untested.findings
    assert not empty.passed
    assert not untested.passed


def test_a_case_may_be_a_principal_s(tmp_path: Path) -> None:
    """With its rights and its tenant, as `principals.yaml` has them."""
    (tmp_path / "policy.yaml").write_text(one_rule())
    (tmp_path / "principals.yaml").write_text(
        f"principals: [{{name: ada, key: 'sha256:{'0' * 64}', resources: x/7}}]\n"
    )
    (tmp_path / "policy.test.yaml").write_text(
        "cases:\n"
        "  - {name: own, caller: {principal: ada}, request: PUT /x/7, expect: {decision: forwarded}}\n"
        "  - {name: other, caller: {principal: ada}, request: PUT /x/8, expect: {decision: forbidden, resource: x/8}}\n"
    )

    assert run_cases(tmp_path, {}).passed


def test_a_case_may_expect_that_a_write_is_only_observed(tmp_path: Path) -> None:
    """With what it would have been refused for."""
    (tmp_path / "policy.yaml").write_text(one_rule(more="    intent: {mode: required}\n    mode: observe\n"))
    (tmp_path / "policy.test.yaml").write_text(
        "cases:\n"
        "  - name: no key\n"
        "    request: PUT /x/7\n"
        "    expect: {decision: observed, mode: observe, would: idempotency-key-required}\n"
    )

    assert run_cases(tmp_path, {}).passed
