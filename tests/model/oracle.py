"""The fence in plain Python: what every script has to answer and to leave behind. An oracle, never a stand-in."""

from dataclasses import dataclass, field, replace
from typing import Literal

from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId, KeptAnswer, ResolvedBy, State
from gateway.core.outcome import Outcome
from gateway.core.write import Admitted, Replayed, Settled, TicketId, Write
from gateway.store.keys import intent_id
from tests.model.record import TOOK_EFFECT, Record, Resolution, Step
from tests.model.ticket import Ticket, is_in_sequence
from tests.model.told import Refusal, Told, Wait

# Between the epochs that are drawn: leases of smaller ones were granted more than a day ago, by the clock.
_COLLECTABLE = 10**12
_FOLLOWS: dict[str, State] = {"applied": "compensated", "not_applied": "applied"}


@dataclass
class Fence:
    """One resource. Whether a lease lives, and whether a ticket is overdue, is set by the test, not by a clock."""

    highest: int | None = None
    holder: str | None = None
    used: Literal["perhaps", "for good"] | None = None
    sequence: int | None = None
    revision: int = 0
    secret: bytes | None = None
    lease: Literal["none", "live", "expired", "released"] = "none"
    advanced_by: str | None = None
    pause: str | None = None
    tickets: dict[str, Ticket] = field(default_factory=dict)
    older: dict[str, Ticket] = field(default_factory=dict)
    overdue: set[str] = field(default_factory=set)
    unfinished: dict[str, int] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    taking_back: dict[str, str] = field(default_factory=dict)
    trail: list[Step] = field(default_factory=list)

    @property
    def holding(self) -> list[Record]:
        """Unknown writes that hold back all others, and further attempts of them; the oldest first."""
        held = [record for record in self.records.values() if record.holds and record.unknown_since]
        return sorted(held, key=lambda record: record.unknown_since)

    def admit(self, write: Write, id: TicketId, seen: int = 0) -> Told:
        """`seen`: the largest epoch that the asking gateway knows of, whatever the store has forgotten."""
        own = self.tickets.get(id) or self.older.get(id)
        if own is not None:
            return self._admitted(own.admitted)
        refused = self.refuses(write, seen)
        if refused == "token-invalid" and self._has_forgotten(write, seen):
            refused = "store-regressed"
        if refused:
            return self._refusal(refused, write)
        if write.epoch != self.highest:
            self._raise(write.epoch, write.holder)
        elif self.holder is None:
            self.holder = write.holder
        self._end_overdue_in_the_way(write)
        return self._judge_intent(write) or self._judge_order(write) or self._issue(write, id)

    def refuses(self, write: Write, seen: int = 0) -> str | None:
        """What is refused whatever the body says, and without a trace."""
        if self.pause is not None:
            return "paused"
        if write.epoch < seen and self._has_forgotten(write, seen):
            return "store-regressed"
        return self._proof_is_bad(write)

    def _has_forgotten(self, write: Write, seen: int) -> bool:
        """Whether the record is behind what was seen, and not by right: an old lease's may have been collected."""
        is_collected = self.highest is None and write.secret_digest is not None and seen < _COLLECTABLE
        return (self.highest or 0) < seen and not is_collected

    def extend(self, admitted: Admitted) -> str:
        refused = self.refuses(admitted.write)
        if refused:
            return refused
        if self.holding:
            return "outcome-unknown"
        if admitted.ticket not in self.tickets:
            return "lapsed"
        self.overdue.discard(admitted.ticket)
        return "extended"

    def settle(
        self, admitted: Admitted, proved: Outcome, answer: KeptAnswer | None, abandoned=False, unfinished=False
    ) -> Settled:
        write, id, since = admitted.write, admitted.ticket, len(self.trail)
        # What takes another intent back brings no epoch that is gone.
        is_gone = self.highest is None and admitted.intent not in self.taking_back
        if not abandoned and (is_gone or (self.highest is not None and write.epoch > self.highest)):
            self._raise(write.epoch, write.holder)
        in_time = id not in self.overdue
        ticket, record = self._take(id), self.records.get(admitted.intent)
        if ticket is None and not unfinished:
            self.unfinished.pop(id, None)
        elif ticket is not None and in_time and unfinished and proved == "unknown":
            self.unfinished[id] = write.epoch
        incident = None
        concluded: Outcome = "unknown" if admitted.in_doubt and proved == "not_applied" else proved
        if record is not None and id in record.incidents:
            incident = record.incidents[id]
        elif record is not None and record.ticket == id:
            concluded = record.conclude(proved)
            incident = record.learn(proved, answer, self.trail)
        elif record is not None and (ticket or self._has_the_key(record, admitted)):
            lost = admitted.attempt > record.attempts
            incident = record.learn_of_another(id, proved, answer, lost, self.trail)
        elif ticket is not None:
            self._end_without_key(ticket.admitted, ticket.holder, concluded)
        elif not abandoned:
            concluded = self._restore(admitted, concluded, answer)
        if ticket is not None:
            self._give_back(ticket, concluded)
        record = self.records.get(admitted.intent)
        if record is not None and record.state in ("not_applied", "unknown"):
            concluded = record.state
        elif record is not None and record.state in TOOK_EFFECT:
            concluded = "applied"
        self._follow(since)
        counts = write.rule.revision == "gateway"
        overtaken = self.highest is not None and write.epoch < self.highest
        return Settled(overtaken, self.revision if counts else None, concluded, incident)

    def resolve(self, record: Record, outcome: Resolution, by: ResolvedBy, reason: str, evidence: bytes) -> str:
        """`resolved` or `wrong-state`. One that took effect more than once stops the resource."""
        was, since = record.state, len(self.trail)
        told = record.resolve(outcome, by, reason, evidence, self.trail)
        if outcome == "duplicated" and was == "unknown":
            self.pause = self.pause or record.id
        if was == "unknown" != record.state and (by == "operator" or record.state == "applied"):
            self.unfinished.pop(record.ticket, None)
        self._follow(since)
        return told

    def compensate(self, first: Record, write: Write, id: TicketId, *, is_kept: bool) -> Admitted | Wait | str:
        """A ticket for what takes `first` back, or the refusal's name."""
        assert write.intent is not None
        key = intent_id(write.resource, write.intent.digest)
        second = self.records.get(key)
        if first.state != "applied" or (second is not None and second.state != "not_applied") or not is_kept:
            return "wrong-state"
        self._end_overdue([*self.older, *self.tickets])
        if self.holding:
            return "outcome-unknown"
        if self.older:
            return Wait("older")
        if self.tickets or self.unfinished:
            return Wait("busy")
        epoch, holder = Epoch(max(self.highest or 0, first.write.epoch)), self.holder or ""
        write = replace(write, epoch=epoch)
        second = self.records.setdefault(key, Record(key, write, holder, id))
        self.taking_back[key] = first.id
        second.begin(write, holder, id, self.trail)
        # The upstream is never asked what became of it.
        second.no_after_s = 0.0
        first.step("compensating", self.trail)
        admitted = Admitted(write, id, None, key, second.attempts)
        self.tickets[id] = Ticket(admitted, holder, None, True, write.rule.revision == "gateway")
        return admitted

    def _follow(self, since: int) -> None:
        """What takes an intent back has made a step, and the other one's state follows."""
        for step in self.trail[since:]:
            first, to = self.records.get(self.taking_back.get(step.intent, "")), _FOLLOWS.get(step.after)
            if first is None or to is None or step.before == step.after:
                continue
            if first.state == "compensating" or (first.state == "applied" and to == "compensated"):
                first.step(to, self.trail)

    def sweep(self, id: str) -> int:
        """All overdue tickets end as unknown, if this one is still there; returns how many."""
        if id not in self.tickets and id not in self.older:
            return 0
        return self._end_overdue([*self.older, *self.tickets])

    def grant(self, holder: str, secret: bytes, takeover: bool, fresh: int, exhausted: bool, seen: int = 0) -> str:
        """`granted`, or a refusal. `fresh` is the epoch that a new lease has; `exhausted`: there is none. `seen`: a
        lease below it was overtaken, whatever the store has forgotten.
        """
        lives = self.lease == "live" and (self.highest or 0) >= seen
        if lives and self.secret == secret:
            self._end_overdue([*self.older])
            return "granted"
        if lives and not takeover:
            return "lease-held"
        if exhausted:
            return "epochs-exhausted"
        self._raise(fresh, holder)
        self._end_overdue([*self.older])
        self.secret, self.lease = secret, "live"
        return "granted"

    def renew(self, epoch: int, secret: bytes) -> str:
        if self.highest is not None and epoch < self.highest:
            return "lease-lost"
        if epoch != self.highest or self.secret != secret:
            return "token-invalid"
        return "renewed" if self.lease == "live" else "lease-lost"

    def release(self, epoch: int, secret: bytes) -> str:
        if self.highest is not None and epoch < self.highest:
            return "lease-lost"
        if epoch != self.highest or self.secret != secret:
            return "token-invalid"
        self.lease = "released"
        return "released"

    def register(self, epoch: int, holder: str) -> str:
        if self.highest is not None and epoch < self.highest:
            return "stale-epoch"
        if epoch == self.highest and self.holder not in (None, holder):
            return "holder-mismatch"
        if epoch != self.highest:
            self._raise(epoch, holder)
        self.holder = holder
        self._end_overdue([*self.older])
        return "registered"

    def advance(self, epoch: int, request: str) -> str:
        if self.advanced_by == request:
            return "advanced"
        if self.highest is not None and epoch <= self.highest:
            return "stale-epoch"
        self._raise(epoch, None)
        self.advanced_by = request
        return "advanced"

    def _proof_is_bad(self, write: Write) -> str | None:
        by_lease = write.secret_digest is not None
        if self.highest is not None and write.epoch < self.highest:
            return "stale-epoch"
        if by_lease and (write.epoch != self.highest or write.secret_digest != self.secret):
            return "token-invalid"
        named = not by_lease or write.holder is not None
        if write.epoch == self.highest and self.holder is not None and named and write.holder != self.holder:
            return "holder-mismatch"
        return "lease-expired" if by_lease and self.lease != "live" else None

    def _judge_intent(self, write: Write) -> Told | None:
        """None for one that may be sent: nobody has seen it, its key is free, or the upstream refuses the second."""
        record = self._record(write)
        if record is None or record.state == "not_applied":
            return None
        if not record.is_of(write):
            return self._refusal("intent-mismatch", write)
        if record.state in TOOK_EFFECT:
            return Replayed(write, record.id, record.answer, record.resolved_by, record.evidence)
        if record.state == "in_flight":
            return self._refusal("intent-in-progress", write)
        native, before = write.rule.upstream.native_key, record.write.rule.upstream.native_key
        assert native is not None
        assert before is not None
        if write.rule.intent.on_unknown == "retry" and native.retain_s > 0 and native.header == before.header:
            return None
        return self._refusal("outcome-unknown", write)

    def _judge_order(self, write: Write) -> Told | None:
        fence = write.rule.fence
        has_place = self._has_place(write)
        if fence.order == "strict" and self.used and not has_place:
            return self._refusal("stale-epoch", write)
        if not is_in_sequence(write, self.sequence) and not (has_place and self.sequence == write.sequence):
            return self._refusal("out-of-sequence", write)
        if write.rule.revision == "gateway" and write.if_revision is not None:
            # Its own attempt has counted.
            fits = (write.if_revision, write.if_revision + 1) if has_place else (write.if_revision,)
            if self.revision not in fits:
                return self._refusal("revision-mismatch", write)
        held_by = self._held_by(write)
        if held_by is not None:
            return Refusal("outcome-unknown", held_by.id, held_by.state)
        if self.older or any(epoch < write.epoch for epoch in self.unfinished.values()):
            return Wait("older")
        return Wait("busy") if fence.concurrency == "serial" and self.tickets else None

    def _held_by(self, write: Write) -> Record | None:
        """What holds this write back; a further attempt in doubt is one of the ways to resolve itself, and no other."""
        own = self._record(write)
        return next((record for record in self.holding if record is not own or own.state != "unknown"), None)

    def _issue(self, write: Write, id: TicketId) -> Admitted:
        assert self.holder is not None
        record, fence, has_place = self._record(write), write.rule.fence, self._has_place(write)
        in_doubt = record is not None and record.state == "unknown"
        key = IntentId(id)
        if write.intent is not None:
            key = intent_id(write.resource, write.intent.digest)
            record = self.records.setdefault(key, Record(key, write, self.holder, id))
            record.begin(write, self.holder, id, self.trail)
        else:
            self.trail.append(Step(id, "", "in_flight"))
        admitted = Admitted(write, id, None, key, record.attempts if record else 1, in_doubt)
        counts = write.rule.revision == "gateway" and not in_doubt
        self.tickets[id] = Ticket(admitted, self.holder, self.sequence, has_place, counts)
        if fence.sequence != "off" and not has_place:
            self.sequence = write.sequence
        self.used = "perhaps" if fence.order == "strict" and not has_place else "for good"
        return self._admitted(admitted)

    def _admitted(self, admitted: Admitted) -> Admitted:
        write = admitted.write
        revision = self.revision if write.rule.revision == "gateway" else None
        return Admitted(write, admitted.ticket, revision, admitted.intent, admitted.attempt, admitted.in_doubt)

    def _refusal(self, name: str, write: Write) -> Refusal:
        record = self._record(write)
        return Refusal(name, record.id, record.state) if record and record.is_of(write) else Refusal(name)

    def _record(self, write: Write) -> Record | None:
        return None if write.intent is None else self.records.get(intent_id(write.resource, write.intent.digest))

    def _has_place(self, write: Write) -> bool:
        """Whether this would be a further attempt in doubt of the same epoch."""
        record = self._record(write)
        return record is not None and record.state == "unknown" and record.write.epoch == write.epoch

    def _has_the_key(self, record: Record, admitted: Admitted) -> bool:
        """Whether the record's newest attempt is the one that counts, and not this one, which a failover lost."""
        return admitted.attempt <= record.attempts or record.state in (*TOOK_EFFECT, "in_flight")

    def _raise(self, epoch: int, holder: str | None) -> None:
        self.highest, self.holder, self.used, self.sequence = epoch, holder, None, None
        self.secret, self.lease, self.advanced_by = None, "none", None
        self.older |= self.tickets
        self.tickets = {}

    def _end_overdue_in_the_way(self, write: Write) -> None:
        record = self._record(write)
        in_the_way = [*self.older]
        if write.rule.fence.concurrency == "serial" or (record is not None and record.state == "in_flight"):
            in_the_way += self.tickets
        self._end_overdue(in_the_way)

    def _end_overdue(self, ids: list[str]) -> int:
        ended, since = [id for id in ids if id in self.overdue], len(self.trail)
        for id in ended:
            ticket = self._take(id)
            assert ticket is not None
            record = self.records.get(ticket.admitted.intent)
            if record is None:
                self._end_without_key(ticket.admitted, ticket.holder, "unknown")
            elif record.ticket == id:
                record.learn("unknown", None, self.trail)
            self.revision += ticket.counts
        self._follow(since)
        return len(ended)

    def _take(self, id: str) -> Ticket | None:
        self.overdue.discard(id)
        return self.tickets.pop(id, None) or self.older.pop(id, None)

    def _end_without_key(self, admitted: Admitted, holder: str, outcome: Outcome) -> None:
        """It has a record only if nobody knows what became of it."""
        if outcome != "unknown":
            self.trail.append(Step(admitted.intent, "in_flight", outcome))
            return
        record = Record(admitted.intent, admitted.write, holder, admitted.ticket, 1, "in_flight")
        record.step("unknown", self.trail)
        self.records[admitted.intent] = record

    def _give_back(self, ticket: Ticket, outcome: Outcome) -> None:
        """Proved not applied, its place is free again if nobody came after; all else counts as a revision."""
        write = ticket.write
        if outcome != "not_applied":
            self.revision += ticket.counts
        elif write.epoch == self.highest and not ticket.has_place:
            if write.rule.fence.sequence != "off" and write.sequence == self.sequence:
                self.sequence = ticket.sequence_before
            if write.rule.fence.order == "strict" and self.used == "perhaps":
                self.used = None

    def _restore(self, admitted: Admitted, outcome: Outcome, answer: KeptAnswer | None) -> Outcome:
        """A failover lost the admission. Of a write without a key that is known, this may as well be a repeat."""
        write = admitted.write
        if write.intent is not None or outcome == "unknown":
            before = self.records.get(admitted.intent)
            record = Record(admitted.intent, write, write.holder or "", admitted.ticket, admitted.attempt)
            record.state, record.native = before.state if before else "", admitted.in_doubt
            if before is not None:
                record.unknown_since = before.unknown_since if before.holds else 0
                record.holds = record.holds or before.holds
                record.former = [before.ticket, *before.former][:3]
            record.doubtful = admitted.in_doubt or record.state == "unknown"
            outcome = record.conclude(outcome)
            record.step("in_flight", self.trail)
            record.end(outcome, answer, self.trail)
            self.records[record.id] = record
            if outcome != "not_applied" and write.rule.revision == "gateway" and not admitted.in_doubt:
                self.revision += 1
        if outcome != "not_applied" and write.epoch == self.highest:
            self.used = self.used or "for good"
            if write.rule.fence.sequence != "off":
                self.sequence = max(write.sequence or 0, self.sequence or 0)
        return outcome
