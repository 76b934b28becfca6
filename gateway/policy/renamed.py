"""What a reload makes another thing of: what the old names guard, the new ones do not."""

from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.ruleset import RuleSet


def renamed_resources(former: RuleSet, current: RuleSet) -> tuple[str, ...]:
    """Rules of both, as UPSTREAM/RULE, whose `match` is the same and whose `resource` is another."""
    known = dict(_named(former))
    return tuple(
        f"{upstream}/{rule}"
        for (upstream, rule, matches), resource in _named(current)
        if known.get((upstream, rule, matches), resource) != resource
    )


def moved_upstreams(former: RuleSet, current: RuleSet) -> tuple[str, ...]:
    """Upstreams of both whose `mount.host` is another: the host is in the names of their intents."""
    known = {upstream.name: upstream.mount.host for upstream in former.upstreams}
    return tuple(each.name for each in current.upstreams if known.get(each.name, each.mount.host) != each.mount.host)


def _named(rules: RuleSet) -> Iterator[tuple[tuple[str, str, frozenset[str]], str]]:
    return ((_requests_of(entry), entry.template.text) for entry in rules.entries)


def _requests_of(entry: Entry) -> tuple[str, str, frozenset[str]]:
    matches = frozenset(pattern.text for pattern in entry.matcher.patterns)
    return entry.rule.upstream.name, entry.rule.name, matches
