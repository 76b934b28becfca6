"""The table of decisions is complete, and each row says one thing."""

from dataclasses import replace
from http import HTTPStatus

import pytest

from gateway.core import decision as module
from gateway.core.decision import DECISIONS, Decision

# name: (status, action); None where the upstream's answer is passed on or nothing is wrong.
TABLE: dict[str, tuple[int | None, str | None]] = {
    "passed": (None, None),
    "forwarded": (None, None),
    "observed": (None, None),
    "replayed": (None, None),
    "queued": (202, "wait"),
    "awaiting-approval": (202, "wait"),
    "granted": (201, None),
    "registered": (200, None),
    "renewed": (200, None),
    "released": (204, None),
    "shown": (200, None),
    "no-upstream": (404, "stop"),
    "no-policy": (403, "stop"),
    "reads-denied": (403, "stop"),
    "resource-unresolved": (400, "fix-request"),
    "ambiguous-target": (400, "fix-request"),
    "bad-request": (400, "fix-request"),
    "header-malformed": (400, "fix-request"),
    "token-required": (428, "reacquire"),
    "token-malformed": (400, "fix-request"),
    "token-invalid": (401, "reacquire"),
    "keys-unavailable": (503, "retry"),
    "sequence-required": (400, "fix-request"),
    "stale-epoch": (412, "stop"),
    "holder-mismatch": (412, "stop"),
    "lease-expired": (412, "reacquire"),
    "out-of-sequence": (412, "stop"),
    "revision-mismatch": (412, "fix-request"),
    "takeover-pending": (503, "retry"),
    "resource-busy": (503, "retry"),
    "idempotency-key-required": (400, "fix-request"),
    "intent-in-progress": (409, "retry"),
    "intent-mismatch": (422, "stop"),
    "answer-not-kept": (410, "stop"),
    "outcome-unknown": (504, "wait"),
    "approval-denied": (403, "stop"),
    "paused": (503, "wait"),
    "quota-exceeded": (429, "retry"),
    "body-too-large": (413, "fix-request"),
    "unsupported-coding": (415, "fix-request"),
    "upstream-unreachable": (502, "retry"),
    "upstream-timeout": (504, "retry"),
    "upstream-broken": (502, "retry"),
    "no-room": (503, "retry"),
    "overloaded": (503, "retry"),
    "store-unavailable": (503, "retry"),
    "store-regressed": (503, "wait"),
    "policies-unavailable": (503, "retry"),
    "no-such-resource": (404, "fix-request"),
    "lease-held": (409, "wait"),
    "lease-lost": (412, "reacquire"),
    "no-lease": (404, "reacquire"),
    "no-such-intent": (404, "stop"),
    "not-in-quarantine": (404, "fix-request"),
    "no-such-pause": (404, "fix-request"),
    "no-such-notification": (404, "stop"),
    "wrong-state": (409, "stop"),
    "epochs-exhausted": (409, "stop"),
    "unauthenticated": (401, "stop"),
    "forbidden": (403, "stop"),
    "policies-invalid": (422, "fix-request"),
    "not-found": (404, "fix-request"),
    "method-not-allowed": (405, "fix-request"),
    "internal-error": (500, "retry"),
}

# What the upstream or the lease calls answer; everything else is a problem.
NO_PROBLEM = {"passed", "forwarded", "observed", "replayed", "granted", "registered", "renewed", "released", "shown"}
# What was taken and is done later: no problem, and yet there is something to do for the agent.
TAKEN = {"queued", "awaiting-approval"}


def test_every_decision_has_its_status_and_action() -> None:
    """Agents rely on the pair; a new decision is a new row here."""
    assert {name: (each.status, each.action) for name, each in DECISIONS.items()} == TABLE


def test_no_two_decisions_share_a_name() -> None:
    """Each constant is in the table under its own name: none was taken for one that was there before."""
    constants = {name: value for name, value in vars(module).items() if isinstance(value, Decision)}
    assert constants.pop("STILL_UNKNOWN") == replace(constants["OUTCOME_UNKNOWN"], status=409)
    refusal, kept_no_more = constants.pop("REFUSAL_NOT_KEPT"), constants["ANSWER_NOT_KEPT"]
    assert (refusal.name, refusal.status, refusal.action) == (kept_no_more.name, kept_no_more.status, "fix-request")
    assert constants.pop("GRANT_ENDED").name == constants["LEASE_LOST"].name
    assert constants.pop("GRANT_IN_PROGRESS").name == constants["LEASE_HELD"].name
    assert constants.pop("WRONG_STORE_STATE").name == constants["WRONG_STATE"].name
    exceeded, unresolved = constants["QUOTA_EXCEEDED"], constants["RESOURCE_UNRESOLVED"]
    assert constants.pop("KEYS_SPENT").name == exceeded.name
    of_budgets = [constants.pop(name) for name in ("BUDGET_EXCEEDED", "BEYOND_ANY_BUDGET", "AMOUNT_UNRESOLVED")]
    names = [(one.name, one.status) for one in of_budgets]
    assert names == [(one.name, one.status) for one in (exceeded, exceeded, unresolved)]

    assert len(constants) == len(DECISIONS)
    for decision in constants.values():
        assert DECISIONS[decision.name] is decision


@pytest.mark.parametrize("decision", DECISIONS.values(), ids=lambda each: each.name)
def test_a_decision_is_a_problem_or_none(decision: Decision) -> None:
    """A problem has an error's status and an action; whatever is no problem has neither, but for what was taken."""
    if decision.name in NO_PROBLEM:
        assert decision.action is None
        assert decision.status is None or 200 <= decision.status < 300
    elif decision.name in TAKEN:
        assert (decision.status, decision.action) == (202, "wait")
    else:
        assert decision.action is not None
        assert decision.status is not None and 400 <= decision.status < 600
    assert decision.status is None or HTTPStatus(decision.status).phrase


@pytest.mark.parametrize("decision", DECISIONS.values(), ids=lambda each: each.name)
def test_a_name_fits_a_header_and_a_urn(decision: Decision) -> None:
    """Lower-case words joined by dashes; the title is one short line without a stop."""
    assert all(word.isascii() and word.isalpha() and word.islower() for word in decision.name.split("-"))
    assert decision.title[0].isupper() and not decision.title.endswith(".") and len(decision.title) < 60


@pytest.mark.parametrize("status", [409, 429, 502, 503, 504])
def test_what_a_client_repeats_by_itself_is_never_final(status: int) -> None:
    """Client libraries repeat these statuses: none of them tells a holder who lost its right to stop.

    The exceptions are harmless to ask again: a lease beyond the largest epoch, and an operator's call.
    """
    final = [name for name, (answered, action) in TABLE.items() if answered == status and action == "stop"]

    assert final in ([], ["wrong-state", "epochs-exhausted"])
