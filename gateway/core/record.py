"""What the store knows of one intent, as agents and operators are shown it."""

import base64
from dataclasses import dataclass, field

from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId, KeptAnswer, ResolvedBy, State
from gateway.core.parking import Parking
from gateway.core.problem import instant
from gateway.core.write import ResourceKey

# States that nobody but the agent can do anything about, and of which it learns only here.
_TOLD_WHY: frozenset[State] = frozenset({"denied", "expired", "superseded", "failed"})


@dataclass(frozen=True, slots=True)
class IntentRecord:
    """What the store knows of an intent. Instants in milliseconds of the store's clock since 1970.

    `key` is None for a write without one that ended unknown: its id is the gateway's own. `attempts` counts how often
    it was admitted. `answer` is there only for an applied one whose answer was not too large, and for one that was sent
    later and refused; `evidence` is what a query answered, and `evidence_is_own` whether that asked for this very
    intent: only then may its agents see it. `parking` is there where it was not sent while its caller
    waited; `principal` is who called, empty for anybody. `fingerprint` is what repeats are compared by. `compensates`:
    the intent that it takes back. `no_after_s`: from its end as unknown on, how long no query's no counts, by the rule
    that it was sent by; zero where nobody asks. `origin`: the digest of where that was, empty where nobody knows.
    """

    id: IntentId
    state: State
    upstream: str
    rule: str
    resource: ResourceKey
    epoch: Epoch
    holder: str
    key: str | None
    tenant: str
    target: str
    attempts: int
    created_at_ms: int
    updated_at_ms: int
    reason: str
    resolved_by: ResolvedBy | None = None
    answer: KeptAnswer | None = None
    evidence: bytes = field(default=b"", repr=False)
    principal: str = ""
    parking: Parking | None = None
    fingerprint: bytes = field(default=b"", repr=False)
    compensates: IntentId | None = None
    evidence_is_own: bool = False
    no_after_s: float = 0.0
    origin: str = ""

    @property
    def keeping(self) -> str:
        """What names the request that is kept under its key (`Parking.keeping`); empty where none was."""
        return "" if self.parking is None else self.parking.keeping


def shown(record: IntentRecord) -> dict[str, object]:
    """The record as JSON members for agents. A body that is not UTF-8 is `body_base64`."""
    members: dict[str, object] = {
        "id": record.id,
        "state": record.state,
        "rule": record.rule,
        "resource": record.resource,
        "epoch": str(record.epoch),
        "attempts": record.attempts,
        "created_at": instant(record.created_at_ms),
        "updated_at": instant(record.updated_at_ms),
    }
    if record.state in _TOLD_WHY:
        members["reason"] = record.reason
    if record.parking is not None and record.parking.approval is not None and record.state == "awaiting_approval":
        members["expires_at"] = instant(record.parking.approval.expires_at_ms)
    if record.resolved_by is not None:
        members["resolved_by"] = record.resolved_by
    if record.answer is not None:
        members["response"] = shown_answer(record.answer)
    return members


def shown_answer(answer: KeptAnswer) -> dict[str, object]:
    """An answer as JSON members."""
    members: dict[str, object] = {
        "status": answer.status,
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in answer.headers],
    }
    try:
        members["body"] = answer.body.decode("utf-8")
    except UnicodeDecodeError:
        members["body_base64"] = base64.b64encode(answer.body).decode("ascii")
    return members
