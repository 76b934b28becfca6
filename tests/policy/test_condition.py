"""Numbers in conditions: compared by value, where every reader sees that value."""

from decimal import Decimal

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.body import Body
from gateway.policy.condition import Amount, JsonCondition, first_unmet, parse_scalar
from gateway.policy.finding import Wrong
from gateway.policy.jsonbody import Pointer
from tests.policy.asking import request


@pytest.mark.parametrize(
    ("spelled", "holds"),
    [("5", True), ("5.0", True), ("50e-1", True), ("6", False), ('"5"', False), ("5.00000000000000000001", None)],
)
def test_a_number_is_compared_by_its_value(spelled: str, holds: bool | None) -> None:
    """One that a double does not hold would be another value to many readers: `ambiguous-target`."""
    condition = JsonCondition(Pointer("/n", ("n",)), frozenset({Amount(Decimal(5))}))
    asked = request("POST", "/", body=f'{{"n": {spelled}}}')

    unmet = first_unmet((condition,), asked, Body(asked))

    if holds is None:
        assert isinstance(unmet, Refused)
        assert unmet.decision is AMBIGUOUS_TARGET
    else:
        assert unmet is (None if holds else condition)


@pytest.mark.parametrize("value", [9007199254740993, Decimal("0.10000000000000000001"), Decimal("1e9999")])
def test_a_number_that_no_request_could_have_is_refused(value: int | Decimal) -> None:
    """The policy's author is told so, and not left with a rule that never takes anything."""
    assert isinstance(parse_scalar(value), Wrong)
    assert parse_scalar(9007199254740991) == Amount(Decimal(9007199254740991))
