"""Resources, the writes of one that are in flight, and the steps that writes made."""

from gateway.admin.shapes.schema import COUNT, DIGITS, INCOMPLETE, INSTANT, TEXT, Schema, list_of, nullable, record, ref

_LEASE = record({"expires_at": INSTANT, "ttl_s": {"type": "number"}})
_MEMBERS: dict[str, Schema] = {
    "resource": TEXT,
    "epoch": DIGITS,
    "holder": nullable(TEXT),
    "lease": nullable(_LEASE),
    "revision": DIGITS,
    "in_flight": COUNT,
    "older_in_flight": COUNT,
}
_TICKET = record(
    {
        "id": TEXT,
        "epoch": DIGITS,
        "holder": TEXT,
        "gateway": TEXT,
        "upstream": TEXT,
        "rule": TEXT,
        "intent": nullable(TEXT),
        "attempt": COUNT,
        "deadline": INSTANT,
        "unfinished": {
            "type": "boolean",
            "description": "It ended as unknown, and its server may be at work on it until the deadline.",
        },
    }
)
_TRACE: Schema = {
    "type": "string",
    "pattern": "^[0-9a-f]{32}$",
    "description": "Of the trace (W3C Trace Context) that the request belonged to.",
}
_EVENT = record(
    {
        "at": INSTANT,
        "number": COUNT,
        "intent": nullable(TEXT),
        "from": nullable(TEXT),
        "to": TEXT,
        "resource": nullable(TEXT),
        "ticket": nullable(TEXT),
        "epoch": nullable(DIGITS),
        "holder": nullable(TEXT),
        "upstream": nullable(TEXT),
        "rule": nullable(TEXT),
        "input": nullable(TEXT),
        "reason": TEXT,
        "by": TEXT,
        "principal": nullable(TEXT),
        "trace_id": nullable(_TRACE),
    }
)

SHAPES: dict[str, Schema] = {
    "Resource": record(_MEMBERS),
    "ResourceShown": record(
        {
            **_MEMBERS,
            "pause": nullable(ref("Pause")),
            "tickets": list_of(ref("Ticket")),
            "events": list_of(ref("Event")),
        }
    ),
    "Advanced": record({"resource": TEXT, "epoch": DIGITS}),
    "Reset": record({"resource": TEXT, "forgotten_epoch": DIGITS}),
    "Pruned": record({"looked_at": COUNT, "pruned": COUNT, "next": nullable(TEXT)}, {"incomplete": INCOMPLETE}),
    "Ticket": _TICKET,
    "Event": _EVENT,
}
