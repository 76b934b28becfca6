"""What the store has acknowledged to this process since its last mark: by these it is told whether the last second of a
store's life is missing.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from gateway.core.intent import IntentId
from gateway.core.write import Admitted, ResourceKey, TicketId
from gateway.store.answer import number
from gateway.store.keys import intent_record, resource_keys, shard_of
from gateway.store.links.link import Reply
from gateway.store.loss.seen import SeenEpochs

# Where the count of attempts is in a record (parts/intent.lua), behind the mark of its format and six numbers; and with
# the state, of which the length comes first.
_ATTEMPTS, _AND_STATE = ("37", "40"), ("37", "50")
_ATTEMPTS_BYTES, _STATE_AT, _IN_FLIGHT = 4, 5, b"in_flight"
# Of each shard and kind, while its server gets no mark: some 25 MB of all shards. A store loses the end of what it
# acknowledged, so that the newest tell of every loss.
_NEWEST = 32

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Proof:
    """A question to the store, and the least that the answer says if nothing was lost.

    `of`: the answer is a number in decimal text, or an intent's attempts as records have them, of which the last, if it
    is still the one that is meant, has ended.
    """

    command: tuple[str, ...]
    least: int
    of: Literal["number", "attempts", "ending"] = "number"

    def holds(self, reply: Reply) -> bool:
        if isinstance(reply, list):
            # Either proves it: the epoch in force, or one that an operator has forgotten.
            return any(value is not None and number(value) >= self.least for value in reply)
        if self.of == "number":
            return reply is not None and number(reply) >= self.least
        assert isinstance(reply, bytes)
        attempts = int.from_bytes(reply[:_ATTEMPTS_BYTES], "big")
        if self.of == "ending" and attempts == self.least:
            return reply[_STATE_AT:] != _IN_FLIGHT
        return reply != b"" and attempts >= self.least


@dataclass(slots=True)
class _Since:
    """Of one mark: the highest epochs by resource, the attempts of intents and whether they have ended, and tickets
    that have not."""

    epochs: dict[ResourceKey, int] = field(default_factory=dict)
    attempts: dict[IntentId, tuple[int, float, bool]] = field(default_factory=dict)
    tickets: dict[TicketId, tuple[ResourceKey, float]] = field(default_factory=dict)

    def add(self, newer: "_Since") -> None:
        _append(self.epochs, newer.epochs)
        _append(self.attempts, newer.attempts)
        _append(self.tickets, newer.tickets)

    def of(self, shards: Set[str]) -> "_Since":
        """What is of these shards: of each the newest."""
        return _Since(
            _newest(self.epochs, shards, lambda resource, _: shard_of(resource)),
            _newest(self.attempts, shards, lambda intent, _: intent[:3]),
            _newest(self.tickets, shards, lambda _, ticket: shard_of(ticket[0])),
        )


class Recent:
    """Noted as it comes, and forgotten as soon as a later mark is acknowledged."""

    def __init__(self) -> None:
        self.floor = 0
        """Leases below it have ended with a loss."""
        self.seen = SeenEpochs()
        self.origins: dict[str, str] = {}
        """What each shard began with, as far as this process has learned it (origins.py)."""
        self.doubted = asyncio.Event()
        """Set when a script has missed something: a mark tells whether it is lost."""
        self._anew: set[str] = set()
        self._newest = _Since()
        self._marked = _Since()

    def doubt(self, shard: str) -> None:
        """A script has found that the shard began anew."""
        self._anew.add(shard)
        self.doubted.set()

    def take_doubtful(self) -> set[str]:
        """The shards that began anew, until somebody was told."""
        doubtful, self._anew = self._anew, set()
        return doubtful

    def raised(self, resource: ResourceKey, epoch: int) -> None:
        self._newest.epochs[resource] = epoch

    def lowered(self, resource: ResourceKey) -> None:
        """An operator has forgotten its epochs: none is missing."""
        self._newest.epochs.pop(resource, None)
        self._marked.epochs.pop(resource, None)

    def admitted(self, admitted: Admitted, now: float) -> None:
        """`now`: by the boot clock."""
        write = admitted.write
        if write.intent is not None:
            self._newest.attempts[admitted.intent] = admitted.attempt, now + write.rule.intent.retain_s, False
        elif write.rule.upgrade is None:
            # A session's ticket lives for less, again and again.
            until = now + write.rule.upstream.timeouts.total_s
            self._newest.tickets[admitted.ticket] = write.resource, until

    def parked(self, intent: IntentId, until: float) -> None:
        self._newest.attempts.setdefault(intent, (0, until, False))

    def ending(self, ticket: TicketId) -> None:
        """It is about to be settled: from now on it may be gone."""
        self._newest.tickets.pop(ticket, None)
        self._marked.tickets.pop(ticket, None)

    def settled(self, admitted: Admitted, now: float) -> None:
        """The store has its ending. `now`: by the boot clock."""
        if admitted.write.intent is not None:
            until = now + admitted.write.rule.intent.retain_s
            self._newest.attempts[admitted.intent] = admitted.attempt, until, True

    def turn(self) -> None:
        """A mark is about to leave: all that was noted so far was acknowledged before it."""
        self._marked.add(self._newest)
        self._newest = _Since()

    def covered(self, but: Set[str] = frozenset()) -> None:
        """That mark was acknowledged, but not by the servers of these shards."""
        self._marked = self._marked.of(but) if but else _Since()

    def forget(self, floor: int) -> None:
        """It is known to be lost, as far as it is; leases below the floor have ended."""
        self.floor = max(self.floor, floor)
        self._newest, self._marked, self._anew = _Since(), _Since(), set()
        self.seen.lost()

    def proofs(self, now: float) -> Iterator[Proof]:
        """What to ask a store for, to see whether it still has all of it. `now`: by the boot clock.

        An intent is kept for its time, and a ticket until its deadline: what is older may be gone by right.
        """
        for since in (self._marked, self._newest):
            for resource, epoch in since.epochs.items():
                yield Proof(("HMGET", resource_keys(resource)[0], "e", "r"), epoch)
            for intent, (attempt, until, has_ended) in since.attempts.items():
                if until > now and has_ended:
                    yield Proof(("GETRANGE", intent_record(intent), *_AND_STATE), attempt, "ending")
                elif until > now:
                    yield Proof(("GETRANGE", intent_record(intent), *_ATTEMPTS), attempt, "attempts")
            for ticket, (resource, until) in since.tickets.items():
                if until > now:
                    yield Proof(("ZSCORE", resource_keys(resource)[4], f"{ticket} {resource}"), 0)


def _append(to: dict[Key, Value], newer: dict[Key, Value]) -> None:
    """What is there already becomes the newest too."""
    if to:
        for key in newer:
            to.pop(key, None)
    to |= newer


def _newest(entries: dict[Key, Value], shards: Set[str], shard_at: Callable[[Key, Value], str]) -> dict[Key, Value]:
    counts, found = Counter[str](), list[tuple[Key, Value]]()
    for key, value in reversed(entries.items()):
        shard = shard_at(key, value)
        if shard in shards and counts[shard] < _NEWEST:
            counts[shard] += 1
            found.append((key, value))
    return dict(reversed(found))
