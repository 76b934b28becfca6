"""Writes with two ends, or of a list of things, of which the resource names one."""

from collections.abc import Iterator
from itertools import pairwise

from gateway.policy.condition import JsonCondition, PresenceCondition
from gateway.policy.entry import Closed, Entry, ReadOnly
from gateway.policy.finding import Finding
from gateway.policy.reading.jsonbody import Pointer
from gateway.policy.review.advised.below import rule_apart, told_by
from gateway.policy.review.advised.warning import and_others, first_of_each, warning
from gateway.policy.ruleset import RuleSet

# `Destination` names the other end (RFC 4918, sections 9.8 and 9.9; CouchDB and Swift know it of COPY).
_METHODS = frozenset({"COPY", "MOVE"})
# What has the arguments of a call, in their order: each is a thing of its own.
_ARGUMENTS = frozenset({"args", "arguments", "params"})


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


def other_items(rules: RuleSet) -> Iterator[Finding]:
    """A rule whose resource has one item of a list, and what passes or is closed by what one says."""
    for entry, others in first_of_each(rules.entries, lambda one: _item_of(one) is not None):
        yield warning(
            entry,
            f"{and_others(others)}names its resource by one item of a list (`{{{_item_of(entry)}}}`), and the API may "
            "write all of them: whoever holds another is not asked; take a resource that contains all",
        )
    for read in rules.read_only:
        if (told := _looked_at(read)) is not None:
            yield warning(read, f"passes by what one item of a list says (`{told}`), and another may say what writes")
    for closed in rules.closed:
        if (told := _looked_at(closed)) is not None:
            yield warning(closed, f"closes what one item of a list says (`{told}`), and another may say it, too")


def _item_of(entry: Entry) -> str | None:
    return next((part.text for part in entry.template.parts if _names_item(part.pointer)), None)


def _looked_at(entry: ReadOnly | Closed) -> str | None:
    conditions = (one.of if isinstance(one, PresenceCondition) else one for one in entry.matcher.conditions)
    pointers = (one.pointer for one in conditions if isinstance(one, JsonCondition))
    return next((pointer.text for pointer in pointers if _names_item(pointer)), None)


def _names_item(pointer: Pointer | None) -> bool:
    way = ("", *(() if pointer is None else pointer.tokens))
    return any(token.isdecimal() and before.lower() not in _ARGUMENTS for before, token in pairwise(way))
