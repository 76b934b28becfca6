"""Whether the gateway lives, and whether it can serve."""

from gateway.admin.shapes.schema import TEXT, Schema, list_of, one_of, record

SHAPES: dict[str, Schema] = {
    "Up": record({"status": one_of(("up",))}),
    "Ready": record({"status": one_of(("ready",))}),
    "NotReady": record({"status": one_of(("not ready",)), "reasons": list_of(TEXT)}),
}
