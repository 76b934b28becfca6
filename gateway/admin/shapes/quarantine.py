"""What came too late and was kept."""

from gateway.admin.shapes.schema import COUNT, DIGITS, INSTANT, TEXT, Schema, list_of, nullable, record, ref

_MEMBERS: dict[str, Schema] = {
    "id": TEXT,
    "decision": TEXT,
    "resource": TEXT,
    "epoch": DIGITS,
    "highest_epoch": nullable(DIGITS),
    "holder": nullable(TEXT),
    "principal": TEXT,
    "tenant": TEXT,
    "upstream": TEXT,
    "rule": TEXT,
    "intent": nullable(TEXT),
    "method": TEXT,
    "target": TEXT,
    "size": nullable(COUNT),
    "truncated": {"type": "boolean"},
    "received_at": INSTANT,
    "expires_at": INSTANT,
}

SHAPES: dict[str, Schema] = {
    "Quarantined": record(_MEMBERS),
    "QuarantinedShown": record({**_MEMBERS, "request": ref("KeptRequest"), "events": list_of(ref("Event"))}),
}
