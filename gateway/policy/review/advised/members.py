"""Deletions of what contains other resources."""

from collections.abc import Iterator

from gateway.policy.entry import AnyEntry, Entry
from gateway.policy.finding import Finding
from gateway.policy.review.advised.below import rule_apart, told_by
from gateway.policy.review.advised.warning import and_others, first_of_each, warning
from gateway.policy.ruleset import RuleSet

_METHODS = frozenset({"DELETE"})

# Who has these has WebDAV's collections, which are deleted with all that is in them (RFC 4918, section 9.6.1).
# Elsewhere what lies below a path may well stay: an object store knows no folders.
_WEBDAV = frozenset({"MKCOL", "MOVE", "PROPFIND", "PROPPATCH"})


def members_apart(rules: RuleSet) -> Iterator[Finding]:
    """A rule that deletes a collection, where what is in it has resources of its own."""
    every: tuple[AnyEntry, ...] = (*rules.entries, *rules.read_only, *rules.closed)
    webdav = {one.matcher.upstream.name for one in every if _knows_collections(one)}

    def apart(entry: Entry) -> Entry | None:
        return rule_apart(rules, entry, _METHODS, ends=False) if entry.rule.upstream.name in webdav else None

    for entry, others in first_of_each(rules.entries, lambda one: apart(one) is not None):
        other = apart(entry)
        assert other is not None
        yield warning(
            entry,
            f"{and_others(others)}deletes, as WebDAV does, all that is below its path, to which "
            f"{told_by(other, entry)} may give other resources: their holders are not asked; give all rules that "
            "write there one resource, without the parts of the path that lie below what is deleted",
        )


def _knows_collections(entry: AnyEntry) -> bool:
    return any(not _WEBDAV.isdisjoint(pattern.methods) for pattern in entry.matcher.patterns)
