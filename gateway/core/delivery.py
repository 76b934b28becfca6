"""Deliveries: what was queued, and when one that came to nothing is tried again, if ever.

Only what is proved not applied is tried again.
"""

from dataclasses import dataclass

from gateway.core.compensation import Kept
from gateway.core.kept_request import KeptRequest
from gateway.core.outcome import NotSent, Outcome, Replied
from gateway.core.record import IntentRecord

_FIRST_S = 1.0
# An upstream that has been away for an hour is found within five minutes of its return.
_LONGEST_S = 300.0
# What an upstream may want between two requests; beyond it, it is a slip.
_LONGEST_ASKED_S = 3600.0
# A refusal that says "not now" (RFC 4918, 8470 and 6585). Any other one is of the request, or of the credentials: it
# would be refused again, and hold up the queue meanwhile.
_NOT_NOW = frozenset((423, 425, 429))
# How the reason of a write begins that the rules in force do not take as the one that it was when it came.
NO_LONGER_TAKEN = "the policy no longer takes it"


@dataclass(frozen=True, slots=True)
class Taken:
    """The head of a queue, which no other deliverer has for a while, and its request, which occupies `size` bytes."""

    record: IntentRecord
    request: KeptRequest
    size: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """The head of a queue has ended without being sent: superseded, or failed."""

    record: IntentRecord


@dataclass(frozen=True, slots=True)
class Again:
    """The delivery is tried again, so many seconds from now."""

    after_s: float


@dataclass(frozen=True, slots=True)
class GivenUp:
    """It is not tried again, unless an operator says so."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How a delivery ended, and what is kept of its answer. `then`: what follows where it is proved not applied.

    `unfinished`: nobody has said that its server is done with it.
    """

    outcome: Outcome
    reason: str
    kept: Kept | None
    then: Again | GivenUp
    unfinished: bool = False


def after_refusal(failures: int, evidence: NotSent | Replied, asked_s: float | None, spread: float) -> Again | GivenUp:
    """What follows a delivery that is proved not applied, the `failures` before it not counted.

    The distance doubles from a second to five minutes. `asked_s`: what the answer's Retry-After says. `spread`, from 0
    to 1, shortens it by up to half: what failed together should not come back together.
    """
    if isinstance(evidence, Replied) and not _says_not_now(evidence.status):
        return GivenUp()
    distance_s = min(_FIRST_S * 2.0 ** min(failures, 16), _LONGEST_S) * (1 - spread / 2)
    return Again(max(distance_s, min(asked_s or 0.0, _LONGEST_ASKED_S)))


def retry_after_s(value: bytes | None) -> float | None:
    """The seconds of a Retry-After field; None for a date, which needs the upstream's clock, and for what is neither.

    RFC 9110, section 10.2.3.
    """
    if value is None or not value.isdigit() or len(value) > 9:
        return None
    return float(value)


def _says_not_now(status: int) -> bool:
    return status in _NOT_NOW or status >= 500
