"""The intent that takes another one back, and why one is not taken back."""

import pytest

from gateway.core.compensation import Unavailable, compensating_intent, not_applied_now, not_available
from gateway.core.decision import Facts
from gateway.core.intent import IntentId, State, intent_digest
from gateway.core.kept_request import KeptRequest
from gateway.core.target import Target, read_target

FIRST = IntentId("0a1digest-of-the-first-one")
FACTS = Facts(resource="box/in", intent=FIRST)
UNDO = KeptRequest("DELETE", "/mails/7?secret=1", (), b"")


def test_what_takes_an_intent_back_is_one_intent() -> None:
    """It is derived from the first one's id alone, so that it takes effect once, whatever is sent."""
    one = compensating_intent(FIRST, "acme", UNDO)
    again = compensating_intent(FIRST, "acme", KeptRequest("POST", "/undo", (), b"x"))
    other = compensating_intent(IntentId("0a1another"), "acme", UNDO)

    assert one.digest == again.digest != other.digest
    assert len(one.digest) == 22
    assert (one.key, one.tenant) == (f"compensates {FIRST}", "acme")


def test_what_takes_an_intent_back_is_no_agents_intent() -> None:
    """Whoever sends the same request under the same key means another one."""
    target = read_target(UNDO.target)
    assert isinstance(target, Target)
    own = compensating_intent(FIRST, "acme", UNDO)

    assert intent_digest("acme", FACTS.resource or "", UNDO.method, None, target, own.key) != own.digest


def test_its_target_is_shown_without_the_query() -> None:
    """As any intent's: the query may hold secrets."""
    assert compensating_intent(FIRST, "acme", UNDO).target == "DELETE /mails/7"


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ("unknown", "the intent is unknown, and only an applied one can be compensated"),
        ("compensated", "the intent is compensated, and only an applied one"),
        ("compensating", "resolve the intent that compensates it"),
    ],
)
def test_only_an_applied_intent_is_taken_back(state: State, says: str) -> None:
    """The refusal says what it is instead, and what to do."""
    refused = not_applied_now(state, FACTS)

    assert (refused.decision.name, refused.facts) == ("wrong-state", FACTS)
    assert says in refused.detail


@pytest.mark.parametrize(
    ("undo", "why"), [(Unavailable("the request has no `query.q`"), "no `query.q`"), (None, "had no compensation")]
)
def test_where_nothing_can_be_sent_the_refusal_says_why(undo: Unavailable | None, why: str) -> None:
    """And where it is taken back instead."""
    refused = not_available(undo, FACTS)

    assert why in refused.detail
    assert refused.detail.endswith("Take it back at the upstream itself.")
