"""A warning, and where it stands."""

from collections.abc import Callable, Iterable, Iterator

from gateway.policy.entry import AnyEntry, Closed, Entry, ReadOnly
from gateway.policy.finding import Finding


def warning(entry: Entry, why: str) -> Finding:
    """Of a rule: `why` goes on behind its name."""
    return _at(entry, f"rule `{entry.rule.name}` {why}")


def upstream_warning(entry: Entry, why: str) -> Finding:
    """Of a rule's upstream, shown at the rule."""
    return _at(entry, f"upstream `{entry.rule.upstream.name}` {why}")


def closed_warning(closed: Closed, why: str) -> Finding:
    """Of an entry of `closed`, which has no name."""
    return _at(closed, f"this {why}")


def read_only_warning(entry: ReadOnly, why: str) -> Finding:
    """Of an entry of `read_only`, which has no name."""
    return _at(entry, f"this {why}")


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
