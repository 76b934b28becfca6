"""A refusal as a JSON-RPC 2.0 error: the code of each decision, and the problem as the error's data.

MCP 2026-07-28 leaves -32000 to -32019 to implementations. The first five are not used here: clients make up -32000 and
-32001 themselves when a connection ends, -32002 is retired, and drafts of the protocol gave other meanings to the rest.
"""

import json

from gateway.core import problem
from gateway.core.decision import Refused

# What one code stands for is what an agent does next; `data.type` has the decision itself.
_CODES: dict[int, tuple[str, ...]] = {
    -32005: ("no-policy", "no-upstream", "reads-denied", "unauthenticated", "forbidden", "approval-denied"),
    -32006: (
        "resource-unresolved",
        "ambiguous-target",
        "header-malformed",
        "sequence-required",
        "idempotency-key-required",
        "bad-request",
        "body-too-large",
        "unsupported-coding",
    ),
    -32007: ("token-required",),
    -32008: ("token-malformed", "token-invalid"),
    -32009: ("stale-epoch", "holder-mismatch"),
    -32010: ("lease-expired",),
    -32011: ("out-of-sequence", "revision-mismatch"),
    -32012: ("takeover-pending", "resource-busy"),
    # Two of them are no refusals: the call was taken, and repeated later it has an answer.
    -32013: ("intent-in-progress", "queued", "awaiting-approval"),
    -32014: ("intent-mismatch", "answer-not-kept"),
    -32015: ("outcome-unknown",),
    -32016: ("paused",),
    -32017: ("upstream-unreachable", "upstream-timeout", "upstream-broken"),
    -32018: (
        "store-unavailable",
        "store-regressed",
        "keys-unavailable",
        "policies-unavailable",
        "no-room",
        "overloaded",
        "quota-exceeded",
    ),
    -32019: ("internal-error",),
}
_OTHER = -32019
CODES: dict[str, int] = {name: code for code, names in _CODES.items() for name in names}


def code_of(name: str) -> int:
    """The error code of a decision's name; that of `internal-error` for one that no call meets."""
    return CODES.get(name, _OTHER)


def render(refused: Refused, call_id: str) -> bytes:
    """The error as one line of JSON. `call_id` is JSON as the caller spelled it: 7, 7.0 and "7" are three calls."""
    error = {"code": code_of(refused.decision.name), "message": refused.detail, "data": problem.members(refused)}
    members = json.dumps(error, ensure_ascii=False, separators=(", ", ": "))
    return problem.encoded(f'{{"jsonrpc": "2.0", "id": {call_id}, "error": {members}}}')
