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
from gateway.store.loss.places import NO_EPOCH, Place, place_of
from gateway.store.loss.seen import SeenEpochs

# What a record has between these bytes (parts/intent.lua): the instant of its last step in six of them, the count of
# attempts 27 behind that in four, and the state, of which the length comes first and the longest is 17.
_FIELDS = "10", "58"
_INSTANT_BYTES, _ATTEMPTS_AT, _STATE_AT = 6, 27, 32
# How long the record of a write without a key is kept at least that nobody knows of (scripts/parts/intent.lua).
_UNKNOWN_KEPT_S = 86_400.0
# Of each shard and kind, while its server gets no mark: some 25 MB of all shards. A store loses the end of what it
# acknowledged, so that the newest tell of every loss.
_NEWEST = 32

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Proof:
    """A question to the store, and the least that the answer says if nothing was lost.

    `of`: the answer is a number in decimal text, or what a record says of an intent's attempts. Where it has not been
    attempted again, `left` is the state in which it is no longer, and its last step was not before `since_ms`.
    """

    command: tuple[str, ...]
    least: int
    of: Literal["number", "attempts"] = "number"
    left: str = ""
    since_ms: int = 0

    def holds(self, reply: Reply) -> bool:
        if self.of == "number":
            return reply is not None and number(reply) >= self.least
        assert isinstance(reply, bytes)
        if not reply:
            return False
        attempts = int.from_bytes(reply[_ATTEMPTS_AT : _STATE_AT - 1], "big")
        if attempts != self.least:
            return attempts > self.least
        state = reply[_STATE_AT : _STATE_AT + reply[_STATE_AT - 1]]
        return state != self.left.encode() and int.from_bytes(reply[:_INSTANT_BYTES], "big") >= self.since_ms


@dataclass(slots=True)
class _Since:
    """Of one mark: the highest epochs by resource, with their eras and whether they are leases'; the attempts of
    intents with the state that they have left and the instant of their last step; tickets that have not ended, and
    their deadlines; and places of writes without a key that have.
    """

    epochs: dict[ResourceKey, tuple[int, int, bool]] = field(default_factory=dict)
    attempts: dict[IntentId, tuple[int, float, str, int]] = field(default_factory=dict)
    tickets: dict[TicketId, tuple[ResourceKey, float, int]] = field(default_factory=dict)
    places: dict[ResourceKey, Place] = field(default_factory=dict)

    def all_places(self) -> Iterator[Place]:
        """Those of epochs, too."""
        for resource, (epoch, era, is_leased) in self.epochs.items():
            yield Place(resource, epoch, is_used=False, sequence=0, revision=0, era=era, is_leased=is_leased)
        yield from self.places.values()

    def add(self, newer: "_Since") -> None:
        _append(self.epochs, newer.epochs)
        _append(self.attempts, newer.attempts)
        _append(self.tickets, newer.tickets)
        _append(self.places, newer.places)

    def of(self, shards: Set[str]) -> "_Since":
        """What is of these shards: of each the newest."""
        return _Since(
            _newest(self.epochs, shards, lambda resource, _: shard_of(resource)),
            _newest(self.attempts, shards, lambda intent, _: intent[:3]),
            _newest(self.tickets, shards, lambda _, ticket: shard_of(ticket[0])),
            _newest(self.places, shards, lambda resource, _: shard_of(resource)),
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
        # Tickets of sessions, which are extended while somebody may be about to settle them.
        self._sessions: set[TicketId] = set()
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

    def raised(self, resource: ResourceKey, epoch: int, era: int = 0, *, leased: bool = False) -> None:
        self._newest.epochs[resource] = epoch, era, leased

    def began(self, resource: ResourceKey, era: int) -> None:
        """An operator has forgotten its epochs: none of an era before this one is missing."""
        self._newest.epochs[resource] = NO_EPOCH, era, False

    def admitted(self, admitted: Admitted, now: float, ttl_s: float) -> None:
        """`now`: by the boot clock."""
        write = admitted.write
        if write.intent is not None:
            self._newest.attempts[admitted.intent] = admitted.attempt, now + write.rule.intent.retain_s, "", 0
        else:
            self._newest.tickets[admitted.ticket] = write.resource, now + ttl_s, 0
        if write.rule.upgrade is not None:
            self._sessions.add(admitted.ticket)

    def extended(self, admitted: Admitted, until: float, deadline_ms: int) -> None:
        """The ticket of a session lives until then: by the boot clock, and by the store's."""
        if admitted.ticket in self._sessions and admitted.write.intent is None:
            self._newest.tickets[admitted.ticket] = admitted.write.resource, until, deadline_ms

    def parked(self, intent: IntentId, attempts: int, since_ms: int, until: float) -> None:
        """Its key may be one under which another request failed: that was as often attempted, and earlier."""
        before, _, left, then_ms = self._newest.attempts.get(intent, (0, until, "", 0))
        if before <= attempts:
            left, since_ms = (left, max(then_ms, since_ms)) if before == attempts else ("", since_ms)
            self._newest.attempts[intent] = attempts, until, left, since_ms

    def denied(self, intent: IntentId, attempts: int, until: float) -> None:
        """An operator has said no to what was attempted so often before."""
        self._newest.attempts[intent] = attempts, until, "awaiting_approval", 0

    def ending(self, ticket: TicketId) -> None:
        """It is about to be settled: from now on it may be gone."""
        self._sessions.discard(ticket)
        self._newest.tickets.pop(ticket, None)
        self._marked.tickets.pop(ticket, None)

    def settled(self, admitted: Admitted, outcome: str, revision: int, now: float) -> None:
        """The store has its ending, and counts so many writes of its resource. `now`: by the boot clock."""
        write = admitted.write
        if write.intent is not None:
            until = now + write.rule.intent.retain_s
            self._newest.attempts[admitted.intent] = admitted.attempt, until, "in_flight", 0
        elif outcome == "unknown":
            # It has a record now.
            self._newest.attempts[admitted.intent] = admitted.attempt, now + _UNKNOWN_KEPT_S, "in_flight", 0
        elif outcome == "applied":
            place = place_of(admitted, revision)
            if place is not None:
                former = self._newest.places.get(write.resource) or self._marked.places.get(write.resource)
                self._newest.places[write.resource] = place.after(former)

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

    def proofs(self, now: float, store_ms: int = 0) -> Iterator[Proof | Place]:
        """What to ask a store for, to see whether it still has all of it. `now`: by the boot clock; `store_ms`: by the
        store's, where that is known.

        An intent is kept for its time, a ticket until its deadline, and the record of a lease for a day: what is older
        may be gone by right.
        """
        for since in (self._marked, self._newest):
            for place in since.all_places():
                if not place.may_be_collected(store_ms):
                    yield place
            for intent, (attempt, until, left, since_ms) in since.attempts.items():
                if until > now:
                    yield Proof(("GETRANGE", intent_record(intent), *_FIELDS), attempt, "attempts", left, since_ms)
            for ticket, (resource, until, deadline_ms) in since.tickets.items():
                if until > now:
                    yield Proof(("ZSCORE", resource_keys(resource)[4], f"{ticket} {resource}"), deadline_ms)


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
