"""What is forwarded although an enforced rule would refuse it, and what is refused in either mode."""

import pytest

from gateway.core.decision import BEYOND_ANY_BUDGET, BUDGET_EXCEEDED, DECISIONS, QUOTA_EXCEEDED
from gateway.core.observed import is_observable

# The fence's, the intent's and the store's, and what a rule's own lists say.
OBSERVABLE = {
    "answer-not-kept",
    "holder-mismatch",
    "idempotency-key-required",
    "intent-in-progress",
    "intent-mismatch",
    "keys-unavailable",
    "lease-expired",
    "no-policy",
    "out-of-sequence",
    "outcome-unknown",
    "replayed",
    "resource-busy",
    "resource-unresolved",
    "revision-mismatch",
    "sequence-required",
    "stale-epoch",
    "store-regressed",
    "store-unavailable",
    "takeover-pending",
    "token-invalid",
    "token-malformed",
    "token-required",
}


@pytest.mark.parametrize("name", DECISIONS)
def test_only_fence_intent_store_and_lists_are_observed(name: str) -> None:
    """A form that cannot be judged, a right, a limit and an operator's stop are refused in observe mode too."""
    assert is_observable(DECISIONS[name]) == (name in OBSERVABLE)


def test_what_a_budget_says_is_observed() -> None:
    """It has the name of a quota's refusal, which is no part of what is tried out."""
    assert is_observable(BUDGET_EXCEEDED) and is_observable(BEYOND_ANY_BUDGET)
    assert not is_observable(QUOTA_EXCEEDED)
