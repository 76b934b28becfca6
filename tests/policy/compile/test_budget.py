"""Budgets as policies write them. What is wrong with one is in `tests/cases/budget.case`."""

from pathlib import Path

import pytest

from gateway.core.budget import Budget
from gateway.core.caller import Caller
from gateway.policy.match import NeedsBody
from gateway.policy.review.answer import answer
from tests.policy.asking import HEAD, request, rules

POLICY = """\
mount: {path: /x}
defaults:
  budget: [{per: principal, window: 1d, count: 50}]
writes:
  - {name: counted, match: "PUT /x/{id}", resource: "x/{path.id}"}
  - name: summed
    match: POST /x/{id}
    resource: x/{path.id}
    budget:
      - {per: tenant, window: 90m, value: "json:/a~1b/0", total: 10, count: 3}
      - {per: holder, window: 500ms, count: 1}
  - {name: free, match: "PATCH /x/{id}", resource: "x/{path.id}", budget: []}
"""


def test_limits_are_compiled(tmp_path: Path) -> None:
    """In seconds and millionths; `defaults` are for rules that have none of their own."""
    compiled = {entry.rule.name: entry.rule.budgets for entry in rules(tmp_path, HEAD + POLICY).entries}

    assert compiled == {
        "counted": (Budget("principal", 86_400, 50),),
        "summed": (Budget("tenant", 5400, 3, 10_000_000, "/a~1b/0"), Budget("holder", 0.5, 1)),
        "free": (),
    }


@pytest.mark.parametrize(
    ("method", "body", "decision"),
    [
        ("POST", '{"a/b": [1.5]}', "forwarded"),
        ("POST", '{"a/b": ["1.5"]}', "resource-unresolved"),
        ("POST", '{"a/b": []}', "resource-unresolved"),
        ("POST", "[", "ambiguous-target"),
        ("PUT", "[", "forwarded"),
    ],
)
def test_an_amount_is_explained(tmp_path: Path, method: str, body: str, decision: str) -> None:
    """`explain` and test files say of it what an agent is told. A rule that only counts reads no body."""
    assert answer(rules(tmp_path, HEAD + POLICY), request(method, "/x/7", body=body), Caller()).decision == decision


def test_only_amounts_need_the_body(tmp_path: Path) -> None:
    """Where writes are counted it passes as it comes."""
    ruleset = rules(tmp_path, HEAD + POLICY)

    assert isinstance(ruleset.match(request("POST", "/x/7"), Caller()), NeedsBody)
    assert not isinstance(ruleset.match(request("PUT", "/x/7"), Caller()), NeedsBody)
