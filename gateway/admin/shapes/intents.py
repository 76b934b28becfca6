"""Intents: as a list has them, and one with all that is known of it."""

from typing import get_args

from gateway.admin.shapes.schema import (
    ANYTHING,
    BASE64,
    COUNT,
    DIGITS,
    INSTANT,
    TEXT,
    Schema,
    list_of,
    nullable,
    one_of,
    record,
    ref,
)
from gateway.core.intent import ResolvedBy, State
from gateway.core.parking import Verdict
from gateway.core.rule import Risk

_HEADERS = list_of({"type": "array", "items": TEXT, "minItems": 2, "maxItems": 2})
_ANSWER = record({"status": COUNT, "headers": _HEADERS}, {"body": TEXT, "body_base64": BASE64})
_REQUEST = record(
    {
        "method": TEXT,
        "target": TEXT,
        "headers": _HEADERS,
        "body": nullable(TEXT),
        "body_base64": nullable(BASE64),
    }
)
_COMPENSATION: Schema = {"oneOf": [record({"request": ref("KeptRequest")}), record({"unavailable": TEXT})]}
_APPROVAL = record({"verdict": one_of(get_args(Verdict)), "expires_at": INSTANT, "by": nullable(TEXT)})

_MEMBERS: dict[str, Schema] = {
    "id": TEXT,
    "key": nullable(TEXT),
    "state": one_of(get_args(State)),
    "upstream": TEXT,
    "rule": TEXT,
    "resource": TEXT,
    "epoch": DIGITS,
    "holder": nullable(TEXT),
    "created_at": nullable(INSTANT),
    "updated_at": nullable(INSTANT),
    "reason": TEXT,
    "attempts": COUNT,
}
# Of one that was parked; and until when a write in flight is awaited.
_BESIDE: dict[str, Schema] = {
    "target": nullable(TEXT),
    "principal": TEXT,
    "risk": one_of(get_args(Risk)),
    "digest": TEXT,
    "since": INSTANT,
    "failures": COUNT,
    "approval": nullable(_APPROVAL),
    "overtaken": nullable({"type": "boolean"}),
    "deadline": INSTANT,
}
# Of one that has a record: a write without a key has none while it is in flight.
_RECORDED: dict[str, Schema] = {
    "tenant": nullable(TEXT),
    "resolved_by": nullable(one_of(get_args(ResolvedBy))),
    "response": nullable(_ANSWER),
    "request": nullable(ref("KeptRequest")),
    "held_by": nullable(record({"id": TEXT, "stops": TEXT})),
    "next_delivery_at": nullable(INSTANT),
    "compensation": _COMPENSATION,
    "written_since": nullable({"type": "boolean"}),
    "compensated_by": nullable(TEXT),
    "compensates": TEXT,
}

SHAPES: dict[str, Schema] = {
    "Intent": record(_MEMBERS, _BESIDE),
    "IntentShown": record(
        {**_MEMBERS, "events": list_of(ref("Event")), "evidence": ANYTHING}, {**_BESIDE, **_RECORDED}
    ),
    "KeptRequest": _REQUEST,
}
