"""Entries of one path of which one looks at JSON and another at a form: each refuses the other's bodies, unasked."""

from collections import defaultdict
from collections.abc import Iterator

from gateway.policy.condition import FormCondition, GraphqlCondition, JsonCondition
from gateway.policy.entry import AnyEntry
from gateway.policy.finding import Finding
from gateway.policy.pattern import Shape
from gateway.policy.review.advised.beside_closed import may_both_hold
from gateway.policy.review.advised.warning import warning
from gateway.policy.ruleset import RuleSet


def two_kinds(rules: RuleSet) -> Iterator[Finding]:
    """Unless a condition on Content-Type tells them apart before. Whether a name is there is told of any body."""
    forms: defaultdict[tuple[str, str, Shape], list[AnyEntry]] = defaultdict(list)
    jsons: list[AnyEntry] = []
    every: tuple[AnyEntry, ...] = (*rules.entries, *rules.read_only, *rules.closed)
    for entry in every:
        conditions = entry.matcher.conditions
        if any(isinstance(one, JsonCondition | GraphqlCondition) for one in conditions):
            jsons.append(entry)
        elif any(isinstance(one, FormCondition) for one in conditions):
            for place in _places(entry):
                forms[place].append(entry)
    for entry in jsons:
        own, beside = entry.matcher, (one for place in _places(entry) for one in forms.get(place, ()))
        other = next((one for one in beside if may_both_hold(own.conditions, one.matcher.conditions)), None)
        if other is not None:
            yield warning(
                entry,
                f"looks at JSON, and {other.label} at {other.matcher.place} at a form of the same path: each refuses "
                "the other's bodies before it is asked; tell them apart by their type, such as `header: {content-type: "
                "application/json}` beside the conditions of the one and `application/x-www-form-urlencoded` of the "
                "other, or list what may stand there (`only`)",
            )


def _places(entry: AnyEntry) -> Iterator[tuple[str, str, Shape]]:
    name = entry.matcher.upstream.name
    return ((name, method, one.shape) for one in entry.matcher.patterns for method in one.methods)
