"""What is closed on a condition, and open beside it where a rule's path is more specific."""

from collections.abc import Iterable, Iterator
from itertools import chain

from gateway.policy.aspect import aspects_of
from gateway.policy.condition import Condition
from gateway.policy.entry import AnyEntry, Closed
from gateway.policy.finding import Finding
from gateway.policy.pattern import Pattern, shapes_meet
from gateway.policy.review.advised.warning import warning
from gateway.policy.ruleset import RuleSet


def open_beside_closed(rules: RuleSet) -> Iterator[Finding]:
    """A `closed` with a condition that a narrower rule does not know of. Without a condition it is the wide half of
    "closed but for these"."""
    closures = tuple(one for one in rules.closed if one.matcher.conditions and not one.anywhere)
    every: tuple[AnyEntry, ...] = (*rules.entries, *rules.read_only)
    for closed in closures:
        alike = tuple(_patterns(closures, closed))
        beside = [
            one for one in every if one.matcher.upstream is closed.matcher.upstream and _passes(one, closed, alike)
        ]
        if beside:
            first, others = beside[0], len(beside) - 1
            more = f" (and {others} more)" if others else ""
            yield warning(
                closed,
                f"does not close what {first.label} at {first.matcher.place}{more} takes, whose path is more "
                "specific: name that path here too, or leave `match` out to close it everywhere",
            )


def _patterns(closures: Iterable[Closed], like: Closed) -> Iterator[Pattern]:
    """All paths of the upstream that are closed on the same conditions."""
    for one in closures:
        if one.matcher.upstream is like.matcher.upstream and one.matcher.conditions == like.matcher.conditions:
            yield from one.matcher.patterns


def _passes(entry: AnyEntry, closed: Closed, alike: tuple[Pattern, ...]) -> bool:
    """Whether the entry takes what would be closed, before that is asked, in a path that nothing else of it names."""
    pairs = (
        (own, wide, set(own.methods).intersection(wide.methods))
        for own in entry.matcher.patterns
        for wide in closed.matcher.patterns
    )
    is_asked_first = any(
        own.precedence < wide.precedence and shapes_meet(own.shape, wide.shape) and not _named(own, methods, alike)
        for own, wide, methods in pairs
        if methods
    )
    return is_asked_first and may_both_hold(entry.matcher.conditions, closed.matcher.conditions)


def _named(own: Pattern, methods: set[str], alike: tuple[Pattern, ...]) -> bool:
    same = (one.methods for one in alike if one.shape == own.shape)
    return methods <= set(chain.from_iterable(same))


def may_both_hold(one: tuple[Condition, ...], other: tuple[Condition, ...]) -> bool:
    """Of one request."""
    # The first of the two is bit 1.
    _, aspects = aspects_of((one, other))
    return all(aspect.rivals(condition) & 1 for aspect, condition in zip(aspects, other, strict=True))
