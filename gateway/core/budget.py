"""Budgets: how much the writes of a rule may do within a window of time, and what one of them takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from gateway.core.intent import TOOK_EFFECT, State

Per = Literal["tenant", "principal", "holder", "resource"]
# What a reservation's record says; `unseen`: there is no record, and no ticket in flight.
Fate = State | Literal["unseen"]

# Amounts are counted in millionths: sums are exact, and stay exact where a store counts in doubles.
UNIT = 1_000_000
# In the policy's own units. Twice as many millionths are still below 2^53.
LARGEST_TOTAL = 4_000_000_000

# Nothing of it was done, and nothing will be under the same admission.
_UNDONE: frozenset[Fate] = frozenset({"unseen", "not_applied", "denied", "expired", "superseded", "failed"})


@dataclass(frozen=True, slots=True)
class Budget:
    """What each tenant, principal, holder or resource may do within any `window_s` seconds.

    At most `count` writes, whose amounts add up to `total` millionths at most; None: as much as it likes. `value` is
    the pointer to the amount in the request's body. `name` tells one budget of a rule from another.
    """

    per: Per
    window_s: float
    count: int | None = None
    total: int | None = None
    value: str | None = None

    @property
    def name(self) -> str:
        """The limits are no part of it: what was used is used also under new ones."""
        return f"{self.per} {round(self.window_s * 1000)} {self.value or ''}"

    @property
    def label(self) -> str:
        """As metrics name it: `resource 86400s json:/amount`."""
        return f"{self.per} {self.window_s:g}s" + ("" if self.value is None else f" json:{self.value}")


def spelled(millionths: int) -> str:
    """As people write it: `12.5`."""
    whole, rest = divmod(millionths, UNIT)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of a budget is used, by which tenant, principal, holder or resource.

    `sum` in millionths; `leaves_at_ms`: when the oldest of it counts no longer, by the store's clock.
    """

    budget: Budget
    by: str
    count: int
    sum: int
    leaves_at_ms: int


@dataclass(frozen=True, slots=True)
class Fullest:
    """The most that any tenant, principal, holder or resource has used of a rule's budget; `sum` in millionths.

    Not both need be of one: who has written most often may not have moved most.
    """

    upstream: str
    rule: str
    budget: Budget
    count: int
    sum: int


@dataclass(frozen=True, slots=True)
class Claim:
    """What one attempt has reserved. Milliseconds of the store's clock, since 1970.

    Until `until_ms` it may still be admitted. Up to `proves_ms`, that there is no record of it proves that it was not.
    """

    attempt: str
    until_ms: int
    proves_ms: int


def is_undone(claim: Claim, fate: Fate, now_ms: int) -> bool:
    """Whether it is proved that nothing was done under this claim, and that nothing will be."""
    if now_ms <= claim.until_ms or (fate == "unseen" and now_ms >= claim.proves_ms):
        return False
    return fate in _UNDONE


def is_spent(claims: Iterable[Claim], fate: Fate, now_ms: int) -> bool:
    """Whether what was reserved for one action stays taken: it was done, or nobody can tell any more."""
    return fate in TOOK_EFFECT or (fate == "unseen" and all(now_ms >= claim.proves_ms for claim in claims))
