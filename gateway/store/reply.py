"""Script replies as core values. A reply's first element is the word; a word that is not known here is a bug."""

from dataclasses import dataclass
from math import ceil
from typing import Literal

from gateway.core.decision import (
    EPOCHS_EXHAUSTED,
    HOLDER_MISMATCH,
    LEASE_EXPIRED,
    LEASE_HELD,
    LEASE_LOST,
    OUT_OF_SEQUENCE,
    REVISION_MISMATCH,
    STALE_EPOCH,
    TOKEN_INVALID,
    Decision,
    Facts,
    Refused,
)
from gateway.core.epoch import Epoch
from gateway.core.lease import Lease
from gateway.core.problem import instant
from gateway.core.write import AdmitReply, Admitted, ResourceKey, Settled, TicketId, Waiting, Write
from gateway.store.link import Reply

# The first words of a refusal's detail: what did not happen.
Undone = Literal["Not forwarded", "Not granted", "Not renewed", "Not released", "Not registered", "Not advanced"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A script's reply: the word, the store's clock when it ran, and what belongs to the word."""

    word: str
    now_ms: int
    rest: list[Reply]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call was about, as far as its refusal names it. `epoch` is None where the call asks for a new one."""

    undone: Undone
    resource: ResourceKey
    epoch: int | None
    sequence: int | None = None
    if_revision: int | None = None


@dataclass(frozen=True, slots=True)
class _Record:
    """What a refusal tells of the fence record; None where the record does not have it."""

    highest: int | None
    holder: str | None
    expires_at_ms: int | None
    revision: int


@dataclass(frozen=True, slots=True)
class FenceRecord:
    """A resource's fence at one instant of the store's clock. `expires_at_ms` is 0 without a lease or once released.

    `holder` is empty for an epoch that an operator advanced to and that nobody has claimed.
    """

    resource: ResourceKey
    now_ms: int
    epoch: Epoch
    holder: str
    revision: int
    expires_at_ms: int
    ttl_ms: int
    in_flight: int
    older_in_flight: int

    @property
    def lease(self) -> Lease | None:
        """The live lease."""
        if self.expires_at_ms <= self.now_ms:
            return None
        return Lease(self.resource, self.holder, self.epoch, self.ttl_ms, self.expires_at_ms, self.older_in_flight)


def read_answer(reply: Reply) -> Answer:
    assert isinstance(reply, list)
    word, now_ms, *rest = reply
    assert isinstance(word, bytes)
    assert isinstance(now_ms, int)
    return Answer(word.decode(), now_ms, rest)


def admit_reply(answer: Answer, write: Write, ticket: TicketId) -> AdmitReply:
    match answer.word:
        case "admitted":
            counts = write.rule.revision == "gateway"
            return Admitted(write, ticket, number(answer.rest[0]) if counts else None)
        case "wait-older":
            return Waiting("older", number(answer.rest[0]) / 1000)
        case "wait-busy":
            return Waiting("busy", number(answer.rest[0]) / 1000)
        case _:
            asked = Asked("Not forwarded", write.resource, write.epoch, write.sequence, write.if_revision)
            return refusal(answer, asked)


def settle_reply(answer: Answer, write: Write) -> Settled:
    if answer.word not in ("settled", "overtaken"):
        raise _unknown_word(answer)
    counts = write.rule.revision == "gateway"
    return Settled(answer.word == "overtaken", number(answer.rest[0]) if counts else None)


def lease_reply(answer: Answer, asked: Asked) -> Lease | Refused:
    if answer.word not in ("granted", "renewed", "released"):
        return refusal(answer, asked)
    epoch, holder, ttl_ms, expires_at_ms, in_flight, *left_ms = answer.rest
    return Lease(
        *(asked.resource, text(holder), Epoch(number(epoch))),
        *(number(ttl_ms), number(expires_at_ms), number(in_flight)),
        *map(number, left_ms),
    )


def register_reply(answer: Answer, asked: Asked) -> int | Refused:
    return number(answer.rest[0]) if answer.word == "registered" else refusal(answer, asked)


def advance_reply(answer: Answer, asked: Asked) -> Epoch | Refused:
    return Epoch(number(answer.rest[0])) if answer.word == "advanced" else refusal(answer, asked)


def look_reply(answer: Answer, resource: ResourceKey) -> FenceRecord | None:
    if answer.word == "unseen":
        return None
    epoch, holder, revision, expires_at_ms, ttl_ms, in_flight, older = answer.rest
    return FenceRecord(
        resource,
        answer.now_ms,
        Epoch(number(epoch)),
        text(holder),
        *map(number, (revision, expires_at_ms, ttl_ms, in_flight, older)),
    )


def refusal(answer: Answer, asked: Asked) -> Refused:
    """Two sentences that a model can act on: what did not happen and why, and what to do."""
    record = _record(answer)
    decision, why, what_to_do = _sentences(answer, asked, record)
    return Refused(decision, f"{asked.undone}: {why}. {what_to_do}", _facts(decision, answer, asked, record))


def number(reply: Reply) -> int:
    """An integer, or its decimal text."""
    assert isinstance(reply, int | bytes)
    return int(reply)


def text(reply: Reply) -> str:
    assert isinstance(reply, bytes)
    return reply.decode()


def _record(answer: Answer) -> _Record:
    if len(answer.rest) != 4:
        raise _unknown_word(answer)
    highest, holder, expires, revision = map(text, answer.rest)
    return _Record(int(highest) if highest else None, holder or None, int(expires) if expires else None, int(revision))


def _sentences(answer: Answer, asked: Asked, record: _Record) -> tuple[Decision, str, str]:
    resource, epoch = asked.resource, asked.epoch
    match answer.word:
        case "stale-epoch" if record.highest == epoch:
            return STALE_EPOCH, f"epoch {epoch} of {resource} has made its one write", "Stop, or acquire a new epoch."
        case "stale-epoch":
            why = f"epoch {record.highest} rules {resource}, and epoch {epoch} is not newer"
            return STALE_EPOCH, why, "Stop: another holder has taken over."
        case "token-invalid":
            why = f"the token does not belong to a lease of {resource}"
            return TOKEN_INVALID, why, "Acquire a lease and send its token as it was given."
        case "holder-mismatch":
            why = f"epoch {epoch} of {resource} belongs to another holder"
            return HOLDER_MISMATCH, why, "Stop, or acquire an epoch of your own."
        case "lease-expired":
            why = f"the lease of epoch {epoch} on {resource} has expired or was released"
            return LEASE_EXPIRED, why, "Acquire a new lease, and read the resource again before writing."
        case "out-of-sequence":
            why = f"Fencing-Sequence {asked.sequence} repeats or skips a place in epoch {epoch} of {resource}"
            return OUT_OF_SEQUENCE, why, "Stop: a write was repeated, or one before it is missing."
        case "revision-mismatch":
            why = f"the change was based on revision {asked.if_revision}, and {resource} is at {record.revision}"
            return REVISION_MISMATCH, why, "Read the resource again and base the change on what it holds now."
        case "lease-held":
            until = instant(record.expires_at_ms or answer.now_ms)
            return LEASE_HELD, f"{record.holder} has the lease of {resource} until {until}", "Wait for it to end."
        case "lease-lost":
            why = f"the lease of epoch {epoch} on {resource} has expired, was released or was overtaken"
            return LEASE_LOST, why, "Acquire a new lease, and read the resource again before writing."
        case "epochs-exhausted":
            return EPOCHS_EXHAUSTED, f"{resource} has used the largest epoch there is", "Stop and tell an operator."
        case _:
            raise _unknown_word(answer)


def _facts(decision: Decision, answer: Answer, asked: Asked, record: _Record) -> Facts:
    """Who has no valid token is not told who has."""
    held = decision is LEASE_HELD
    told_holder = held or decision in (STALE_EPOCH, HOLDER_MISMATCH, LEASE_LOST)
    left_ms = (record.expires_at_ms or 0) - answer.now_ms
    return Facts(
        resource=asked.resource,
        epoch=asked.epoch,
        highest_epoch=None if decision is TOKEN_INVALID else record.highest,
        revision=record.revision if decision is REVISION_MISMATCH else None,
        holder=record.holder if told_holder else None,
        expires_at_ms=record.expires_at_ms if held else None,
        retry_after_s=max(1, ceil(left_ms / 1000)) if held else None,
    )


def _unknown_word(answer: Answer) -> AssertionError:
    return AssertionError(f"a script answered {answer.word!r} with {len(answer.rest)} more elements")
