"""How an event is named."""

from dataclasses import replace

import pytest

from gateway.core.rule import NotifyEvent
from tests.core.test_webhook import TOLD


@pytest.mark.parametrize(
    ("event", "incident", "type"),
    [
        ("awaiting_approval", "", "intent.awaiting_approval"),
        ("unknown", "", "intent.unknown"),
        ("incident", "duplicate-effect", "incident.duplicate_effect"),
        ("incident", "late-write", "incident.late_write"),
    ],
    ids=["awaiting_approval", "unknown", "duplicate-effect", "late-write"],
)
def test_a_type_has_the_form_of_the_specification(event: NotifyEvent, incident: str, type: str) -> None:
    """Full-stop delimited, of letters, digits and underscores."""
    assert replace(TOLD, event=event, incident=incident).type == type
