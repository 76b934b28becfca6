"""Agents name the host where it is passed on, and it may be part of what they write."""

from collections.abc import Iterator

from gateway.policy.finding import Finding
from gateway.policy.review.advised.warning import first_of_each, upstream_warning
from gateway.policy.ruleset import RuleSet


def any_host(rules: RuleSet) -> Iterator[Finding]:
    """An upstream with `host: preserve` that is mounted at every host: one resource for the things of all its sites."""
    for entry, _ in first_of_each(rules.entries, lambda _: True):
        upstream = entry.rule.upstream
        if upstream.preserve_host and upstream.mount.host is None:
            yield upstream_warning(
                entry,
                "gets whatever `Host` agents send (`host: preserve`), and no resource has it in its name: an API with "
                "several sites has one fence for the things of all of them; name the site in `mount: {host: NAME}`, a "
                "policy for each, or write `host: url`",
            )
