"""The values that a policy lists: of what names a resource, and of what `only` allows."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from gateway.policy.condition import Scalar, parse_scalar
from gateway.policy.finding import Wrong
from gateway.policy.listed_values import MemberValues
from gateway.policy.reading.hidden import hidden_in
from gateway.policy.report import Report
from gateway.policy.source import Path

T = TypeVar("T")


def listed_texts(report: Report, path: Path, values: list[object]) -> frozenset[str]:
    """Of a parameter, a field or a header. Faults are noted; `path` is that of the list."""
    return frozenset(compiled(report, path, values, _text))


def listed_parts(report: Report, path: Path, values: list[object]) -> frozenset[str]:
    """Of what names a resource, likewise."""
    return frozenset(compiled(report, path, values, _part))


def member_values(report: Report, path: Path, values: list[object]) -> MemberValues:
    """Of a member of JSON: a list among them stands for all lists of what is in it."""
    plain: set[Scalar] = set()
    items: set[Scalar] | None = None
    for at, value in enumerate(values):
        if isinstance(value, list):
            some: Iterator[Scalar] = compiled(report, (*path, at), value, _item)
            items = {*(items or ()), *some}
            continue
        one = parse_scalar(value)
        if isinstance(one, Wrong):
            report.add((*path, at), one.message)
        else:
            plain.add(one)
    return MemberValues(frozenset(plain), None if items is None else frozenset(items))


def compiled(report: Report, path: Path, values: list[object], read: Callable[[object], T | Wrong]) -> Iterator[T]:
    """What is right of a list. Faults are noted."""
    for at, value in enumerate(values):
        one = report.take((*path, at), read(value))
        if one is not None:
            yield one


def _text(value: object) -> str | Wrong:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    return Wrong("what stands there is text; put the value in quotes")


def _part(value: object) -> str | Wrong:
    text = _text(value)
    hidden = None if isinstance(text, Wrong) else hidden_in(text) if text else "is empty"
    return text if hidden is None else Wrong(f"no part of a resource may be {text!r}, which {hidden}; remove it")


def _item(value: object) -> Scalar | Wrong:
    nested = Wrong("a list may have plain values in it, and no other list; leave `only` without its values")
    return nested if isinstance(value, list) else parse_scalar(value)
