"""What is parked, in plain Python: one resource's queue, who may write, and what becomes of each intent."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from gateway.core.intent import State

WAITS: tuple[State, ...] = ("queued", "awaiting_approval")
FREE: tuple[State, ...] = ("not_applied", "superseded", "expired", "failed")


@dataclass
class Parked:
    """An intent. `kept`: whether its request still is; `heir`: the epoch that repeated it while it was on its way.

    `keeping`: another one each time its request is kept, approved, or delivered in vain. `senders`: all that ever sent
    it, of whom none may decide about it.
    """

    state: State
    epoch: int
    keeping: int
    failures: int = 0
    kept: bool = True
    approved: bool = False
    heir: int = 0
    senders: set[str] = field(default_factory=set)


@dataclass
class Line:
    """A resource: its highest epoch, the epochs that were let go of while something was queued, and its queue.

    The head stays in the queue while it is on its way; a ticket is the name of an intent, or None for an inline write.
    """

    highest: int = 0
    let_go: list[int] = field(default_factory=list)
    queue: list[str] = field(default_factory=list)
    known: dict[str, Parked] = field(default_factory=dict)
    on_its_way: list[str | None] = field(default_factory=list)
    keepings: Iterator[int] = field(default_factory=itertools.count)

    def lease(self, epoch: int, *, after_release: bool) -> None:
        if after_release and self.queue:
            self.let_go.append(self.highest)
        self.highest = epoch

    def advance(self, epoch: int) -> None:
        """An operator's floor: nobody has the resource, and what was let go of counts no more."""
        self.highest, self.let_go = epoch, []

    def park(self, name: str, state: State, who: str) -> str:
        """The word of the answer: a state, or why it was not taken."""
        one = self.known.get(name)
        if one is None or one.state in FREE:
            senders = {who} if one is None else one.senders | {who}
            self.known[name] = Parked(state, self.highest, next(self.keepings), senders=senders)
            if state == "queued":
                self.queue.append(name)
            return state
        one.senders.add(who)
        if one.state in WAITS and one.epoch < self.highest:
            one.epoch = self.highest
            if one.state == "queued":
                self._leaves(name)
                self.queue.append(name)
                self._forget()
        if one.state == "in_flight":
            one.heir = max(one.heir, self.highest)
        told = {"applied": "replayed", "unknown": "outcome-unknown", "denied": "approval-denied"}
        return told.get(one.state, one.state)

    def take(self) -> str | None:
        """The intent that was taken, or that ended instead of being taken."""
        if not self.queue:
            return None
        one = self.known[self.queue[0]]
        if one.state == "in_flight":
            return None
        name = self.queue[0]
        if self.is_overtaken(one):
            self._ends(name, "superseded", kept=False)
        return name

    def deliver(self, name: str, epoch: int, keeping: int) -> str:
        one = self.known[name]
        if (one.state, one.epoch, one.keeping) != ("queued", epoch, keeping) or self.queue[0] != name:
            return "intent-in-progress"
        if self.is_overtaken(one):
            self._ends(name, "superseded", kept=False)
            return "stale-epoch"
        if self.on_its_way:
            return "Waiting"
        one.state = "in_flight"
        self.on_its_way.append(name)
        return "Admitted"

    def write(self) -> str:
        """An inline write of whoever has the resource now."""
        if self.on_its_way or self.let_go:
            return "Waiting"
        self.on_its_way.append(None)
        return "Admitted"

    def end(self, name: str, outcome: State, *, again: bool) -> None:
        self.on_its_way.remove(name)
        one = self.known[name]
        if outcome == "not_applied" and again:
            one.state, one.failures, one.keeping = "queued", one.failures + 1, next(self.keepings)
            self._forget()
        else:
            self._ends(name, "failed" if outcome == "not_applied" else outcome, kept=outcome != "applied")
        self._hand_over(name)

    def decide(self, name: str, who: str | None, *, approve: bool) -> str:
        one = self.known[name]
        if one.state != "awaiting_approval":
            return "wrong-state"
        if who in one.senders:
            return "forbidden"
        if approve and one.epoch < self.highest:
            self._ends(name, "superseded", kept=False)
            return "wrong-state"
        if not approve:
            self._ends(name, "denied", kept=False)
            return "denied"
        one.state, one.approved, one.keeping = "queued", True, next(self.keepings)
        self.queue.append(name)
        return "queued"

    def retry(self, name: str) -> str:
        one = self.known[name]
        if one.state not in ("failed", "not_applied") or one.approved:
            return "wrong-state"
        if one.epoch < self.highest or not one.kept:
            return "wrong-state"
        one.state, one.failures, one.keeping = "queued", 0, next(self.keepings)
        self.queue.append(name)
        return "queued"

    def resolve(self, name: str, outcome: State) -> None:
        self._ends(name, outcome, kept=outcome != "applied")
        self._hand_over(name)

    def expire(self, name: str) -> None:
        if self.known[name].state == "awaiting_approval":
            self._ends(name, "expired", kept=False)

    def is_overtaken(self, one: Parked) -> bool:
        return one.epoch < self.highest and one.epoch not in self.let_go

    def _ends(self, name: str, state: State, *, kept: bool) -> None:
        one = self.known[name]
        one.state, one.kept = state, kept
        self._leaves(name)
        self._forget()

    def _hand_over(self, name: str) -> None:
        """Where nothing was done, it is its heir's."""
        one = self.known[name]
        if one.state not in ("queued", "failed", "not_applied") or one.heir <= one.epoch:
            return
        one.epoch, one.heir = one.heir, 0
        if one.state == "queued":
            self._leaves(name)
            self.queue.append(name)
            self._forget()

    def _leaves(self, name: str) -> None:
        if name in self.queue:
            self.queue.remove(name)

    def _forget(self) -> None:
        """Of an epoch before the head's nothing is left in the queue."""
        first = self.known[self.queue[0]].epoch if self.queue else None
        self.let_go = [] if first is None else [epoch for epoch in self.let_go if epoch >= first]
