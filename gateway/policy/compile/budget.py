"""A rule's `budget`: how much its writes may do, and where the amount of one is found."""

from collections.abc import Iterator

from gateway.core.budget import LARGEST_TOTAL, UNIT, Budget
from gateway.policy import schema
from gateway.policy.finding import Wrong
from gateway.policy.reading.jsonbody import Pointer, parse_pointer
from gateway.policy.report import Report
from gateway.policy.source import Path

_JSON = "json:"
# What a write has taken and did not use is given back by what its record says: of thousands of them each is asked for
# every few minutes at worst, and first once the attempt is over.
_KEPT_S = 300.0


def compile_budgets(report: Report, path: Path, shape: schema.Rule) -> tuple[Budget, ...]:
    """The budgets; faults are noted. `path` is the rule's."""
    budgets: list[Budget] = []
    for at, one in enumerate(shape.budget):
        where = (*path, "budget", at)
        for name, message in _faults(one, shape):
            report.add((*where, *name), message)
        total = None if one.total is None else one.total * UNIT
        value = None if one.value is None else one.value.removeprefix(_JSON)
        budget = Budget(one.per, one.window, one.count, total, value)
        if any(budget.name == before.name for before in budgets):
            report.add(where, "a budget of this `per`, `window` and `value` stands here twice; write one of them")
        budgets.append(budget)
    return tuple(budgets)


def compile_amounts(report: Report, path: Path, shape: schema.Rule) -> tuple[Pointer | None, ...]:
    """For each budget where the amount of a write is found, None where only writes are counted; faults are noted."""
    pointers = ((at, _pointer(one.value)) for at, one in enumerate(shape.budget))
    return tuple(report.take((*path, "budget", at, "value"), pointer) for at, pointer in pointers)


def check_retain(report: Report, path: Path, shape: schema.Rule, total_s: float) -> None:
    """A record that is gone too soon would leave what a write has taken taken. `total_s`: how long a write may last."""
    least_s = total_s + _KEPT_S
    if shape.budget and shape.intent.mode != "off" and shape.intent.retain < least_s:
        report.add(
            (*path, "intent", "retain"),
            "with a `budget` the record of a write has to be there until what it took can be given back; write at "
            f"least {least_s:g}s",
        )


def _pointer(value: str | None) -> Pointer | Wrong | None:
    if value is None:
        return None
    if not value.startswith(_JSON):
        return Wrong(f"`{value}` is no amount in a body; write `json:/POINTER`, such as `json:/amount`")
    return parse_pointer(value.removeprefix(_JSON))


def _faults(budget: schema.Budget, rule: schema.Rule) -> Iterator[tuple[Path, str]]:
    if budget.count is None and budget.total is None:
        yield (), "this budget limits nothing; write `count` for the number of writes, or `value` and `total`"
    if budget.total is not None and budget.value is None:
        yield ("total",), "there is nothing to add up; write where the amount is, such as `value: json:/amount`"
    if budget.value is not None and budget.total is None:
        yield ("value",), "nothing limits what this adds up to; write `total` beside it, or remove it"
    if budget.total is not None and budget.total > LARGEST_TOTAL:
        yield ("total",), f"sums are exact up to {LARGEST_TOTAL}; write at most that"
    if budget.value is not None and rule.upgrade is not None:
        yield ("value",), "a handshake has no body; write `count`"
