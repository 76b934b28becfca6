"""What a script refused, in two sentences that a model can act on."""

from dataclasses import dataclass
from math import ceil
from typing import Literal

from gateway.core.decision import (
    APPROVAL_DENIED,
    EPOCHS_EXHAUSTED,
    GRANT_ENDED,
    GRANT_IN_PROGRESS,
    HOLDER_MISMATCH,
    INTENT_IN_PROGRESS,
    INTENT_MISMATCH,
    KEYS_SPENT,
    LEASE_EXPIRED,
    LEASE_HELD,
    LEASE_LOST,
    NO_ROOM,
    OUT_OF_SEQUENCE,
    PAUSED,
    REVISION_MISMATCH,
    STALE_EPOCH,
    STILL_UNKNOWN,
    STORE_REGRESSED,
    TOKEN_INVALID,
    Decision,
    Facts,
    Refused,
)
from gateway.core.problem import instant
from gateway.core.write import ResourceKey
from gateway.store.answer import Answer, text, unknown_word

# A write in flight usually ends within a second; whoever is asked about an unknown one, rarely within ten.
_ASK_AGAIN_S = {"intent-in-progress": 1, "outcome-unknown": 10, "no-room": 10, "store-regressed": 10}
# The first words of a refusal's detail: what did not happen.
Undone = Literal[
    "Not forwarded", "Not taken", "Not granted", "Not renewed", "Not released", "Not registered", "Not advanced"
]

# The decision, why nothing was done, and what to do.
_Sentences = tuple[Decision, str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call was about, as far as its refusal names it. `epoch` is None where the call asks for a new one."""

    undone: Undone
    resource: ResourceKey
    epoch: int | None
    sequence: int | None = None
    if_revision: int | None = None
    has_lease: bool = False
    """Whether its token is a lease's."""
    is_keyed: bool = False


@dataclass(frozen=True, slots=True)
class _Record:
    """What a refusal tells of the fence record; None where the record does not have it."""

    highest: int | None
    holder: str | None
    expires_at_ms: int | None
    revision: int
    intent: str | None
    intent_state: str | None


def refusal(answer: Answer, asked: Asked) -> Refused:
    """Two sentences that a model can act on: what did not happen and why, and what to do."""
    record = _record(answer)
    decision, why, what_to_do = _sentences(answer, asked, record)
    return Refused(decision, f"{asked.undone}: {why}. {what_to_do}", _facts(decision, answer, asked, record))


def _record(answer: Answer) -> _Record:
    # What may stand behind them is no news for whoever is refused.
    if len(answer.rest) not in (6, 7):
        raise unknown_word(answer)
    highest, holder, expires, revision, intent, state = map(text, answer.rest[:6])
    return _Record(
        int(highest) if highest else None,
        holder or None,
        int(expires) if expires else None,
        int(revision),
        intent or None,
        state or None,
    )


def _sentences(answer: Answer, asked: Asked, record: _Record) -> _Sentences:
    for told in (_of_the_fence, _of_the_intent, _of_the_lease):
        found = told(answer, asked, record)
        if found is not None:
            return found
    match answer.word:
        case "store-regressed" | "began-anew":
            return STORE_REGRESSED, *_of_a_loss(asked)
        case _:
            raise unknown_word(answer)


def _of_the_fence(answer: Answer, asked: Asked, record: _Record) -> _Sentences | None:
    resource, epoch = asked.resource, asked.epoch
    match answer.word:
        case "stale-epoch" if asked.undone == "Not advanced":
            why = f"epoch {record.highest} rules {resource}, and epoch {epoch} is not newer"
            return STALE_EPOCH, why, "Name a larger one, or none for the next."
        case "stale-epoch" if record.highest == epoch:
            return STALE_EPOCH, f"epoch {epoch} of {resource} has made its one write", "Stop, or acquire a new epoch."
        case "stale-epoch":
            why = f"epoch {record.highest} rules {resource}, and epoch {epoch} is not newer"
            return STALE_EPOCH, why, "Stop: another holder has taken over."
        case "token-invalid":
            why = f"the token does not belong to a lease of {resource}"
            return TOKEN_INVALID, why, "Acquire a lease and send its token as it was given."
        case "holder-mismatch":
            why = f"epoch {epoch} of {resource} belongs to another holder"
            return HOLDER_MISMATCH, why, "Stop, or acquire an epoch of your own."
        case "lease-expired":
            why = f"the lease of epoch {epoch} on {resource} has expired or was released"
            return LEASE_EXPIRED, why, "Acquire a new lease, and read the resource again before writing."
        case "out-of-sequence":
            why = f"Fencing-Sequence {asked.sequence} repeats or skips a place in epoch {epoch} of {resource}"
            return OUT_OF_SEQUENCE, why, "Stop: a write was repeated, or one before it is missing."
        case "revision-mismatch":
            why = f"the change was based on revision {asked.if_revision}, and {resource} is at {record.revision}"
            return REVISION_MISMATCH, why, "Read the resource again and base the change on what it holds now."
        case "paused":
            why = f"all writes of {resource} are stopped by an operator or an incident"
            return PAUSED, why, "Wait: somebody has to look at it first."
        case _:
            return None


def _of_the_intent(answer: Answer, asked: Asked, record: _Record) -> _Sentences | None:
    match answer.word:
        case "intent-mismatch":
            why = "its idempotency key belongs to another request"
            advice = "Stop: repeat a request unchanged, with numbers as they were spelled (`10` is not `10.0`)"
            return INTENT_MISMATCH, why, f"{advice}, or give a new action a new key."
        case "intent-in-progress" if record.intent_state in ("queued", "awaiting_approval"):
            why = f"the same intent is {record.intent_state}, and is sent later"
            return INTENT_IN_PROGRESS, why, "Ask again later for its answer."
        case "approval-denied":
            return APPROVAL_DENIED, "an operator has denied this intent", "Stop: it is not to be done."
        case "no-room":
            return NO_ROOM, "there is no room for more writes that wait", "Retry later with the same key."
        case "intent-in-progress":
            why = "the same intent is in flight"
            return INTENT_IN_PROGRESS, why, "Ask again in a moment for its answer."
        case "outcome-unknown":
            why = "this intent was sent before, and may or may not have happened"
            return STILL_UNKNOWN, why, "Do not send it under another key; wait until it is resolved."
        case "resource-held":
            why = f"another write of {asked.resource} may or may not have happened, and holds it"
            return STILL_UNKNOWN, why, "Wait until that intent is resolved, then read the resource again."
        case _:
            return None


def _of_the_lease(answer: Answer, asked: Asked, record: _Record) -> _Sentences | None:
    resource, epoch = asked.resource, asked.epoch
    match answer.word:
        case "lease-held":
            until = instant(record.expires_at_ms or answer.now_ms)
            return LEASE_HELD, f"{record.holder} has the lease of {resource} until {until}", "Wait for it to end."
        case "key-used":
            why = "the lease that this Idempotency-Key was granted has ended, and a key is granted one"
            return GRANT_ENDED, why, "Ask with a new key for a new lease, and read the resource again before writing."
        case "key-in-use":
            return GRANT_IN_PROGRESS, "the same call was granted a moment ago", "Repeat it for its lease."
        case "keys-remembered":
            why = f"a thousand calls for {resource} with a key were granted, and each key is remembered for a day"
            return KEYS_SPENT, why, "Ask without an Idempotency-Key, or later."
        case "lease-lost":
            why = f"the lease of epoch {epoch} on {resource} has expired, was released or was overtaken"
            return LEASE_LOST, why, "Acquire a new lease, and read the resource again before writing."
        case "epochs-exhausted":
            why = f"{resource} has used the largest epoch there is"
            return EPOCHS_EXHAUSTED, why, "Stop, and tell an operator: `fencegate resources reset`."
        case _:
            return None


def _of_a_loss(asked: Asked) -> tuple[str, str]:
    """Which is true for whoever asks: what a new lease helps, and what only an operator can end."""
    lost = "the store has lost what it had acknowledged"
    match asked.has_lease, asked.is_keyed:
        case True, False:
            why = f"{lost}, and the lease of epoch {asked.epoch} on {asked.resource} has ended with it"
            return why, "Acquire a new lease: without a key it writes once the upstream's `timeouts.total` has passed."
        case True, True:
            why = f"{lost}, and nobody can tell whether this intent was done before"
            return why, "Wait until an operator accepts the loss, then repeat it with the same key and a new lease."
        case _ if asked.epoch is None:
            return f"{lost}, and is about to be told so", "Ask again in ten seconds."
        case _:
            why = f"{lost}, and nobody can tell which epoch rules {asked.resource}"
            return why, "Wait until an operator accepts the loss, then repeat it unchanged."


def _facts(decision: Decision, answer: Answer, asked: Asked, record: _Record) -> Facts:
    """Who has no valid token is not told who has."""
    held, ends = decision is LEASE_HELD, decision in (LEASE_HELD, KEYS_SPENT)
    told_holder = held or decision in (STALE_EPOCH, HOLDER_MISMATCH, LEASE_LOST)
    left_ms = (record.expires_at_ms or 0) - answer.now_ms
    return Facts(
        resource=asked.resource,
        epoch=asked.epoch,
        highest_epoch=None if decision is TOKEN_INVALID else record.highest,
        revision=record.revision if decision is REVISION_MISMATCH else None,
        holder=record.holder if told_holder else None,
        expires_at_ms=record.expires_at_ms if held else None,
        retry_after_s=max(1, ceil(left_ms / 1000)) if ends else _ASK_AGAIN_S.get(decision.name),
        intent=record.intent,
        intent_state=record.intent_state,
    )
