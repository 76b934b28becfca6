"""What a rule set says of one request, and why."""

from dataclasses import fields

from gateway.admin.shapes.schema import TEXT, Schema, list_of, nullable, record
from gateway.policy.review.answer import Answer

_ANSWER = record(
    {field.name: TEXT if field.name == "decision" else nullable(TEXT) for field in fields(Answer)},
)
_CONSIDERED = record({"entry": TEXT, "place": TEXT, "match": list_of(TEXT), "taken": {"type": "boolean"}, "why": TEXT})

SHAPES: dict[str, Schema] = {
    "Explanation": record(
        {
            "method": TEXT,
            "target": TEXT,
            "mount": nullable(TEXT),
            "answer": _ANSWER,
            "considered": list_of(_CONSIDERED),
            "bodies": nullable(list_of(TEXT)),
        }
    ),
}
