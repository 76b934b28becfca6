"""The model's world: one resource, who wants to write to it, what is on its way, and what the upstream has done.

All of it is values. Instants are relative to now, as in the store's content (era.py).
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from gateway.core.outcome import Outcome
from tests.model.explore.gateway import Memory
from tests.model.explore.shelf import State

GRACE_MS = 1000
TTL_MS = 1000
"""A ticket's life: as long as its grace, so that few steps of time tell all orders of deadlines apart."""
TICK_MS = 1100
"""Past a deadline and not past its grace; two of them are past both."""

HOLDERS = ("A", "B", "C")

_NOTHING = Memory()

Stage = Literal["asking", "admitted", "sending", "sent", "settling", "abandoned", "done", "dead"]
"""Where the gateway is with a write. `asking`: it has no answer yet; `abandoned`: it has given up on one; `sending`:
the first bytes have left; `settling`: it knows the outcome, and the store does not yet. `dead`: its gateway is.
"""
Arrived = Literal["", "begun", "broken", "whole", "executed", "refused", "dropped"]
"""What the upstream has of it. `whole`: it may act on it at any time; `broken`, `dropped`: it never will."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large the world is: how often at most each thing happens.

    `losses`: a replica that lags takes over, and all are told; `emptied`: under living connections, and nobody is yet.
    `keyed` and `plain`: writes of each holder, those of the one intent and those without a key. `slow`: how often a
    call or its answer is late or lost. `pieces`: a request may be cut off between its first byte and its last.
    `retries`: the upstream refuses a second execution of the intent by itself, so that an unknown one is sent again.
    """

    authority: Literal["lease", "header"] = "lease"
    holders: int = 2
    gateways: int = 2
    grants: int = 1
    renewals: int = 0
    releases: int = 0
    keyed: int = 1
    plain: int = 1
    ticks: int = 2
    slow: int = 0
    deaths: int = 0
    resolutions: int = 0
    losses: int = 0
    emptied: int = 0
    pieces: bool = False
    retries: bool = False
    lease_ms: int = 1500


class Left(NamedTuple):
    """What may still happen, as in Bounds; `grants` by holder."""

    grants: tuple[int, ...]
    renewals: int
    releases: int
    ticks: int
    slow: int
    deaths: int
    resolutions: int
    losses: int
    emptied: int


class Token(NamedTuple):
    epoch: int
    secret: bytes | None


class Gateway(NamedTuple):
    """`used`: as long as it is not, it is like any other one that is not."""

    memory: Memory = Memory()
    lives: bool = True
    used: bool = False


class Slot(NamedTuple):
    """Which write of whom: it names the attempt, so that the order in which attempts came is forgotten."""

    holder: int
    keyed: bool
    number: int


class Attempt(NamedTuple):
    """One write on its way.

    `left_ms` is until its deadline, by the clock that was read before the first call left; `trusted_ms` is the one that
    its gateway goes by. `on_way`: an admission call of it may still reach the store; `made`: the store made a ticket.
    `number` and `in_doubt` are as in Admitted. `outcome` is what its gateway has concluded; `listens`: it still reads a
    connection whose time is over. `proved`: somebody knows that nothing was done;
    `forgiven`: an operator has accepted that the store may have forgotten it.
    """

    slot: Slot
    gateway: int
    token: Token
    stage: Stage = "asking"
    on_way: bool = True
    made: bool = False
    left_ms: int = TTL_MS
    trusted_ms: int = TTL_MS
    number: int = 1
    in_doubt: bool = False
    arrived: Arrived = ""
    outcome: Outcome | None = None
    listens: bool = False
    proved: bool = False
    forgiven: bool = False

    @property
    def was_forwarded(self) -> bool:
        return self.arrived != ""

    @property
    def is_in_flight(self) -> bool:
        """Its gateway has no answer, or has died of it, and its deadline has not passed."""
        return self.was_forwarded and self.outcome is None and self.left_ms > 0

    def forgotten(self) -> "Attempt":
        """Without a deadline that is nobody's concern any more."""
        if self.stage == "done" or (self.stage == "dead" and not self.is_in_flight):
            return self._replace(left_ms=-GRACE_MS, trusted_ms=-GRACE_MS)
        return self

    def later(self, by_ms: int) -> "Attempt":
        left_ms, trusted_ms = self.left_ms - by_ms, self.trusted_ms - by_ms
        return self._replace(left_ms=max(left_ms, -GRACE_MS), trusted_ms=max(trusted_ms, -GRACE_MS)).forgotten()


class World(NamedTuple):
    """`behind`: what a replica has that stopped following. `granted` and `seen` are the largest epochs of a grant, and
    of a write that was not refused for its proof; `lost`: whether the store has lost what it had acknowledged, and
    whether anybody was told.
    """

    store: State
    behind: State | None
    gateways: tuple[Gateway, ...]
    tokens: tuple[Token | None, ...]
    attempts: tuple[Attempt, ...]
    left: Left
    granted: int = 0
    seen: int = 0
    lost: Literal["", "unnoticed", "open", "accepted"] = ""

    def attempt(self, slot: Slot) -> Attempt:
        return next(one for one in self.attempts if one.slot == slot)

    def with_attempt(self, attempt: Attempt) -> "World":
        """One of each slot, in the order of slots."""
        others = [other for other in self.attempts if other.slot != attempt.slot]
        return self._replace(attempts=tuple(sorted((*others, attempt.forgotten()), key=_slot_of)))

    def without(self, slot: Slot) -> "World":
        return self._replace(attempts=tuple(one for one in self.attempts if one.slot != slot))

    def with_gateway(self, number: int, gateway: Gateway) -> "World":
        return self._replace(gateways=(*self.gateways[:number], gateway, *self.gateways[number + 1 :]))


def beginning(bounds: Bounds, store: State, memory: Memory = _NOTHING) -> World:
    """Nothing was written yet; all gateways have this `memory`. Epochs that are granted elsewhere are there already."""
    tokens: tuple[Token | None, ...] = (None,) * bounds.holders
    if bounds.authority == "header":
        tokens = tuple(Token(41 + number, None) for number in range(bounds.holders))
    left = Left(
        (bounds.grants,) * bounds.holders,
        *(bounds.renewals, bounds.releases, bounds.ticks, bounds.slow),
        *(bounds.deaths, bounds.resolutions, bounds.losses, bounds.emptied),
    )
    return World(store, None, (Gateway(memory),) * bounds.gateways, tokens, (), left)


def _slot_of(attempt: Attempt) -> Slot:
    return attempt.slot
