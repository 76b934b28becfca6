"""Which of the paths that one write touches have resources of their own."""

from collections.abc import Iterable

from gateway.policy.entry import Entry
from gateway.policy.pattern import Pattern
from gateway.policy.ruleset import RuleSet


def rule_apart(rules: RuleSet, entry: Entry, methods: frozenset[str], *, ends: bool) -> Entry | None:
    """The rule, this one or another of its upstream, that gives another resource to something else that a write of
    these methods touches: to what lies below its path, and with `ends` to another path of the same pattern too."""
    wide = [pattern for pattern in entry.matcher.patterns if not methods.isdisjoint(pattern.methods)]
    others = (one for one in rules.entries if one is not entry and one.rule.upstream is entry.rule.upstream)
    every = (entry, *others) if wide else ()
    return next((one for one in every if _names_apart(one, wide, ends)), None)


def told_by(other: Entry, entry: Entry) -> str:
    """Which rule it is, seen from the one that is warned of."""
    return "this rule" if other is entry else f"rule `{other.rule.name}` ({other.matcher.place})"


def _names_apart(entry: Entry, wide: Iterable[Pattern], ends: bool) -> bool:
    return any(
        _lies_at_or_below(own, pattern) and any(_differs(pattern, place, ends) for place in _named(entry, own, pattern))
        for pattern in wide
        for own in entry.matcher.patterns
    )


def _lies_at_or_below(own: Pattern, pattern: Pattern) -> bool:
    """Whether some path of `own` is one of the pattern's or goes on behind one, with a slash at its end or without."""
    is_deep = own.rest is not None or len(own.segments) >= len(pattern.segments) + (pattern.rest is not None)
    pairs = zip(own.segments, pattern.segments, strict=False)
    return is_deep and all(None in (mine, text) or mine == text for mine, text in pairs)


def _named(entry: Entry, own: Pattern, pattern: Pattern) -> set[int]:
    """The places of a path whose text is in the resource; of a rest as many as matter here."""
    named = {part.name for part in entry.template.parts if part.origin in ("path", "rest")}
    places = {place for place, name in own.names if name in named}
    if own.rest in named:
        places.update(range(len(own.segments), max(len(own.segments), len(pattern.segments)) + 2))
    return places


def _differs(pattern: Pattern, place: int, ends: bool) -> bool:
    """Whether two paths that one write touches may differ there."""
    if place < len(pattern.segments):
        return ends and pattern.segments[place] is None
    # The first segment of a rest is the path's own, and the same in all that lies below it.
    return ends or pattern.rest is None or place > len(pattern.segments)
