"""What is concluded from the evidence."""

import pytest

from gateway.core.outcome import Evidence, NoReply, NotSent, Outcome, Replied, judge
from gateway.core.rule import DEFAULT_OUTCOMES, Outcomes

DECLARED = Outcomes(not_applied=frozenset((409, 500)), unknown=frozenset((202, 422)))


@pytest.mark.parametrize(
    ("evidence", "outcome"),
    [
        (NotSent("unreachable", ""), "not_applied"),
        (NotSent("late", ""), "not_applied"),
        (NotSent("caller-broke", ""), "not_applied"),
        (NoReply("timeout", ""), "unknown"),
        (NoReply("closed", ""), "unknown"),
        (NoReply("malformed", ""), "unknown"),
        (NoReply("caller-broke", ""), "unknown"),
        (Replied(200, complete=True), "applied"),
        (Replied(204, complete=True), "applied"),
        (Replied(303, complete=True), "applied"),
        (Replied(400, complete=True), "not_applied"),
        (Replied(412, complete=True), "not_applied"),
        (Replied(429, complete=True), "not_applied"),
        (Replied(498, complete=True), "not_applied"),
        (Replied(406, complete=True), "unknown"),
        (Replied(408, complete=True), "unknown"),
        (Replied(499, complete=True), "unknown"),
        (Replied(500, complete=True), "unknown"),
        (Replied(503, complete=True), "unknown"),
        (Replied(599, complete=True), "unknown"),
        (Replied(600, complete=True), "unknown"),
        (Replied(999, complete=True), "unknown"),
        (Replied(99, complete=True), "unknown"),
        (Replied(200, complete=False), "unknown"),
        (Replied(404, complete=False), "unknown"),
        (Replied(500, complete=False), "unknown"),
    ],
    ids=str,
)
def test_by_default_only_bytes_that_never_left_and_a_whole_4xx_prove_a_no(evidence: Evidence, outcome: Outcome) -> None:
    """2xx and 3xx are applied; 406, 408, 499, 5xx, no answer and half an answer prove nothing."""
    assert judge(DEFAULT_OUTCOMES, evidence) == outcome


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (409, "not_applied"),
        (500, "not_applied"),
        (202, "unknown"),
        (422, "unknown"),
        (404, "applied"),
        (200, "applied"),
    ],
)
def test_a_policy_says_what_its_upstreams_answers_prove(status: int, outcome: Outcome) -> None:
    """What is in neither list is applied."""
    assert judge(DECLARED, Replied(status, complete=True)) == outcome


def test_no_declaration_makes_half_an_answer_a_proof() -> None:
    """The status alone is not the answer."""
    assert judge(DECLARED, Replied(409, complete=False)) == "unknown"
