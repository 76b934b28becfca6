"""The policies in force, and what is used of their budgets."""

from typing import get_args

from gateway.admin.shapes.schema import COUNT, INSTANT, TEXT, Schema, list_of, nullable, one_of, record
from gateway.core.budget import Per
from gateway.core.rule import Authority, IntentMode, Mode, OnStale, Parks, Risk

_RULE = record(
    {
        "name": TEXT,
        "match": list_of(TEXT),
        "resource": TEXT,
        "authority": one_of(get_args(Authority)),
        "mode": one_of(get_args(Mode)),
        "intent": one_of(get_args(IntentMode)),
        "parks": nullable(one_of(get_args(Parks))),
        "on_stale": one_of(get_args(OnStale)),
        "risk": one_of(get_args(Risk)),
        "compensated": {"type": "boolean"},
        "only": {"type": "boolean"},
        "values": {"type": "object", "additionalProperties": {"anyOf": [TEXT, list_of(TEXT)]}},
    }
)

SHAPES: dict[str, Schema] = {
    "Policy": record(
        {
            "upstream": TEXT,
            "url": TEXT,
            "mount": record({"path": TEXT, "host": nullable(TEXT)}),
            "reads": one_of(("pass", "deny")),
            "read_only": COUNT,
            "closed": COUNT,
            "rules": list_of(_RULE),
        }
    ),
    "Loaded": record({"status": one_of(("loaded",))}),
    "BudgetUsage": record(
        {
            "upstream": TEXT,
            "rule": TEXT,
            "per": one_of(get_args(Per)),
            "by": TEXT,
            "window_s": {"type": "number"},
            "count": COUNT,
            "count_limit": nullable(COUNT),
            "value": nullable(TEXT),
            "total": nullable(TEXT),
            "total_limit": nullable(TEXT),
            "oldest_leaves_at": INSTANT,
        }
    ),
}
