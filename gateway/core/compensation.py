"""Compensation: the request that takes an applied write back, written down when that write is settled.

It is an intent of its own, made once by an operator: applied ─► compensating ─► compensated.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from gateway.core.decision import STILL_UNKNOWN, WRONG_STATE, Facts, Refused
from gateway.core.intent import Intent, IntentId, KeptAnswer, State
from gateway.core.kept_request import KeptRequest
from gateway.core.request import HeaderPairs

# As an intent's own digest: 128 bits.
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No request would take the write back, and why: a part of it was neither in the request nor in the answer."""

    why: str


Undo = KeptRequest | Unavailable


class Rendering(Protocol):
    """A rule's compensation for one write, as far as the write's request fills it."""

    def render(self, headers: HeaderPairs, body: bytes | None) -> Undo:
        """The request, filled from the write's answer. `body` is None where the answer's was too large to be kept."""
        ...


@dataclass(frozen=True, slots=True)
class Undoable:
    """What is kept of an applied write whose rule has a compensation. `answer` is None where it was too large."""

    answer: KeptAnswer | None
    undo: Undo


Kept = KeptAnswer | Undoable


@dataclass(frozen=True, slots=True)
class Compensation:
    """What an operator is shown of an applied intent's compensation.

    `written_since`: whether the resource was written after the intent; None where the audit trail no longer tells.
    """

    undo: Undo = field(repr=False)
    written_since: bool | None


def compensating_digest(first: IntentId) -> str:
    """The digest of the intent that takes `first` back: the same one each time, so that it takes effect once."""
    digest = hashlib.blake2b(f"compensates {first}".encode(), digest_size=_DIGEST_BYTES).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def compensating_intent(first: IntentId, tenant: str, request: KeptRequest) -> Intent:
    """The intent that takes `first` back by this request."""
    target = f"{request.method} {request.target.partition('?')[0]}"
    return Intent(f"compensates {first}", tenant, target, compensating_digest(first))


def held_back(by: Sequence[IntentId], facts: Facts) -> Refused:
    """As a write is held back by unknown ones: what is known of the resource may not be true. `by` them."""
    detail = (
        f"Nothing was sent: {_listed(by)} of {facts.resource} may or may not have happened, and its rule holds the "
        "resource until somebody knows. Resolve that first, then look whether there is still something to take back."
    )
    return Refused(STILL_UNKNOWN, detail, replace(facts, intent=by[0], intent_state="unknown"))


def _listed(intents: Sequence[IntentId]) -> str:
    return f"intent {intents[0]}" if len(intents) == 1 else f"intents {', '.join(intents)}"


def not_applied_now(state: State, facts: Facts) -> Refused:
    """The refusal of an intent that is in no state to be taken back. `facts` are those of the intent."""
    if state == "compensating":
        detail = (
            "Nothing was done: it is being compensated. Where nobody knows whether that was done, resolve the intent"
        )
        return Refused(WRONG_STATE, f"{detail} that compensates it.", facts)
    detail = f"Nothing was done: the intent is {state}, and only an applied one can be compensated."
    return Refused(WRONG_STATE, detail, facts)


def not_available(undo: Unavailable | None, facts: Facts) -> Refused:
    """The refusal where there is nothing that could be sent."""
    why = "its rule had no compensation when it was applied" if undo is None else undo.why
    detail = f"Nothing was done: there is no request that takes it back ({why}). Take it back at the upstream itself."
    return Refused(WRONG_STATE, detail, facts)
