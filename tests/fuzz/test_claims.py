"""The second reading of signed claims."""

import random

import pytest

from tests.fuzz.claims import drawn_claim, epoch_of

RESOURCE = b"claim/c1"


def drawn(number: int) -> bytes:
    return drawn_claim(random.Random(number), RESOURCE, 7)


def test_most_claims_that_are_drawn_hold_and_the_others_do_not() -> None:
    """The same ones for the same seed."""
    epochs = [epoch_of(drawn(number), RESOURCE) for number in range(300)]

    assert set(epochs) == {b"7", None}
    assert 200 < epochs.count(b"7") < 290
    assert [drawn(number) for number in range(20)] == [drawn(number) for number in range(20)]


@pytest.mark.parametrize("token", [b"", b"7", b"a.b", b"a.b.c", b"e30.e30.AAAA", b"\xff.a.b", b"W10.W10.AA"])
def test_what_is_no_claim_has_no_epoch(token: bytes) -> None:
    """Nor has one of another resource."""
    assert epoch_of(token, RESOURCE) is None
    assert all(epoch_of(drawn(number), b"claim/c2") is None for number in range(20))
