"""stripe.yaml: a refund is of one payment, and a key is one whatever stands around it."""

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import request
from tests.policy.examples.shipped import FORM, shipped, told

KEY = ("Idempotency-Key", "o9")
PAID = "payment_intent=pi_1"


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return shipped(tmp_path_factory.mktemp("stripe"), "stripe")


@pytest.mark.parametrize(
    ("target", "body", "decision"),
    [
        *(("refunds", body, "forwarded") for body in (PAID, f"{PAID}&expand[]=charge", f"{PAID}&amount=5&amount=6")),
        ("refunds", f"{PAID}&charge=ch_2", "no-policy"),
        *(
            ("refunds", body, "ambiguous-target")
            for body in (
                *(f"{PAID}&{more}" for more in ("charge[]=ch_2", "Charge=ch_2", "payment_intent=pi_2")),
                *(f"{PAID}&{more}" for more in ("payment_intent[id]=pi_2", "payment_intent[]=pi_2")),
                *("payment_intent%5B%5D=pi_1", "payment_intent=pi_1%20", "payment_intent=pi_1;charge=ch_2"),
            )
        ),
        *((f"refunds?{more}", PAID, "ambiguous-target") for more in ("charge=ch_2", "payment_intent=pi_2")),
        *((target, PAID, "no-policy") for target in ("refunds/", "refunds.json", "payment_intents/pi_1/confirm.json")),
    ],
)
def test_a_refund_is_of_one_payment(ruleset: RuleSet, target: str, body: str, decision: str) -> None:
    """By one name, in the form alone."""
    assert told(ruleset, "POST", f"/stripe/v1/{target}", FORM, KEY, body=body) == decision


@pytest.mark.parametrize("target", ["/stripe/V1/refunds", "/stripe/v2/core/x", "/stripe/v1//refunds"])
def test_no_other_path_refunds(ruleset: RuleSet, target: str) -> None:
    assert told(ruleset, "POST", target, FORM, KEY, body=PAID) in ("no-policy", "ambiguous-target")


@pytest.mark.parametrize(
    ("key", "resource"), [("o9", "o9"), ('"o9"', "o9"), ("O9", "O9"), ("o9%20", "o9%2520"), ('"o9%20"', "o9%2520")]
)
def test_a_key_names_one_charge_quoted_or_not(ruleset: RuleSet, key: str, resource: str) -> None:
    """And no other, as it is spelled once only."""
    asked = request("POST", "/stripe/v1/payment_intents", FORM, ("Idempotency-Key", key), body="amount=1")

    assert answer(ruleset, asked, NOBODY).resource == f"stripe/new/{resource}"
