"""`outcomes:` compiled to sets of codes. An exact one beats a class: `[4xx]` and `[408]` may stand apart."""

import re

from gateway.core.rule import Outcomes
from gateway.policy.finding import Wrong

_CLASS = re.compile("[2-5]xx")
_CODES = range(200, 600)
# What JSON-RPC reserves (2.0, section 5.1).
_RPC_CODES = range(-32768, -31999)


def parse_codes(values: list[object], *, or_errors: bool = False) -> tuple[frozenset[int], frozenset[int]] | Wrong:
    """The exact codes of a list, and those that its classes stand for. `or_errors`: codes of JSON-RPC's errors, too."""
    exact: set[int] = set()
    classed: set[int] = set()
    for value in values:
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and (value in _CODES or (or_errors and value in _RPC_CODES))
        ):
            exact.add(value)
        elif isinstance(value, str) and _CLASS.fullmatch(value):
            first = int(value[0]) * 100
            classed.update(range(first, first + 100))
        else:
            others = "; of an error of JSON-RPC its code, such as `-32602`" if or_errors else ""
            return Wrong(f"`{value}` is not a status; write a code from 200 to 599, or a class such as `4xx`{others}")
    return frozenset(exact), frozenset(classed)


def compile_outcomes(not_applied: list[object], unknown: list[object], *, is_said: bool) -> Outcomes | Wrong:
    refused, doubtful = parse_codes(not_applied, or_errors=True), parse_codes(unknown, or_errors=True)
    if isinstance(refused, Wrong):
        return refused
    if isinstance(doubtful, Wrong):
        return doubtful
    (no, no_class), (maybe, maybe_class) = refused, doubtful
    both = (no & maybe) | (no_class & maybe_class)
    if both:
        return Wrong(f"status {min(both)} stands in both lists; leave it in one")
    return Outcomes(no | (no_class - maybe), maybe | (maybe_class - no), is_said)
