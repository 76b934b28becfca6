"""`outcomes`: what is left out of `unknown`, whose default it replaces, and what nobody has said, proves something."""

from collections.abc import Iterator

from gateway.core.rule import DOUBTFUL
from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.review.advised.warning import and_others, first_of_each, upstream_warning, warning
from gateway.policy.ruleset import RuleSet

_SERVER_ERRORS = frozenset(range(500, 600))


def proved_too_much(rules: RuleSet) -> Iterator[Finding]:
    """An upstream to which a 5xx proves a write, or a 406, 408 or 499 that there was none, as no list says other."""
    for entry, _ in first_of_each(rules.entries, lambda _: True):
        outcomes = entry.rule.upstream.outcomes
        applied = _SERVER_ERRORS - outcomes.unknown - outcomes.not_applied
        said = []
        if applied:
            said.append(f"{_listed(applied)} for proof that a write was applied")
        proved = (DOUBTFUL & outcomes.not_applied, DOUBTFUL - outcomes.not_applied - outcomes.unknown)
        for codes, what in zip(proved, ("it was not, so that a repeat runs again", "it was applied"), strict=True):
            if codes:
                said.append(f"{_listed(codes)} for proof that {what}")
        if said:
            how = "`outcomes.unknown` replaces the default: add `406, 408, 499, 5xx` to it"
            why = f"takes {', and '.join(said)}; {how}"
            yield upstream_warning(entry, why)


def proved_by_default(rules: RuleSet) -> Iterator[Finding]:
    """A write that must not happen twice, of an upstream of which nobody has said what proves that it did not."""
    for entry, others in first_of_each(rules.entries, _is_at_risk):
        how = "write `outcomes`, such as `{not_applied: [400, 403], unknown: [4xx, 5xx]}`, or `[4xx]` for all"
        why = f"{and_others(others)}is `risk: high`, and by default any 4xx frees its key, as if nothing had been done"
        yield warning(entry, f"{why}: look what the API answers before it acts, and {how}")


def _is_at_risk(entry: Entry) -> bool:
    rule = entry.rule
    return rule.risk == "high" and rule.intent.mode != "off" and not rule.upstream.outcomes.is_said


def _listed(codes: frozenset[int]) -> str:
    """The smallest, which are those that servers send."""
    first = sorted(codes)[:3]
    return ", ".join(map(str, first)) + (" and others" if len(codes) > len(first) else "")
