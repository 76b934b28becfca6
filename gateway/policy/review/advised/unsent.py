"""What reads a body of a kind that its API is not sent: it takes no request that has one."""

from collections.abc import Iterable, Iterator

from gateway.policy.condition import Condition, FormCondition, GraphqlCondition, JsonCondition
from gateway.policy.entry import Entry, ReadOnly
from gateway.policy.finding import Finding
from gateway.policy.reading.body_type import FORM, Kind
from gateway.policy.review.advised.warning import warning
from gateway.policy.ruleset import RuleSet

_CALLED: dict[Kind, str] = {"json": "JSON", "form": "a form"}


def unsent_bodies(rules: RuleSet) -> Iterator[Finding]:
    """A rule, or an entry of `read_only`, that reads what `mount.bodies` keeps from it."""
    for rule in rules.entries:
        reads = {*_read_by(rule.matcher.conditions), *([] if rule.template.reads is None else [rule.template.reads])}
        yield from (warning(rule, _why(kind)) for kind in _unsent(rule, reads))
    for entry in rules.read_only:
        unsent = _unsent(entry, set(_read_by(entry.matcher.conditions)))
        yield from (warning(entry, _why(kind)) for kind in unsent)


def _read_by(conditions: Iterable[Condition]) -> Iterator[Kind]:
    for one in conditions:
        if isinstance(one, JsonCondition | GraphqlCondition):
            yield "json"
        elif isinstance(one, FormCondition):
            yield "form"


def _unsent(entry: Entry | ReadOnly, reads: set[Kind]) -> list[Kind]:
    upstream = entry.matcher.upstream
    sent = upstream.mount.bodies
    if sent is None:
        return []
    types = {"json": upstream.json_types, "form": frozenset((FORM,))}
    return sorted(kind for kind in reads if sent.isdisjoint(types[kind]))


def _why(kind: Kind) -> str:
    called = _CALLED[kind]
    return f"reads {called}, and `mount.bodies` does not list it, so that it takes no body; add `{kind}` there"
