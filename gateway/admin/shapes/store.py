"""The store's servers, and what one of them has lost."""

from gateway.admin.shapes.schema import COUNT, DIGITS, INCOMPLETE, INSTANT, TEXT, Schema, list_of, nullable, record, ref

SHAPES: dict[str, Schema] = {
    "Store": record(
        {"regressed": {"type": "boolean"}, "servers": list_of(ref("StoreServer"))}, {"incomplete": INCOMPLETE}
    ),
    "StoreServer": record(
        {
            "shard": TEXT,
            "away": nullable({**TEXT, "description": "Why it does not answer: nothing else is known of it then."}),
            "incarnation": nullable(TEXT),
            "began_at": nullable(INSTANT),
            "loss": nullable(ref("Loss")),
            "marks": list_of(record({"process": TEXT, "number": COUNT, "made_at": INSTANT})),
        }
    ),
    "Loss": record(
        {
            "since": INSTANT,
            "why": TEXT,
            "by": TEXT,
            "floor": DIGITS,
            "accepted_at": nullable(INSTANT),
            "accepted_by": nullable(TEXT),
            "note": nullable(TEXT),
        }
    ),
    "LossAccepted": record({"became_unknown": COUNT, "store": ref("Store")}),
}
