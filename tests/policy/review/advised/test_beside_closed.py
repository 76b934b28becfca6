"""What is closed on a condition, and a narrower rule that takes it."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.policy.review.advised.beside_closed import open_beside_closed
from tests.policy.asking import HEAD, name_of, request, rules

_SUDO = "when: {query: {sudo: {present: true}}}"


@pytest.mark.parametrize(
    ("closed", "match", "when", "is_told"),
    [
        (f"match: 'PUT /x/{{rest...}}', {_SUDO}", "PUT /x/{id}", "", True),
        (f"match: 'PUT /x/{{id}}', {_SUDO}", "PUT /x/all", "", True),
        (f"match: 'PUT /x/{{id}}', {_SUDO}", "PUT /x/{id}", "", False),
        (f"match: 'PUT /x/{{id}}', {_SUDO}", "PUT /x/{rest...}", "", False),
        (f"match: 'PUT /x/{{id}}', {_SUDO}", "PUT /y/all", "", False),
        (f"match: 'PUT /x/{{id}}', {_SUDO}", "PUT /x/all/", "", False),
        (f"match: 'POST /x/{{id}}', {_SUDO}", "PUT /x/all", "", False),
        (_SUDO, "PUT /x/all", "", False),
        (f"match: ['PUT /x/{{id}}', PUT /x/all], {_SUDO}", "PUT /x/all", "", False),
        (f"match: ['PUT,POST /x/{{id}}', PUT /x/all], {_SUDO}", "PUT,POST /x/all", "", True),
        ("match: 'PUT /x/{id}'", "PUT /x/all", "", False),
        ("match: 'PUT /x/{id}', when: {query: {a: '1'}}", "PUT /x/all", "{query: {a: '2'}}", False),
        ("match: 'PUT /x/{id}', when: {query: {a: '1'}}", "PUT /x/all", "{query: {a: ['1', '2']}}", True),
        ("match: 'PUT /x/{id}', when: {query: {a: {present: true}}}", "PUT /x/all", "{query: {a: '2'}}", True),
    ],
    ids=[
        "below",
        "text beside a placeholder",
        "the same path",
        "wider",
        "elsewhere",
        "a slash at the end",
        "another method",
        "everywhere",
        "named too",
        "named with another method",
        "on no condition",
        "another value",
        "one of its values",
        "there with any value",
    ],
)
def test_a_narrower_rule_beside_what_is_closed(
    tmp_path: Path, closed: str, match: str, when: str, is_told: bool
) -> None:
    condition = f", when: {when}" if when else ""
    policy = f"{HEAD}closed:\n  - {{{closed}}}\nwrites:\n  - {{name: one, match: '{match}', resource: x{condition}}}\n"
    found = list(open_beside_closed(rules(tmp_path, policy)))

    assert [(each.line, each.severity) for each in found] == ([(4, "warning")] if is_told else [])
    assert all("rule one at " in each.message for each in found)


def test_what_the_warning_says_happens(tmp_path: Path) -> None:
    policy = (
        f"{HEAD}closed:\n  - {{match: 'PUT /x/{{id}}', {_SUDO}}}\n"
        "writes:\n  - {name: one, match: PUT /x/all, resource: x}\n  - {name: two, match: 'PUT /x/{id}', resource: x}\n"
    )
    ruleset = rules(tmp_path, policy)

    assert name_of(ruleset.match(request("PUT", "/x/all?sudo=1"), Caller())) == "one"
    assert name_of(ruleset.match(request("PUT", "/x/7?sudo=1"), Caller())) == "no-policy"
