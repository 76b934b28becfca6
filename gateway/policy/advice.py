"""What is allowed in policies and most likely not meant: told by `fencegate check`, and no reason to refuse them."""

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.ruleset import RuleSet


def advice(rules: RuleSet) -> tuple[Finding, ...]:
    """A warning for each upstream that is sent writes later and has no credentials of its own."""
    first: dict[str, Entry] = {}
    for entry in rules.entries:
        upstream = entry.rule.upstream
        if entry.rule.parks is not None and not upstream.credentials:
            first.setdefault(upstream.name, entry)
    return tuple(map(_without_credentials, first.values()))


def _without_credentials(entry: Entry) -> Finding:
    rule, place = entry.rule, entry.matcher.place
    message = (
        f"rule `{rule.name}` sends later, and what agents send in Authorization, Cookie and the like is not kept; if "
        f"upstream `{rule.upstream.name}` wants any of it, give it `credentials`"
    )
    return Finding(place.file, place.line, place.column, message, "warning")
