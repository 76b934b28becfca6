"""What a write takes of its rule's budgets: amounts, read from the body exactly."""

from collections.abc import Iterable
from decimal import Decimal

from gateway.core.decision import AMOUNT_UNRESOLVED, Refused
from gateway.policy.reading.body import Body
from gateway.policy.reading.jsonbody import MISSING, Number, Pointer

# Of a unit, what is counted is a millionth (`gateway.core.budget.UNIT`).
_PLACES = 6


def read_costs(amounts: Iterable[Pointer | None], body: Body) -> tuple[int, ...] | Refused:
    """For each budget the amount in millionths; 0 for one that has no pointer, and only counts.

    Refused: `resource-unresolved` for what is no amount, and `ambiguous-target`.
    """
    costs = []
    for pointer in amounts:
        cost = 0 if pointer is None else _read(pointer, body)
        if isinstance(cost, Refused):
            return cost
        costs.append(cost)
    return tuple(costs)


def _read(pointer: Pointer, body: Body) -> int | Refused:
    found = body.find(pointer)
    if isinstance(found, Refused):
        return found
    if found is MISSING:
        return _unfit(pointer, "is missing")
    if not isinstance(found, Number):
        return _unfit(pointer, "is not a number")
    if found.spelled.startswith("-"):
        return _unfit(pointer, "is negative")
    if not found.survives:
        return _unfit(pointer, "has more digits than most readers keep")
    # The same number in the fewest digits: as it was sent it may have millions of them, all zeros.
    millionths = _millionths(Decimal(repr(float(found.spelled))))
    return _unfit(pointer, f"has more than {_PLACES} decimal places") if millionths is None else millionths


def _millionths(amount: Decimal) -> int | None:
    """Exactly; None where it is no whole number of them. Decimal's own arithmetic rounds to 28 digits."""
    _, digits, exponent = amount.as_tuple()
    assert isinstance(exponent, int), "the reader takes finite numbers only"
    number = int("".join(map(str, digits)))
    places = exponent + _PLACES
    if places >= 0:
        return number * int(10**places)
    whole, rest = divmod(number, 10**-places)
    return None if rest else int(whole)


def _unfit(pointer: Pointer, what: str) -> Refused:
    detail = f"Nothing was forwarded: `json:{pointer.text}`, the amount that a budget counts, {what}."
    return Refused(AMOUNT_UNRESOLVED, f"{detail} Send a plain number that is not negative.")
