"""Resources apart by who calls, where the API sees one credential and one thing."""

from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.review.advised.warning import and_others, first_of_each, warning
from gateway.policy.ruleset import RuleSet

_CALLERS = ("tenant", "principal")


def apart_by_caller(rules: RuleSet) -> Iterator[Finding]:
    """A rule whose resource names the caller, and nothing of the request that says so to the API."""
    for entry, others in first_of_each(rules.entries, _is_apart):
        named = next(part.text for part in entry.template.parts if part.origin in _CALLERS)
        yield warning(
            entry,
            f"{and_others(others)}has `{{{named}}}` in its resource, and nothing tells the API which it is: where it "
            "knows one thing of this name, two callers write it under two fences; leave it out, unless the API keeps "
            "them apart by what agents themselves send",
        )


def _is_apart(entry: Entry) -> bool:
    """What is in the request is called as the placeholder is, such as `{path.tenant}` beside `{tenant}`."""
    parts = list(entry.template.parts)
    told = {part.name.rpartition("/")[2] for part in parts if part.origin not in _CALLERS}
    return any(part.origin in _CALLERS and part.text not in told for part in parts)
