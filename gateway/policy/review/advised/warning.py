"""A warning, and where it stands."""

from collections.abc import Callable, Iterable, Iterator

from gateway.policy.entry import AnyEntry, Entry
from gateway.policy.finding import Finding


def warning(entry: AnyEntry, why: str) -> Finding:
    """`why` goes on behind the name of a rule; entries of `read_only` and `closed` have none."""
    return _at(entry, f"rule `{entry.rule.name}` {why}" if isinstance(entry, Entry) else f"this {why}")


def upstream_warning(entry: Entry, why: str) -> Finding:
    """Of a rule's upstream, shown at the rule."""
    return _at(entry, f"upstream `{entry.rule.upstream.name}` {why}")


def first_of_each(entries: Iterable[Entry], is_meant: Callable[[Entry], bool]) -> Iterator[tuple[Entry, int]]:
    """For each upstream the first of its rules for which this holds, and how many others there are."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if is_meant(entry):
            found.setdefault(entry.rule.upstream.name, []).append(entry)
    return ((same[0], len(same) - 1) for same in found.values())


def and_others(count: int) -> str:
    """Told behind the first rule's name."""
    return "" if count == 0 else f"(and {count} {'other' if count == 1 else 'others'} of its upstream) "


def _at(entry: AnyEntry, message: str) -> Finding:
    place = entry.matcher.place
    return Finding(place.file, place.line, place.column, message, "warning")
