"""Budgets of a name that anybody may choose."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.budgets import unbound_holders
from tests.policy.asking import rules

BOUNDED = """upstream: accounts
url: http://127.0.0.1:9
writes:
  - {name: pay, match: "POST /accounts/{id}", resource: "account/{path.id}", AUTHORITY, budget: [BUDGETS]}
"""
OF_HOLDER, OF_RESOURCE = "{per: holder, window: 1m, count: 10}", "{per: resource, window: 1d, count: 50}"
SIGNED = "{signed: {keys: {jwks: 'https://issuer.example/jwks'}, algorithms: [ES256]}}"


@pytest.mark.parametrize(
    ("budgets", "authority", "warned"),
    [
        pytest.param(OF_HOLDER, "lease", True, id="of holders only"),
        pytest.param(f"{OF_HOLDER}, {OF_HOLDER.replace('1m', '1d')}", "header", True, id="two of holders"),
        pytest.param(f"{OF_HOLDER}, {OF_RESOURCE}", "lease", False, id="also of the resource"),
        pytest.param(OF_HOLDER, SIGNED, False, id="of holders whom an issuer names"),
        pytest.param("", "lease", False, id="without budgets"),
    ],
)
def test_a_budget_of_a_name_that_anybody_may_choose(tmp_path: Path, budgets: str, authority: str, warned: bool) -> None:
    """Who names another holder has another budget."""
    policy = BOUNDED.replace("AUTHORITY", f"authority: {authority}").replace("BUDGETS", budgets)
    found = list(unbound_holders(rules(tmp_path, policy)))

    assert [(one.severity, one.line, one.column) for one in found] == ([("warning", 4, 5)] if warned else [])
    assert not warned or "the agent's own word" in found[0].message
