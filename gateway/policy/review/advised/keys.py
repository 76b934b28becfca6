"""Keys that an upstream would honour, and that do not reach it."""

from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.review.advised.warning import and_others, first_of_each, warning
from gateway.policy.ruleset import RuleSet


def dropped_keys(rules: RuleSet) -> Iterator[Finding]:
    """A rule without intents: its agents' keys are theirs, and the header is the gateway's own."""
    for entry, others in first_of_each(rules.entries, _drops_keys):
        native = entry.rule.upstream.native_key
        header = "" if native is None else native.header.decode("latin-1")
        yield warning(
            entry,
            f"{and_others(others)}has no intents, and the API takes keys in {header}: an agent's key is dropped, and a "
            "repeat acts again; write `intent: {mode: optional}`, which sends the API one key for all repeats",
        )


def keys_forgotten_early(rules: RuleSet) -> Iterator[Finding]:
    """A repeat may last as long as any attempt, and must not come to its end when the API has forgotten the key."""
    for entry, others in first_of_each(rules.entries, _forgets_early):
        upstream = entry.rule.upstream
        total_s = upstream.timeouts.total_s
        retain_s = 0.0 if upstream.native_key is None else upstream.native_key.retain_s
        yield warning(
            entry,
            f"{and_others(others)}repeats what nobody knows, and the API remembers keys for {retain_s:g} s, which two "
            f"attempts of `timeouts.total` ({total_s:g} s) outlast: what took its whole time is never sent again; "
            "write a `total` of less than half of `idempotency_key.retain`",
        )


def _forgets_early(entry: Entry) -> bool:
    return entry.rule.intent.on_unknown == "retry" and not entry.rule.upstream.outlasts_two


def _drops_keys(entry: Entry) -> bool:
    """What only observes passes keys on, and a session has none."""
    rule = entry.rule
    without = rule.intent.mode == "off" and rule.mode == "enforce" and rule.upgrade is None
    return without and rule.upstream.native_key is not None
