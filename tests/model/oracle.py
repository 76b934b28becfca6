"""The fence in plain Python: what every script has to answer and to leave behind. An oracle, never a stand-in."""

from dataclasses import dataclass, field
from typing import Literal

from gateway.core.epoch import HIGHEST
from gateway.core.outcome import Outcome
from gateway.core.write import Write


@dataclass
class Ticket:
    write: Write
    sequence_before: int | None
    gives_epoch_back: bool


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
    tickets: dict[str, Ticket] = field(default_factory=dict)
    older: dict[str, Ticket] = field(default_factory=dict)
    records: dict[str, Outcome] = field(default_factory=dict)

    def admit(self, write: Write, id: str) -> str:
        """`admitted`, `older` or `busy` (wait), or the name of a refusal."""
        if id in self.tickets or id in self.older:
            return "admitted"
        refused = self._proof_is_bad(write)
        if refused:
            return refused
        if write.epoch != self.highest:
            self._raise(write.epoch, write.holder)
        elif self.holder is None:
            self.holder = write.holder
        fence = write.rule.fence
        if fence.order == "strict" and self.used:
            return "stale-epoch"
        if not self._is_in_sequence(write):
            return "out-of-sequence"
        counts = write.rule.revision == "gateway"
        if counts and write.if_revision is not None and write.if_revision != self.revision:
            return "revision-mismatch"
        if self.older:
            return "older"
        if fence.concurrency == "serial" and self.tickets:
            return "busy"
        self.tickets[id] = Ticket(write, self.sequence, fence.order == "strict")
        if fence.sequence != "off":
            self.sequence = write.sequence
        self.used = "perhaps" if fence.order == "strict" else "for good"
        return "admitted"

    def settle(self, write: Write, id: str, outcome: Outcome) -> bool:
        """Whether a newer epoch is the highest by now."""
        ticket = self.tickets.pop(id, None) or self.older.pop(id, None)
        if ticket is not None:
            self._end(ticket, id, outcome)
        elif self.records.get(id) == "unknown" and outcome != "unknown":
            self.records[id] = outcome
        elif id not in self.records:
            self._restore(write, id, outcome)
        assert self.highest is not None
        return write.epoch < self.highest

    def sweep(self, overdue: set[str]) -> int:
        """All overdue tickets end as unknown; returns how many."""
        ended = [id for id in (*self.tickets, *self.older) if id in overdue]
        for id in ended:
            self._end(self.tickets.pop(id, None) or self.older.pop(id), id, "unknown")
        return len(ended)

    def grant(self, holder: str, secret: bytes, takeover: bool, fresh: int) -> str:
        """`granted`, or a refusal. `fresh` is the epoch that a new lease has."""
        if self.lease == "live" and self.secret == secret:
            return "granted"
        if self.lease == "live" and not takeover:
            return "lease-held"
        if self.highest == HIGHEST:
            return "epochs-exhausted"
        self._raise(fresh, holder)
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

    def _is_in_sequence(self, write: Write) -> bool:
        match write.rule.fence.sequence:
            case "increasing":
                assert write.sequence is not None
                return self.sequence is None or write.sequence > self.sequence
            case "contiguous":
                return write.sequence == (self.sequence or 0) + 1
            case "off":
                return True

    def _raise(self, epoch: int, holder: str | None) -> None:
        self.highest, self.holder, self.used, self.sequence = epoch, holder, None, None
        self.secret, self.lease, self.advanced_by = None, "none", None
        self.older |= self.tickets
        self.tickets = {}

    def _end(self, ticket: Ticket, id: str, outcome: Outcome) -> None:
        write = ticket.write
        if outcome == "unknown":
            self.records[id] = "unknown"
        if outcome != "not_applied":
            self.revision += write.rule.revision == "gateway"
        elif write.epoch == self.highest:
            if write.rule.fence.sequence != "off" and write.sequence == self.sequence:
                self.sequence = ticket.sequence_before
            if ticket.gives_epoch_back and self.used == "perhaps":
                self.used = None

    def _restore(self, write: Write, id: str, outcome: Outcome) -> None:
        if self.highest is None or write.epoch > self.highest:
            self._raise(write.epoch, write.holder)
        if outcome == "unknown":
            self.records[id] = "unknown"
            self.revision += write.rule.revision == "gateway"
        if outcome == "not_applied" or write.epoch != self.highest:
            return
        self.used = self.used or "for good"
        if write.rule.fence.sequence != "off":
            self.sequence = max(write.sequence or 0, self.sequence or 0)
