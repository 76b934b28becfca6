"""The documents that are sent: an operator's or an approver's word, and why."""

from gateway.admin.shapes.schema import COUNT, NAME, TEXT, Schema, asked, list_of, nullable, one_of

NOTE: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 500,
    "pattern": r"\S",
    "description": "Why: printable characters, for those who read the audit trail.",
}

_DIGEST: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 64,
    "description": "That of the request that was looked at; another one is then not decided about.",
}
_SINCE: Schema = {
    "type": "string",
    "format": "date-time",
    "description": "Its `since` as it was looked at; the same one, kept anew, is then not decided about.",
}
_ATTEMPT: Schema = {
    "type": "integer",
    "minimum": 0,
    "maximum": (1 << 24) - 1,
    "description": "The `attempts` of the intent that was looked at; one that began after it is then not resolved.",
}
_EPOCH: Schema = {
    "anyOf": [{"type": "string", "pattern": "^[0-9]{1,20}$"}, COUNT, {"type": "null"}],
    "description": "At most 2^64-1, and larger than the highest; the next one where none is named.",
}
_LOOKED_AT: Schema = {**_EPOCH, "description": "The highest as it was looked at; another one is not forgotten."}
_FLOOR: Schema = {
    "type": "string",
    "pattern": "^[0-9]{1,20}$",
    "description": "The largest of the losses that were looked at; one that was found since is then not accepted.",
}
_ALL: Schema = {"const": True, "description": "All writes there are."}

NOTHING = asked({})
NOTED = asked({"note": NOTE})
RESET = asked({"note": NOTE}, {"epoch": _LOOKED_AT})
ACCEPTED = asked({"note": NOTE}, {"floor": _FLOOR})
APPROVED = asked({"note": NOTE, "digest": _DIGEST}, {"since": _SINCE})
DENIED = asked({"note": NOTE}, {"digest": _DIGEST, "since": _SINCE})
RETRIED = DENIED
RESOLVED = asked({"outcome": one_of(("applied", "not_applied")), "note": NOTE}, {"attempt": _ATTEMPT})
PRUNED = asked(
    {},
    {
        "prefix": {**TEXT, "description": "How the resources' names begin; all where there is none."},
        "cursor": nullable({**TEXT, "description": "Where the call begins: `next` of the one before."}),
        "dry_run": {"type": "boolean", "description": "Only count: nothing goes."},
    },
)
ADVANCED = asked({}, {"epoch": _EPOCH})
EXPLAINED = asked(
    {
        "method": {"type": "string", "minLength": 1, "maxLength": 32, "pattern": r"^[\x00-\x7f]*$"},
        "target": {"type": "string", "pattern": "^/", "description": "The path that agents use, with its query."},
    },
    {
        "headers": list_of({"type": "array", "prefixItems": [NAME, TEXT], "minItems": 2, "maxItems": 2}),
        "body": nullable({**TEXT, "description": "JSON, where no header says otherwise."}),
        "principal": nullable({**TEXT, "description": "Who asks; somebody who may write everything if none is named."}),
    },
)
PAUSED: Schema = {
    **asked(
        {"reason": NOTE},
        {"upstream": NAME, "rule": NAME, "resource": NAME, "tenant": NAME, "holder": NAME, "all": _ALL},
    ),
    "description": "One selector; `upstream` and `rule` together name one rule.",
    "oneOf": [
        *({"required": [name]} for name in ("resource", "tenant", "holder", "all")),
        {"anyOf": [{"required": ["upstream"]}, {"required": ["rule"]}]},
    ],
}
