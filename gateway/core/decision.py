"""What the gateway says about a request: the table of all decisions, and a refusal as a value.

A detail's first sentence says whether the write happened, its second what to do: models act on it.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

Action = Literal["stop", "retry", "reacquire", "fix-request", "wait"]


@dataclass(frozen=True, slots=True)
class Decision:
    """One word of `Fencing-Decision`. `status` and `action` are None where the upstream's answer is passed on."""

    name: str
    status: int | None
    action: Action | None
    title: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What a problem names besides its decision. Each is there only where it applies."""

    resource: str | None = None
    epoch: int | None = None
    highest_epoch: int | None = None
    revision: int | None = None
    holder: str | None = None
    expires_at_ms: int | None = None
    intent: str | None = None
    intent_state: str | None = None
    quarantine: str | None = None
    retry_after_s: int | None = None
    trace_id: str | None = None
    see: str | None = None
    """The part of the policies' pages that tells of it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that the gateway answers itself: the decision, what to say of it, and the facts.

    `why` is for the log only: addresses and a store's or a system's own words are not the agent's to see.
    """

    decision: Decision
    detail: str
    facts: Facts = field(default_factory=Facts)
    why: str | None = None


DECISIONS: dict[str, Decision] = {}


def _decision(name: str, status: int | None, action: Action | None, title: str) -> Decision:
    return DECISIONS.setdefault(name, Decision(name, status, action, title))


PASSED = _decision("passed", None, None, "A read was passed on")
FORWARDED = _decision("forwarded", None, None, "An admitted write was forwarded")
OBSERVED = _decision("observed", None, None, "A write was forwarded that would have been refused")
REPLAYED = _decision("replayed", None, None, "The intent was applied before")
QUEUED = _decision("queued", 202, "wait", "The write was taken for delivery")
AWAITING_APPROVAL = _decision("awaiting-approval", 202, "wait", "The write waits for an approval")
GRANTED = _decision("granted", 201, None, "The lease was granted")
REGISTERED = _decision("registered", 200, None, "The epoch was registered")
RENEWED = _decision("renewed", 200, None, "The lease was renewed")
RELEASED = _decision("released", 204, None, "The lease was released")
SHOWN = _decision("shown", 200, None, "The record was shown")

NO_UPSTREAM = _decision("no-upstream", 404, "stop", "No upstream is mounted at this path")
NO_POLICY = _decision("no-policy", 403, "stop", "No rule allows this write")
READS_DENIED = _decision("reads-denied", 403, "stop", "Reads are denied here")
RESOURCE_UNRESOLVED = _decision("resource-unresolved", 400, "fix-request", "The resource cannot be told")
AMBIGUOUS_TARGET = _decision("ambiguous-target", 400, "fix-request", "The request can be read in two ways")
BAD_REQUEST = _decision("bad-request", 400, "fix-request", "The request is not valid HTTP")
HEADER_MALFORMED = _decision("header-malformed", 400, "fix-request", "A control header is malformed")
TOKEN_REQUIRED = _decision("token-required", 428, "reacquire", "A fencing token is required")
TOKEN_MALFORMED = _decision("token-malformed", 400, "fix-request", "The fencing token is malformed")
TOKEN_INVALID = _decision("token-invalid", 401, "reacquire", "The fencing token is not valid")
KEYS_UNAVAILABLE = _decision("keys-unavailable", 503, "retry", "The keys of signed claims cannot be had")
SEQUENCE_REQUIRED = _decision("sequence-required", 400, "fix-request", "A sequence number is required")
STALE_EPOCH = _decision("stale-epoch", 412, "stop", "A newer epoch rules")
HOLDER_MISMATCH = _decision("holder-mismatch", 412, "stop", "The epoch belongs to another holder")
LEASE_EXPIRED = _decision("lease-expired", 412, "reacquire", "The lease has expired")
OUT_OF_SEQUENCE = _decision("out-of-sequence", 412, "stop", "The sequence number repeats or skips")
REVISION_MISMATCH = _decision("revision-mismatch", 412, "fix-request", "The resource has another revision")
TAKEOVER_PENDING = _decision("takeover-pending", 503, "retry", "Older writes are still in flight")
RESOURCE_BUSY = _decision("resource-busy", 503, "retry", "Another write is in flight")
IDEMPOTENCY_KEY_REQUIRED = _decision("idempotency-key-required", 400, "fix-request", "An idempotency key is required")
INTENT_IN_PROGRESS = _decision("intent-in-progress", 409, "retry", "The same intent is in flight")
INTENT_MISMATCH = _decision("intent-mismatch", 422, "stop", "The key belongs to another request")
ANSWER_NOT_KEPT = _decision("answer-not-kept", 410, "stop", "The intent was applied; its answer was not kept")
# The same word for what was sent later, and refused.
REFUSAL_NOT_KEPT = replace(ANSWER_NOT_KEPT, action="fix-request", title="The upstream refused; its answer was not kept")
OUTCOME_UNKNOWN = _decision("outcome-unknown", 504, "wait", "Nobody knows whether the write happened")
# The same word for whoever asks again: 504 says that a gateway waited in vain, and this one did not.
STILL_UNKNOWN = replace(OUTCOME_UNKNOWN, status=409)
APPROVAL_DENIED = _decision("approval-denied", 403, "stop", "The write was not approved")
PAUSED = _decision("paused", 503, "wait", "An operator or an incident has stopped this")
QUOTA_EXCEEDED = _decision("quota-exceeded", 429, "retry", "The principal's quota is used up")
# The same words for what a rule's budgets say.
BUDGET_EXCEEDED = replace(QUOTA_EXCEEDED, title="The rule's budget is used up")
KEYS_SPENT = replace(QUOTA_EXCEEDED, title="Too many keys of this resource's grants are remembered")
BEYOND_ANY_BUDGET = replace(QUOTA_EXCEEDED, action="stop", title="The rule's budget is smaller than this")
AMOUNT_UNRESOLVED = replace(RESOURCE_UNRESOLVED, title="The amount cannot be told")
BODY_TOO_LARGE = _decision("body-too-large", 413, "fix-request", "The body is too large")
UNSUPPORTED_CODING = _decision("unsupported-coding", 415, "fix-request", "The body's coding cannot be read")
UPSTREAM_UNREACHABLE = _decision("upstream-unreachable", 502, "retry", "The upstream was not reached")
UPSTREAM_TIMEOUT = _decision("upstream-timeout", 504, "retry", "The upstream did not answer in time")
UPSTREAM_BROKEN = _decision("upstream-broken", 502, "retry", "The upstream broke off its answer")
NO_ROOM = _decision("no-room", 503, "retry", "The gateway has no room for the body")
OVERLOADED = _decision("overloaded", 503, "retry", "Too many requests wait")
STORE_UNAVAILABLE = _decision("store-unavailable", 503, "retry", "The store is away")
STORE_REGRESSED = _decision("store-regressed", 503, "wait", "The store has lost what it had acknowledged")
POLICIES_UNAVAILABLE = _decision("policies-unavailable", 503, "retry", "Nobody can tell the policies in force")
NO_SUCH_RESOURCE = _decision("no-such-resource", 404, "fix-request", "No lease can be had for this resource")
LEASE_HELD = _decision("lease-held", 409, "wait", "Another holder has the lease")
LEASE_LOST = _decision("lease-lost", 412, "reacquire", "The lease is lost")
# The same words for a grant whose key was granted a lease before: that one has ended; or it came a moment ago.
GRANT_ENDED = replace(LEASE_LOST, status=409, title="The lease of this key has ended")
GRANT_IN_PROGRESS = replace(LEASE_HELD, action="retry", title="The same call is granted just now")
NO_LEASE = _decision("no-lease", 404, "reacquire", "The resource has no live lease")
NO_SUCH_INTENT = _decision("no-such-intent", 404, "stop", "Nothing is known of this intent")
NOT_IN_QUARANTINE = _decision("not-in-quarantine", 404, "fix-request", "This is not in quarantine")
NO_SUCH_PAUSE = _decision("no-such-pause", 404, "fix-request", "There is no such pause")
NO_SUCH_NOTIFICATION = _decision("no-such-notification", 404, "stop", "There is no such notification")
WRONG_STATE = _decision("wrong-state", 409, "stop", "The intent's state does not allow this")
# The same word for a store: it has lost nothing, or something else since.
WRONG_STORE_STATE = replace(WRONG_STATE, title="The store's state does not allow this")
EPOCHS_EXHAUSTED = _decision("epochs-exhausted", 409, "stop", "No larger epoch exists")
UNAUTHENTICATED = _decision("unauthenticated", 401, "stop", "The caller is not known")
POLICIES_INVALID = _decision("policies-invalid", 422, "fix-request", "The policy files are not valid")
FORBIDDEN = _decision("forbidden", 403, "stop", "The caller lacks the right")
NOT_FOUND = _decision("not-found", 404, "fix-request", "There is no such call")
METHOD_NOT_ALLOWED = _decision("method-not-allowed", 405, "fix-request", "The call takes another method")
INTERNAL = _decision("internal-error", 500, "retry", "The gateway failed")

# Where the pages tell what of a request is read in several ways, and by whom.
OF_PATHS = Facts(see="policies/READING.md#a-path")
OF_NAMES = Facts(see="policies/READING.md#names-in-a-query-a-form-a-cookie-or-a-header")
OF_BODIES = Facts(see="policies/READING.md#a-body")
OF_ANYTHING = Facts(see="policies/READING.md#names-and-values-anywhere")
OF_VALUES = Facts(see="policies/READING.md#values-that-are-alike")
OF_IDS = Facts(see="policies/README.md#what-ids-look-like")
OF_GRAPHQL = Facts(see="policies/README.md#a-rule")
OF_MCP = Facts(see="policies/README.md#mcp-and-json-rpc")
OF_LISTS = Facts(see="policies/README.md#closing")
OF_MOUNTS = Facts(see="policies/README.md#the-mount")

# What the fence itself refuses; a request that was malformed or matched no rule never came before it.
FENCE_REJECTIONS = (
    TOKEN_INVALID,
    STALE_EPOCH,
    HOLDER_MISMATCH,
    LEASE_EXPIRED,
    OUT_OF_SEQUENCE,
    REVISION_MISMATCH,
    TAKEOVER_PENDING,
    RESOURCE_BUSY,
)
