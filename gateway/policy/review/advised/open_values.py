"""A word that is closed, or wants more than others, and an entry beside it that takes the word in other spellings.

Those that are known are refused (READING.md); a list of what may stand there ends the others too.
"""

from collections.abc import Iterator

from gateway.core.rule import Rule
from gateway.policy.condition import Condition, FormCondition, HeaderCondition, JsonCondition, QueryCondition, Text
from gateway.policy.doubtful_value import traits_of
from gateway.policy.entry import AnyEntry, Closed, Entry, ReadOnly
from gateway.policy.finding import Finding
from gateway.policy.pattern import Pattern, shapes_meet
from gateway.policy.reading.ordinary_headers import is_needed
from gateway.policy.review.advised.beside_closed import may_both_hold
from gateway.policy.review.advised.warning import warning
from gateway.policy.ruleset import RuleSet
from gateway.policy.value_form import some_values

_Loose = Entry | ReadOnly


def open_values(rules: RuleSet) -> Iterator[Finding]:
    """An MCP server reads a tool's name as it is; whatever else a call says is the tool's own."""
    for upstream in rules.upstreams:
        if upstream.protocol != "mcp":
            yield from _of_upstream(
                [one for one in rules.closed if one.matcher.upstream is upstream],
                [one for one in rules.entries if one.matcher.upstream is upstream],
                [one for one in rules.read_only if one.matcher.upstream is upstream],
            )


def _of_upstream(closed: list[Closed], entries: list[Entry], reads: list[ReadOnly]) -> Iterator[Finding]:
    opened: tuple[_Loose, ...] = (*entries, *reads)
    judged: tuple[Closed | Entry, ...] = (*closed, *entries)
    every: tuple[AnyEntry, ...] = (*judged, *reads)
    plain = [one for one in every if not one.matcher.conditions]
    # Of thousands of entries that look at one thing none is open there: told once for each thing.
    loose: dict[str, list[_Loose]] = {}
    for strict in judged:
        for condition in strict.matcher.conditions:
            words = _words(condition)
            if words and str(condition) not in loose:
                loose[str(condition)] = [one for one in opened if _leaves_open(one, condition)]
            beside = (one for one in loose[str(condition)] if _passes(strict, one, plain)) if words else ()
            found = next(iter(beside), None)
            if found is not None:
                yield _told(strict, condition, words, found)
                break


def _told(strict: Closed | Entry, condition: Condition, words: list[str], found: _Loose) -> Finding:
    return warning(
        strict,
        f"names {some_values(words)} at {condition}, and {found.label} at {found.matcher.place} takes any other text "
        "there: a server may read another spelling as this one; list what may stand there, such as `only: "
        f"{_list(condition)}`",
    )


def _list(condition: Condition) -> str:
    match condition:
        case JsonCondition(pointer):
            return f"{{json: [{{{pointer.text}: [...]}}]}}"
        case QueryCondition(name):
            return f"{{query: [{{{name}: [...]}}]}}"
        case FormCondition(name):
            return f"{{form: [{{{name}: [...]}}]}}"
        case HeaderCondition(name):
            return f"{{header: [{{{name}: [...]}}]}}"
    return "..."


def _words(condition: Condition) -> list[str]:
    """The texts that it names and that have letters: a number, or a boolean as text, has its own spellings."""
    texts = (one.value if isinstance(one, Text) else one for one in condition.values)
    return [one for one in texts if isinstance(one, str) and one and "word" in traits_of(one)]


def _leaves_open(entry: _Loose, condition: Condition) -> bool:
    """Whether any text may stand where the condition looks. In JSON, where numbers and lists beside a word are refused,
    as they are nowhere else, what has no list at all has other names open, and no value that is known."""
    if any(str(one) == str(condition) for one in entry.matcher.conditions):
        return False
    only = entry.only
    match condition:
        case JsonCondition(pointer):
            return only is not None and only.json is not None and only.allows(pointer) and only.member(pointer) is None
        case QueryCondition(name):
            is_any = only is None or only.query is None
            return is_any or (only is not None and name in (only.query or ()) and name not in only.values.query)
        case FormCondition(name):
            is_any = only is None or not only.lists_body
            return is_any or (only is not None and name in (only.form or ()) and name not in only.values.form)
        case HeaderCondition(name):
            if only is None or only.header is None:
                return True
            lower = name.encode("ascii")
            return (lower in only.header.names or is_needed(lower)) and name not in only.values.header
    return False


def _passes(strict: Closed | Entry, loose: _Loose, plain: list[AnyEntry]) -> bool:
    """Whether what is not quite as the one wants it is taken by the other, which wants less."""
    if strict is loose or not (isinstance(strict, Closed) or _wants_less(loose, strict)):
        return False
    return _takes_next(strict, loose, plain) and may_both_hold(loose.matcher.conditions, strict.matcher.conditions)


def _takes_next(strict: Closed | Entry, loose: _Loose, plain: list[AnyEntry]) -> bool:
    """Whether some path of the one is the other's too, which is asked later, and no third entry takes all of it."""
    for own in strict.matcher.patterns:
        for wide in loose.matcher.patterns:
            methods = set(own.methods).intersection(wide.methods)
            if not methods or not shapes_meet(own.shape, wide.shape) or _rank(strict, own) >= _rank(loose, wide):
                continue
            if own.shape == wide.shape or not any(_covers(one, own, methods) for one in plain):
                return True
    return False


def _covers(entry: AnyEntry, own: Pattern, methods: set[str]) -> bool:
    return any(one.shape == own.shape and methods.issubset(one.methods) for one in entry.matcher.patterns)


def _rank(entry: AnyEntry, pattern: Pattern) -> tuple[tuple[int, ...], bool, bool]:
    return pattern.precedence, not entry.matcher.conditions, not isinstance(entry, Closed)


def _wants_less(loose: _Loose, strict: Entry) -> bool:
    """Whether fewer things keep a write of the one than the other's, or its resource has less in it."""
    if isinstance(loose, ReadOnly):
        return True
    own, other = strict.template, loose.template
    is_wider = len(list(own.parts)) < len(list(other.parts))
    return is_wider or not _guards(strict.rule) <= _guards(loose.rule)


def _guards(rule: Rule) -> set[str]:
    held = {
        "mode": rule.mode == "enforce",
        "approval": rule.parks == "awaiting_approval",
        "intent": rule.intent.mode == "required",
        "budget": bool(rule.budgets),
    }
    return {name for name, holds in held.items() if holds}
