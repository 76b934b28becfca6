"""Intents in plain Python: what is known of one, and what an attempt's evidence makes of it."""

import itertools
from dataclasses import dataclass, field
from typing import Literal

from gateway.core.intent import IntentId, KeptAnswer, ResolvedBy, State
from gateway.core.outcome import Outcome
from gateway.core.write import Incident, Write

Resolution = Literal["applied", "not_applied", "duplicated"]
TOOK_EFFECT = ("applied", "compensating", "compensated")

# What became unknown first holds first.
_order = itertools.count(1)


@dataclass(frozen=True)
class Step:
    """One event of the audit trail: a step, or an incident, which moves nothing."""

    intent: str
    before: str
    after: str
    incident: str = ""


@dataclass
class Record:
    """An intent, or a write without a key that ended unknown. `ticket`, `write` and `holder` are its newest attempt's.

    `doubtful`: an attempt before this one may have been executed; `native`: and the upstream refuses the second;
    `done_before`: one was executed, as turned out since. `unknown_since`: the order in which records became unknown, 0
    for one that is not in doubt; `holds`: while it is, nothing else of its resource is admitted. `no_after_s`: from its
    end as unknown on, how long no query's no counts at least, by the rules that its attempts in doubt were sent by.
    `former`: the tickets of its last attempts before this one, which are known once more.
    """

    id: IntentId
    write: Write
    holder: str
    ticket: str
    attempts: int = 0
    state: State | Literal[""] = ""
    answer: KeptAnswer | None = None
    resolved_by: ResolvedBy | None = None
    evidence: bytes = b""
    doubtful: bool = False
    native: bool = False
    done_before: bool = False
    incidents: dict[str, Incident] = field(default_factory=dict)
    resolution: tuple[str, str, str] | None = None
    unknown_since: int = 0
    holds: bool = False
    no_after_s: float = 0.0
    former: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.holds = self.write.rule.fence.after_unknown == "hold"
        self.no_after_s = _no_after_s(self.write)

    def is_of(self, write: Write) -> bool:
        """Whether they say the same."""
        mine, other = self.write.intent, write.intent
        return mine is not None and other is not None and mine.fingerprint == other.fingerprint

    def conclude(self, proved: Outcome) -> Outcome:
        """What its attempt's outcome says of the intent."""
        if self.done_before:
            return "applied"
        return "unknown" if self.doubtful and proved == "not_applied" else proved

    def step(self, to: State, trail: list[Step]) -> None:
        trail.append(Step(self.id, self.state, to))
        self.state, self.resolution = to, None
        if to == "unknown":
            self.unknown_since = next(_order)
        elif to != "in_flight":
            self.unknown_since = 0

    def end(self, outcome: Outcome, answer: KeptAnswer | None, trail: list[Step]) -> None:
        if outcome == "applied" and answer is not None:
            self.answer = answer
        self.step(outcome, trail)

    def begin(self, write: Write, holder: str, ticket: str, trail: list[Step]) -> None:
        """A further attempt. What was known of the ones before is forgotten, but for the doubt."""
        self.doubtful = self.native = self.state == "unknown"
        self.no_after_s = max(self.no_after_s if self.doubtful else 0.0, _no_after_s(write))
        self.done_before = False
        held = self.state == "unknown" and self.holds
        self.unknown_since = self.unknown_since if held else 0
        self.holds = held or write.rule.fence.after_unknown == "hold"
        if self.attempts:
            self.former = [self.ticket, *self.former][:3]
        self.write, self.holder, self.ticket = write, holder, ticket
        self.attempts += 1
        self.answer, self.resolved_by, self.evidence = None, None, b""
        self.step("in_flight", trail)

    def report(self, kind: Incident, ticket: str, trail: list[Step]) -> Incident:
        self.incidents[ticket] = kind
        trail.append(Step(self.id, self.state, self.state, kind))
        return kind

    def learn(self, proved: Outcome, answer: KeptAnswer | None, trail: list[Step]) -> Incident | None:
        """What the newest attempt proved: at its end, or after it was given up, or after it was resolved."""
        concluded = self.conclude(proved)
        if self.state == "in_flight" or (self.state == "unknown" and concluded != "unknown"):
            self.end(concluded, answer if proved == "applied" else None, trail)
        elif self.state in TOOK_EFFECT and proved == "applied":
            self.answer = self.answer or answer
        elif self.state in TOOK_EFFECT and concluded == "not_applied":
            return self.report("late-write", self.ticket, trail)
        elif self.state == "not_applied" and proved == "applied":
            self._overrule(answer, trail)
            return self.report("late-write", self.ticket, trail)
        if self.done_before and not self.native and proved == "applied":
            return self.report("duplicate-effect", self.ticket, trail)
        return None

    def learn_of_another(
        self, ticket: str, proved: Outcome, answer: KeptAnswer | None, lost: bool, trail: list[Step]
    ) -> Incident | None:
        """What another attempt proved. `lost`: a failover lost it, and nobody has judged it."""
        if proved == "unknown" and lost and self.state == "in_flight":
            self.doubtful = True
        if proved != "applied":
            return None
        kind: Incident = "duplicate-effect" if self.state in TOOK_EFFECT else "late-write"
        if self.state == "in_flight":
            self.done_before, self.answer = True, answer
        elif self.state in TOOK_EFFECT:
            self.answer = self.answer or answer
        else:
            self._overrule(answer, trail)
        return None if self.native else self.report(kind, ticket, trail)

    def resolve(self, outcome: Resolution, by: ResolvedBy, reason: str, evidence: bytes, trail: list[Step]) -> str:
        state: State = "not_applied" if outcome == "not_applied" else "applied"
        if self.resolution == (state, by, reason):
            return "resolved"
        if self.state != "unknown":
            return "wrong-state"
        self.resolved_by, self.evidence = by, evidence
        self.step(state, trail)
        self.resolution = (state, by, reason)
        if outcome == "duplicated":
            trail.append(Step(self.id, state, state, "duplicate-effect"))
        return "resolved"

    def _overrule(self, answer: KeptAnswer | None, trail: list[Step]) -> None:
        self.resolved_by, self.evidence = None, b""
        self.end("applied", answer, trail)


def _no_after_s(write: Write) -> float:
    return 0.0 if write.intent is None else write.rule.intent.no_after_s
