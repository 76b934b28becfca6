"""Problems as agents read them."""

import json

import pytest

from gateway.core.decision import (
    AMBIGUOUS_TARGET,
    AWAITING_APPROVAL,
    DECISIONS,
    LEASE_HELD,
    OF_BODIES,
    OUTCOME_UNKNOWN,
    QUEUED,
    REVISION_MISMATCH,
    STALE_EPOCH,
    STORE_UNAVAILABLE,
    TOKEN_REQUIRED,
    Decision,
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
        (Refused(AMBIGUOUS_TARGET, "d", OF_BODIES), {"see": "policies/READING.md#a-body"}),
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
        "read in two ways",
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
def test_every_problem_can_be_rendered(decision: Decision) -> None:
    """Whatever a resource or a holder is called, the JSON is valid UTF-8 and says the same."""
    refused = Refused(decision, 'quote " and é', Facts(resource="report/é\u2028"))

    assert json.loads(render(refused).decode("utf-8")).items() >= members(refused).items()


def test_what_is_no_text_is_rendered_as_json_spells_it() -> None:
    """A byte that is no UTF-8 ends in no fault of the gateway."""
    refused = Refused(TOKEN_REQUIRED, "d", Facts(resource="report/\udcff"))

    assert json.loads(render(refused).decode("utf-8"))["resource"] == "report/\udcff"


@pytest.mark.parametrize("decision", [each for each in DECISIONS.values() if each.action], ids=lambda each: each.name)
def test_a_refusal_is_an_error_to_clients_that_look_at_no_status(decision: Decision) -> None:
    """Those of some APIs take JSON without `error` for what they asked for. What was taken (202) is no error."""
    told = json.loads(render(Refused(decision, "Not forwarded: d.")))

    named = {"type": "fencegate", "code": decision.name, "message": "Not forwarded: d."}
    expected = (named, "Not forwarded: d.") if decision not in (QUEUED, AWAITING_APPROVAL) else (None, None)
    assert (told.get("error"), told.get("message")) == expected


def test_a_refusal_of_graphql_has_its_errors() -> None:
    """Where clients of GraphQL look for what went wrong, and nobody else."""
    refused = Refused(STALE_EPOCH, "Not forwarded: d.")

    errors = [{"message": "Not forwarded: d.", "extensions": {"code": "stale-epoch"}}]
    assert json.loads(render(refused, is_graphql=True)) == json.loads(render(refused)) | {"errors": errors}
    assert "errors" not in json.loads(render(refused))
    assert "errors" not in json.loads(render(Refused(QUEUED, "d"), is_graphql=True))


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (1_700_000_000_999, "2023-11-14T22:13:20.999Z")],
)
def test_an_instant_is_rfc_3339_to_the_millisecond(ms: int, text: str) -> None:
    """Always UTC, always three digits."""
    assert instant(ms) == text
