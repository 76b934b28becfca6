"""Pauses in force."""

from gateway.admin.shapes.schema import INSTANT, TEXT, Schema, record

_SELECTORS: dict[str, Schema] = {
    "upstream": TEXT,
    "rule": TEXT,
    "resource": TEXT,
    "tenant": TEXT,
    "holder": TEXT,
    "all": {"const": True},
}

SHAPES: dict[str, Schema] = {
    "Pause": record({"id": TEXT, "reason": TEXT, "by": TEXT, "created_at": INSTANT}, _SELECTORS)
}
