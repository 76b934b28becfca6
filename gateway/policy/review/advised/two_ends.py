"""Writes with two ends, of which the resource names one."""

from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.review.advised.below import rule_apart, told_by
from gateway.policy.review.advised.warning import and_others, first_of_each, warning
from gateway.policy.ruleset import RuleSet

# `Destination` names the other end (RFC 4918, sections 9.8 and 9.9; CouchDB and Swift know it of COPY).
_METHODS = frozenset({"COPY", "MOVE"})


def other_ends(rules: RuleSet) -> Iterator[Finding]:
    """A rule that moves or copies to where another path has a resource of its own."""

    def apart(entry: Entry) -> Entry | None:
        return rule_apart(rules, entry, _METHODS, ends=True)

    for entry, others in first_of_each(rules.entries, lambda one: apart(one) is not None):
        other = apart(entry)
        assert other is not None
        yield warning(
            entry,
            f"{and_others(others)}moves or copies to the path that `Destination` names, to which "
            f"{told_by(other, entry)} may give another resource: its holder is not asked; give all rules that write "
            "there one resource that contains both ends, without the parts of the path in which these may differ",
        )
