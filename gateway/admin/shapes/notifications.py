"""Notifications that their receivers do not have."""

from typing import get_args

from gateway.admin.shapes.schema import COUNT, DIGITS, INSTANT, TEXT, Schema, nullable, one_of, record
from gateway.store.keys import LetterState

SHAPES: dict[str, Schema] = {
    "Notification": record(
        {
            "id": TEXT,
            "type": TEXT,
            "state": one_of(get_args(LetterState)),
            "occurred_at": INSTANT,
            "intent": TEXT,
            "intent_state": TEXT,
            "upstream": TEXT,
            "rule": TEXT,
            "resource": TEXT,
            "epoch": DIGITS,
            "holder": nullable(TEXT),
            "reason": TEXT,
            "attempts": COUNT,
            "failure": nullable(TEXT),
            "next_attempt_at": nullable(INSTANT),
            "died_at": nullable(INSTANT),
        }
    )
}
