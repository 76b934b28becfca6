"""What is closed on a condition, and open beside it where a rule's path is more specific."""

from collections.abc import Iterator

from gateway.policy.aspect import aspects_of
from gateway.policy.condition import Condition
from gateway.policy.entry import AnyEntry, Closed
from gateway.policy.finding import Finding
from gateway.policy.pattern import Pattern, shapes_meet
from gateway.policy.review.advised.warning import closed_warning
from gateway.policy.ruleset import RuleSet


def open_beside_closed(rules: RuleSet) -> Iterator[Finding]:
    """A `closed` with a condition that a narrower rule does not know of. Without a condition it is the wide half of
    "closed but for these"."""
    every: tuple[AnyEntry, ...] = (*rules.entries, *rules.read_only)
    for closed in (one for one in rules.closed if one.matcher.conditions and not one.anywhere):
        beside = [one for one in every if one.matcher.upstream is closed.matcher.upstream and _passes(one, closed)]
        if beside:
            first, others = beside[0], len(beside) - 1
            more = f" (and {others} more)" if others else ""
            yield closed_warning(
                closed,
                f"does not close what {first.label} at {first.matcher.place}{more} takes, whose path is more "
                "specific: name that path here too, or leave `match` out to close it everywhere",
            )


def _passes(entry: AnyEntry, closed: Closed) -> bool:
    """Whether the entry takes what would be closed, before that is asked."""
    pairs = ((own, wide) for own in entry.matcher.patterns for wide in closed.matcher.patterns)
    return any(_comes_first(own, wide) for own, wide in pairs) and _may_both_hold(
        entry.matcher.conditions, closed.matcher.conditions
    )


def _comes_first(own: Pattern, wide: Pattern) -> bool:
    is_asked_first = own.precedence < wide.precedence and not set(own.methods).isdisjoint(wide.methods)
    return is_asked_first and shapes_meet(own.shape, wide.shape)


def _may_both_hold(one: tuple[Condition, ...], other: tuple[Condition, ...]) -> bool:
    """Of one request. The first of the two is bit 1."""
    _, aspects = aspects_of((one, other))
    return all(aspect.rivals(condition) & 1 for aspect, condition in zip(aspects, other, strict=True))
