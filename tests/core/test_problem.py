"""Problems as agents read them."""

import json

import pytest

from gateway.core.decision import (
    DECISIONS,
    LEASE_HELD,
    OUTCOME_UNKNOWN,
    REVISION_MISMATCH,
    STALE_EPOCH,
    STORE_UNAVAILABLE,
    TOKEN_REQUIRED,
    Facts,
    Refused,
)
from gateway.core.problem import instant, members, render

HUGE = (1 << 64) - 1


@pytest.mark.parametrize(
    ("refused", "facts"),
    [
        (Refused(TOKEN_REQUIRED, "d"), {}),
        (
            Refused(STALE_EPOCH, "d", Facts("r", epoch=41, highest_epoch=HUGE, holder="b")),
            {"resource": "r", "epoch": "41", "highest_epoch": str(HUGE), "holder": "b"},
        ),
        (Refused(STALE_EPOCH, "d", Facts("r", epoch=0)), {"resource": "r", "epoch": "0"}),
        (Refused(REVISION_MISMATCH, "d", Facts(revision=0)), {"revision": "0"}),
        (
            Refused(LEASE_HELD, "d", Facts(holder="a", expires_at_ms=1_700_000_000_042, retry_after_s=7)),
            {"holder": "a", "expires_at": "2023-11-14T22:13:20.042Z", "retry_after_s": 7},
        ),
        (Refused(OUTCOME_UNKNOWN, "d", Facts(intent="i1")), {"intent": {"id": "i1"}}),
        (
            Refused(STALE_EPOCH, "d", Facts(intent="i1", intent_state="applied")),
            {"intent": {"id": "i1", "state": "applied"}},
        ),
        (Refused(STALE_EPOCH, "d", Facts(quarantine="3ffid")), {"quarantine": "3ffid"}),
        (Refused(STORE_UNAVAILABLE, "d", Facts(retry_after_s=0)), {"retry_after_s": 0}),
    ],
    ids=[
        "nothing",
        "stale",
        "epoch zero",
        "revision zero",
        "lease held",
        "intent",
        "intent and its state",
        "kept",
        "retry at once",
    ],
)
def test_a_problem_names_the_facts_that_apply(refused: Refused, facts: dict[str, object]) -> None:
    """Epochs and revisions are strings of digits (they pass 2^53); what is not known is not there."""
    decision = refused.decision

    assert (
        members(refused)
        == {
            "type": f"urn:fencegate:{decision.name}",
            "title": decision.title,
            "status": decision.status,
            "detail": "d",
            "action": decision.action,
        }
        | facts
    )


@pytest.mark.parametrize("decision", [each for each in DECISIONS.values() if each.action], ids=lambda each: each.name)
def test_every_problem_can_be_rendered(decision: object) -> None:
    """Whatever a resource or a holder is called, the JSON is valid UTF-8 and says the same."""
    refused = Refused(decision, 'quote " and é', Facts(resource="report/é\u2028"))

    assert json.loads(render(refused).decode("utf-8")) == members(refused)


def test_what_is_no_text_is_rendered_as_json_spells_it() -> None:
    """A byte that is no UTF-8 ends in no fault of the gateway."""
    refused = Refused(TOKEN_REQUIRED, "d", Facts(resource="report/\udcff"))

    assert json.loads(render(refused).decode("utf-8")) == members(refused)


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (1_700_000_000_999, "2023-11-14T22:13:20.999Z")],
)
def test_an_instant_is_rfc_3339_to_the_millisecond(ms: int, text: str) -> None:
    """Always UTC, always three digits."""
    assert instant(ms) == text
