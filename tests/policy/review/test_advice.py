"""Warnings: what is allowed, and most likely not meant."""

from pathlib import Path

import pytest

from gateway.policy.review.advice import advice
from tests.policy.asking import rules

POLICY = """upstream: mails
url: http://127.0.0.1:9
defaults: {intent: {mode: required}}
writes:
  - {name: inline, match: "PUT /mails/{box}", resource: "box/{path.box}"}
  - {name: send, match: "POST /mails/{box}", resource: "box/{path.box}", LATER}
  - {name: move, match: "PATCH /mails/{box}", resource: "box/{path.box}", LATER}
"""
ORDERS = ("order: strict", "sequence: increasing", "sequence: contiguous", "order: strict, sequence: contiguous")
CREDENTIALS = 'credentials: [{header: X-Api-Key, value: "${env:TOKEN}"}]\n'


@pytest.mark.parametrize("later", ["delivery: queued", "approval: required"])
def test_an_upstream_without_credentials_that_is_sent_writes_later(later: str, tmp_path: Path) -> None:
    """What agents prove themselves with is not kept: it is told once, at the first of its rules."""
    [finding] = advice(rules(tmp_path, POLICY.replace("LATER", later)))

    assert (finding.severity, finding.line, finding.column) == ("warning", 6, 5)
    assert "rule `send`" in finding.message and "give it `credentials`" in finding.message


ASKING = """upstream: mails
url: http://127.0.0.1:9
capabilities: {NATIVEquery: {request: "GET /sent?QUERY", applied: {status: 200}}}
defaults: {intent: {mode: required, on_unknown: query}}
writes:
  - {name: send, match: "POST /mails/{box}", resource: "RESOURCE"}
  - {name: move, match: "PATCH /mails/{box}", resource: "RESOURCE"}
"""
PRINCIPALS = f"""principals:
  - {{name: ada, key: "sha256:{"a" * 64}", tenant: north, resources: ["**"]}}
  - {{name: bob, key: "sha256:{"b" * 64}", tenant: south, resources: ["**"]}}
"""
ALONE, UNHEARD = "not one intent's alone", "never hears"


@pytest.mark.parametrize(
    ("query", "native", "resource", "tenants", "warned"),
    [
        pytest.param("k={intent.key}", "", "box/{path.box}", 1, ALONE, id="the key alone"),
        pytest.param("k={intent.resource}", "", "box/{path.box}", 1, ALONE, id="the resource alone"),
        pytest.param("k={intent.key}&r={intent.resource}", "", "box/{path.box}", 1, None, id="key and resource"),
        pytest.param("k={intent.key}&r={intent.resource}", "", "box/{path.box}", 2, ALONE, id="of any tenant"),
        pytest.param("k={intent.key}&r={intent.resource}", "", "box/{tenant}/{path.box}", 2, None, id="of its tenant"),
        pytest.param("k={intent.key}", "", "box", 1, None, id="there is one resource"),
        pytest.param("k={intent.upstream_key}", "idempotency_key: X-Key, ", "box/{path.box}", 2, None, id="its name"),
        pytest.param("k={intent.upstream_key}", "", "box/{path.box}", 1, UNHEARD, id="a name that nobody tells"),
    ],
)
def test_a_query_that_may_find_anothers_write(
    tmp_path: Path, query: str, native: str, resource: str, tenants: int, warned: str | None
) -> None:
    """It is told once for an upstream, at the first rule that asks."""
    if tenants > 1:
        (tmp_path / "principals.yaml").write_text(PRINCIPALS)
    policy = ASKING.replace("QUERY", query).replace("NATIVE", native).replace("RESOURCE", resource)
    found = advice(rules(tmp_path, policy))

    assert [(one.severity, one.line) for one in found] == ([] if warned is None else [("warning", 6)])
    assert warned is None or warned in found[0].message


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
    found = advice(rules(tmp_path, policy))

    assert [(one.severity, one.line, one.column) for one in found] == ([("warning", 4, 5)] if warned else [])
    assert not warned or "the agent's own word" in found[0].message


@pytest.mark.parametrize(
    "policy",
    [
        *(POLICY.replace("LATER", "delivery: queued") + CREDENTIALS, POLICY.replace("LATER", "delivery: inline")),
        *(POLICY.replace("LATER", f"fence: {{concurrency: parallel, {order}}}") for order in ORDERS),
    ],
    ids=["it has credentials", "nothing is sent later", *ORDERS],
)
def test_nothing_else_is_warned_of(policy: str, tmp_path: Path) -> None:
    """An inline write has what its agent sends; writes in parallel may be numbered."""
    assert advice(rules(tmp_path, policy)) == ()
