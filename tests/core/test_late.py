"""Which refusals are of late results, and when two of these are the same."""

from dataclasses import replace

import pytest

from gateway.core.decision import (
    HOLDER_MISMATCH,
    INTENT_MISMATCH,
    LEASE_EXPIRED,
    PAUSED,
    STALE_EPOCH,
    TAKEOVER_PENDING,
    TOKEN_INVALID,
    Decision,
    Facts,
    Refused,
)
from gateway.core.late import LateResult, is_late, is_proved
from gateway.core.rule import Authority
from gateway.core.write import ResourceKey
from tests.intending import RULE
from tests.lateness import kept, late
from tests.playbook.given import INTENT

KEY = (b"Idempotency-Key", b"k-1")


@pytest.mark.parametrize(
    ("decision", "facts", "expected"),
    [
        pytest.param(STALE_EPOCH, Facts(highest_epoch=42), True, id="overtaken"),
        pytest.param(HOLDER_MISMATCH, Facts(highest_epoch=41), True, id="its epoch is another's"),
        pytest.param(LEASE_EXPIRED, Facts(highest_epoch=41), True, id="its lease ran out"),
        pytest.param(STALE_EPOCH, Facts(highest_epoch=41), False, id="the second write of a strict epoch"),
        pytest.param(STALE_EPOCH, Facts(highest_epoch=42, intent_state="applied"), False, id="done already"),
        pytest.param(STALE_EPOCH, Facts(highest_epoch=42, intent_state="unknown"), True, id="perhaps done already"),
        pytest.param(TOKEN_INVALID, Facts(), False, id="a secret that nobody was given"),
        pytest.param(TAKEOVER_PENDING, Facts(), False, id="too early"),
        pytest.param(INTENT_MISMATCH, Facts(), False, id="another request under its key"),
        pytest.param(PAUSED, Facts(highest_epoch=42), False, id="stopped"),
    ],
)
def test_late_is_who_lost_his_right(decision: Decision, facts: Facts, expected: bool) -> None:
    """Not who has none, came too early, or has been served."""
    assert is_late(Refused(decision, "d", facts), 41) is expected


def test_the_same_thing_sent_again_is_the_same_late_result() -> None:
    """Whatever the refusal said this time."""
    assert late().digest == late(decision=LEASE_EXPIRED).digest


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(late(ResourceKey("report/8")), id="resource"),
        pytest.param(late(epoch=40), id="epoch"),
        pytest.param(late(principal="ada"), id="principal"),
        pytest.param(late(body=b"{}"), id="body"),
        pytest.param(late(body=None), id="without its body"),
        pytest.param(replace(late(), request=kept(target="/reports/7")), id="target"),
        pytest.param(replace(late(), write=replace(late().write, holder="agent-b")), id="holder"),
        pytest.param(replace(late(), write=replace(late().write, tenant="north")), id="tenant"),
        pytest.param(replace(late(), write=late().write.named(INTENT)), id="its intent's key"),
        pytest.param(replace(late(), request=kept(late().request.body, KEY)), id="a key for the upstream"),
    ],
)
def test_what_differs_is_another_late_result(other: LateResult) -> None:
    """Nobody's takes the place of somebody else's."""
    assert other.digest != late().digest


def test_an_empty_body_is_not_a_missing_one() -> None:
    """Of the second nobody knows what it was."""
    assert late(body=b"").digest != late(body=None).digest


@pytest.mark.parametrize(
    ("authority", "decision", "expected"),
    [
        pytest.param("lease", STALE_EPOCH, False, id="an overtaken lease: its secret is gone"),
        pytest.param("lease", LEASE_EXPIRED, True, id="the newest lease: its secret was compared"),
        pytest.param("lease", HOLDER_MISMATCH, True, id="the newest lease under another name"),
        pytest.param("signed", STALE_EPOCH, True, id="a claim: its signature was verified"),
        pytest.param("header", STALE_EPOCH, False, id="a bare epoch"),
        pytest.param("header", HOLDER_MISMATCH, False, id="a bare epoch of another"),
    ],
)
def test_who_has_proved_that_the_resource_was_his(authority: Authority, decision: Decision, expected: bool) -> None:
    """And who could be anybody."""
    assert is_proved(Refused(decision, "d"), replace(RULE, authority=authority)) is expected
