"""What a rule in `mode: observe` forwards all the same: what fence, intent, budget or store has to say of a write, and
what the rule itself does not list.

Everything else is refused there too: what can be read in two ways cannot be judged; a right, a limit and an operator's
stop are no part of what is being tried out.
"""

from gateway.core import decision
from gateway.core.decision import Decision

_OBSERVABLE = frozenset(
    one.name
    for one in (
        *decision.FENCE_REJECTIONS,
        # Of what no rule takes nobody says that it is observed.
        decision.NO_POLICY,
        decision.REPLAYED,
        decision.RESOURCE_UNRESOLVED,
        decision.TOKEN_REQUIRED,
        decision.TOKEN_MALFORMED,
        decision.KEYS_UNAVAILABLE,
        decision.SEQUENCE_REQUIRED,
        decision.IDEMPOTENCY_KEY_REQUIRED,
        decision.INTENT_IN_PROGRESS,
        decision.INTENT_MISMATCH,
        decision.ANSWER_NOT_KEPT,
        decision.OUTCOME_UNKNOWN,
        decision.STORE_UNAVAILABLE,
        decision.STORE_REGRESSED,
    )
)
# A quota has the same name, and is the principal's.
_BUDGETS = (decision.BUDGET_EXCEEDED, decision.BEYOND_ANY_BUDGET)


def is_observable(would: Decision) -> bool:
    """Whether an observed write about which this would have been decided is forwarded."""
    return would.name in _OBSERVABLE or would in _BUDGETS
