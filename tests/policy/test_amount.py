"""Amounts are read exactly, or not at all."""

import time

import pytest

from gateway.core.decision import Refused
from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.policy.amount import read_costs
from gateway.policy.reading.body import Body
from gateway.policy.reading.jsonbody import Pointer, parse_pointer


def costs(body: str) -> tuple[int, ...] | str:
    """What a write with this body costs a budget that only counts, and one of `/pay/amount`; or why it has none."""
    target, pointer = read_target("/x"), parse_pointer("/pay/amount")
    assert isinstance(target, Target) and isinstance(pointer, Pointer)
    headers = Headers(((b"content-type", b"application/json"),))
    read = read_costs((None, pointer), Body(Request("POST", target, headers, body.encode())))
    return read.detail if isinstance(read, Refused) else read


@pytest.mark.parametrize(
    ("spelled", "millionths"),
    [
        ("0", 0),
        ("0.0", 0),
        ("1", 1_000_000),
        ("0.1", 100_000),
        ("0.000001", 1),
        ("1e-6", 1),
        ("1.50", 1_500_000),
        ("12E2", 1_200_000_000),
        ("1e2", 100_000_000),
        ("0.1e3", 100_000_000),
        ("1.0000000000", 1_000_000),
        ("9007199254740992", 9_007_199_254_740_992_000_000),
        ("1e300", 10**306),
    ],
)
def test_an_amount_is_read_exactly(spelled: str, millionths: int) -> None:
    """In millionths, however it is spelled."""
    assert costs(f'{{"pay": {{"amount": {spelled}}}}}') == (0, millionths)


@pytest.mark.parametrize(
    ("spelled", "millionths"),
    [("1." + "0" * 2_000_000, 1_000_000), ("0." + "0" * 2_000_000, 0), ("0e-9999", 0), ("0.5" + "0" * 5000, 500_000)],
    ids=["one", "nothing", "nothing by its exponent", "a half"],
)
def test_ending_zeros_cost_nothing(spelled: str, millionths: int) -> None:
    """Millions of them are no other amount, and none that takes time."""
    begun = time.process_time()

    assert costs(f'{{"pay": {{"amount": {spelled}}}}}') == (0, millionths)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("{}", "is missing"),
        ('{"pay": {"amount": null}}', "is not a number"),
        ('{"pay": {"amount": "1"}}', "is not a number"),
        ('{"pay": {"amount": " 3"}}', "is not a number"),
        ('{"pay": {"amount": true}}', "is not a number"),
        ('{"pay": {"amount": {"$numberInt": "3"}}}', "is not a number"),
        ('{"pay": {"amount": -0.0}}', "is negative"),
        ('{"pay": {"amount": false}}', "is not a number"),
        ('{"pay": {"amount": -0.5}}', "is negative"),
        ('{"pay": {"amount": -0}}', "is negative"),
        ('{"pay": {"amount": 0.0000001}}', "has more than 6 decimal places"),
        ('{"pay": {"amount": 1e-400}}', "has more digits than most readers keep"),
        ('{"pay": {"amount": 9007199254740993}}', "has more digits than most readers keep"),
        ('{"pay": {"amount": 1, "Amount": 2}}', "another spelling"),
        ('{"pay": {"amount": 1}, "pay.amount": 2}', "another spelling"),
        ('{"pay": {"a_mount": 1}}', "another spelling"),
        ('{"pay": {"amount": 1, "amount ": 2}}', "another spelling"),
        ('{"pay": {"amount": 1, "$set": {"amount": 2}}}', "another spelling"),
        ('{"pay": {"amount": {"value": 1}}}', "is not a number"),
        ('{"pay": {"amount": [1]}}', "is not a number"),
        ('[{"pay": {"amount": 1}}]', "is missing"),
        ('{"pay": {"amount": 1}} 2', "not JSON"),
    ],
)
def test_what_is_no_amount_is_refused(body: str, why: str) -> None:
    """Absent, negative, no number, or one that two readers could read as two."""
    told = costs(body)

    assert isinstance(told, str) and why in told
