"""Budgets of a name that anybody may choose."""

from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.review.advised.warning import warning
from gateway.policy.ruleset import RuleSet


def unbound_holders(rules: RuleSet) -> Iterator[Finding]:
    """Each rule that only budgets of holders bound."""
    for entry in rules.entries:
        if _names_its_own_budget(entry):
            yield warning(
                entry,
                "has budgets `per: holder` only, and a holder's name is the agent's own word: under another it has "
                "another budget; write one per `principal` (with `principals.yaml`), `resource` or `tenant` too",
            )


def _names_its_own_budget(entry: Entry) -> bool:
    """A holder is named by who asks for the lease, or sends the epoch; in a signed claim by its issuer."""
    rule = entry.rule
    return rule.authority != "signed" and bool(rule.budgets) and all(budget.per == "holder" for budget in rule.budgets)
