"""Writes that are sent later, when nothing is left of what their agents proved themselves with."""

from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.review.advised.warning import first_of_each, warning
from gateway.policy.ruleset import RuleSet


def without_credentials(rules: RuleSet) -> Iterator[Finding]:
    """An upstream that is sent writes later and has no credentials of its own."""
    for entry, _ in first_of_each(rules.entries, _sends_later):
        yield warning(
            entry,
            "sends later, and what agents send in Authorization, Cookie and the like is not kept; if upstream "
            f"`{entry.rule.upstream.name}` wants any of it, give it `credentials`",
        )


def _sends_later(entry: Entry) -> bool:
    return entry.rule.parks is not None and not entry.rule.upstream.credentials
