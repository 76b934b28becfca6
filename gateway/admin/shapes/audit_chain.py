"""The audit trail's checkpoint, and what is wrong with the trail."""

from gateway.admin.shapes.schema import COUNT, INSTANT, TEXT, Schema, asked, list_of, nullable, one_of, record, ref

_HEAD: Schema = {
    "type": "string",
    "pattern": "^[0-9a-f]{3} [0-9]{1,15} [0-9a-f]{64}$",
    "description": "A shard, the number of its newest event, and the digest of its trail up to that.",
}
_DIGEST: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of the heads, a line each."}

VERIFIED = asked({}, {"cursor": nullable(TEXT), "heads": nullable({**list_of(_HEAD), "maxItems": 512})})

SHAPES: dict[str, Schema] = {
    "Checkpoint": record({"made_at": INSTANT, "heads": list_of(_HEAD), "digest": _DIGEST}),
    "Verified": record({"events": COUNT, "findings": list_of(ref("TrailFinding")), "next": nullable(TEXT)}),
    "TrailFinding": record(
        {
            "shard": TEXT,
            "kind": one_of(("changed", "missing", "strange", "gone")),
            "first": COUNT,
            "last": COUNT,
            "what": TEXT,
        }
    ),
}
