"""Problems (RFC 9457): what the gateway says where it did not do what it was asked for."""

from typing import get_args

from gateway.admin.shapes.schema import COUNT, DIGITS, INSTANT, TEXT, Schema, list_of, one_of, record
from gateway.core.decision import Action

_INTENT = record({"id": TEXT}, {"state": TEXT})
_FACTS = {
    "resource": TEXT,
    "epoch": DIGITS,
    "highest_epoch": DIGITS,
    "revision": DIGITS,
    "holder": TEXT,
    "expires_at": INSTANT,
    "intent": _INTENT,
    "quarantine": TEXT,
    "retry_after_s": COUNT,
    "see": TEXT,
}
_FINDING = record(
    {"file": TEXT, "line": COUNT, "column": COUNT, "message": TEXT, "severity": one_of(("error", "warning"))}
)

SHAPES: dict[str, Schema] = {
    "Problem": record(
        {
            "type": {"type": "string", "format": "uri"},
            "title": TEXT,
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string", "description": "First what happened, then what to do."},
            "action": one_of(get_args(Action)),
        },
        {**_FACTS, "findings": list_of(_FINDING)},
    )
}
