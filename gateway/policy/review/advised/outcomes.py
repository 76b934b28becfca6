"""`outcomes.unknown` replaces its default: what is left out of it proves something."""

from collections.abc import Iterator

from gateway.policy.finding import Finding
from gateway.policy.review.advised.warning import first_of_each, upstream_warning
from gateway.policy.ruleset import RuleSet

_SERVER_ERRORS = frozenset(range(500, 600))


def proved_too_much(rules: RuleSet) -> Iterator[Finding]:
    """An upstream to which a 5xx means that the write was applied, or a 408 that it was not, as no list says so."""
    for entry, _ in first_of_each(rules.entries, lambda _: True):
        outcomes = entry.rule.upstream.outcomes
        applied = _SERVER_ERRORS - outcomes.unknown - outcomes.not_applied
        said = []
        if applied:
            said.append(f"{_listed(applied)} for proof that a write was applied")
        if 408 in outcomes.not_applied:
            said.append("408 for proof that it was not, so that a repeat runs again")
        elif 408 not in outcomes.unknown:
            said.append("408 for proof that it was applied")
        if said:
            why = f"takes {', and '.join(said)}; `outcomes.unknown` replaces the default: add `408, 5xx` to it"
            yield upstream_warning(entry, why)


def _listed(codes: frozenset[int]) -> str:
    """The smallest, which are those that servers send."""
    first = sorted(codes)[:3]
    return ", ".join(map(str, first)) + (" and others" if len(codes) > len(first) else "")
