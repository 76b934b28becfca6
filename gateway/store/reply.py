"""Script replies as core values. A reply's first element is the word; a word that is not known here is a bug."""

import json
from dataclasses import dataclass
from typing import cast

from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId, ResolvedBy, State
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.parking import parse_parking
from gateway.core.quota import Counted, lease_entry
from gateway.core.record import IntentRecord
from gateway.core.write import (
    AdmitReply,
    Admitted,
    Extended,
    ExtendReply,
    Incident,
    Lapsed,
    Ready,
    Replayed,
    ResourceKey,
    Settled,
    TicketId,
    Waiting,
    Write,
)
from gateway.store.answer import Answer, fields, number, text, unknown_word
from gateway.store.kept import inflate_answer
from gateway.store.keys import intent_id
from gateway.store.links.link import Reply
from gateway.store.refusal import Asked, Undone, refusal


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


def admit_reply(answer: Answer, write: Write, ticket: TicketId) -> AdmitReply:
    match answer.word:
        case "admitted":
            return _admitted(answer, write, ticket)
        case "replayed":
            return _replayed(answer, write)
        case "wait-older":
            return Waiting("older", number(answer.rest[0]) / 1000)
        case "wait-busy":
            return Waiting("busy", number(answer.rest[0]) / 1000)
        case _:
            return refusal(answer, _asked("Not forwarded", write))


def ready(answer: Answer) -> Ready:
    return Ready(text(answer.rest[0]) != "")


def park_reply(answer: Answer, write: Write) -> Replayed | Refused:
    """What is said of a write that was not parked."""
    if answer.word == "replayed":
        return _replayed(answer, write)
    return refusal(answer, _asked("Not taken", write))


def _asked(undone: Undone, write: Write) -> Asked:
    has_lease = write.secret_digest is not None
    # Before the body is read its key may not be known.
    is_keyed = write.intent is not None or write.rule.intent.mode == "required"
    return Asked(
        undone, write.resource, write.epoch, write.sequence, write.if_revision, has_lease=has_lease, is_keyed=is_keyed
    )


def _admitted(answer: Answer, write: Write, ticket: TicketId) -> Admitted:
    revision, attempt, doubt, sent_ms = answer.rest
    counts = write.rule.revision == "gateway"
    intent = intent_of(write, ticket)
    counted = number(revision) if counts else None
    in_doubt = text(doubt) != ""
    return Admitted(write, ticket, counted, intent, number(attempt), in_doubt, answer.era, number(sent_ms))


def _replayed(answer: Answer, write: Write) -> Replayed:
    kept, resolved, evidence = answer.rest
    resolved_by, is_own = resolved_word(text(resolved))
    assert write.intent is not None and isinstance(kept, bytes) and isinstance(evidence, bytes)
    return Replayed(
        write,
        intent_id(write.resource, write.intent.digest),
        inflate_answer(kept) if kept else None,
        resolved_by,
        evidence if is_own else b"",
    )


def settle_reply(answer: Answer, write: Write) -> Settled:
    if answer.word not in ("settled", "overtaken"):
        raise unknown_word(answer)
    revision, outcome, incident = answer.rest
    counts = write.rule.revision == "gateway"
    return Settled(
        answer.word == "overtaken",
        number(revision) if counts else None,
        cast(Outcome, text(outcome)),
        cast(Incident, text(incident)) if incident else None,
    )


def extend_reply(answer: Answer, write: Write) -> ExtendReply:
    match answer.word:
        case "extended":
            (left_ms,) = answer.rest
            return Extended(None if left_ms == b"" else number(left_ms) / 1000)
        case "lapsed":
            return Lapsed()
        case _:
            return refusal(answer, _asked("Not forwarded", write))


def peek_reply(answer: Answer, write: Write) -> Refused | None:
    if answer.word == "passable":
        return None
    return refusal(answer, _asked("Not forwarded", write))


def record_of(shown: list[Reply]) -> IntentRecord:
    """The record that a script shows: names and values in turn."""
    told = fields(shown)
    about = text(told["about"])
    key, tenant, target = json.loads(about) if about else (None, "", "")
    kept, evidence = told["answer"], told["evidence"]
    fingerprint = told["fingerprint"]
    resolved_by, is_own = resolved_word(text(told["resolved_by"]))
    assert isinstance(kept, bytes) and isinstance(evidence, bytes) and isinstance(fingerprint, bytes)
    return IntentRecord(
        IntentId(text(told["id"])),
        cast(State, text(told["state"])),
        text(told["upstream"]),
        text(told["rule"]),
        ResourceKey(text(told["resource"])),
        Epoch(number(told["epoch"])),
        text(told["holder"]),
        key,
        tenant,
        target,
        number(told["attempts"]),
        number(told["created_at"]),
        number(told["updated_at"]),
        text(told["reason"]),
        resolved_by,
        inflate_answer(kept) if kept else None,
        evidence,
        text(told["principal"]),
        parse_parking(text(told["parking"])),
        fingerprint,
        IntentId(text(told["compensates"])) if told["compensates"] else None,
        is_own,
        number(told["no_after"] or 0) / 1000,
        text(told["native"]).partition("@")[2],
    )


def kept_s(answer: Answer) -> float:
    """For how long the record that a script shows is kept, if it has ended."""
    told = fields(answer.rest)
    return (number(told["updated_at"]) + number(told["retain"]) - answer.now_ms) / 1000


def intent_of(write: Write, ticket: TicketId) -> IntentId:
    """The id of a write's record: the ticket's where the write is no intent."""
    return IntentId(ticket) if write.intent is None else intent_id(write.resource, write.intent.digest)


# Of a query that asked for one intent and nothing else; what older gateways kept as `query` may be about another's.
OWN_QUERY = "own-query"


def resolved_word(word: str) -> tuple[ResolvedBy | None, bool]:
    """Who resolved an intent, and whether it was a query that named this very one."""
    if word == OWN_QUERY:
        return "query", True
    return cast(ResolvedBy, word) if word else None, False


def lease_reply(answer: Answer, asked: Asked) -> Lease | Refused:
    if answer.word not in ("granted", "renewed", "released"):
        return refusal(answer, asked)
    epoch, holder, ttl_ms, expires_at_ms, in_flight, *more = answer.rest
    is_grant = answer.word == "granted"
    return Lease(
        *(asked.resource, text(holder), Epoch(number(epoch))),
        *(number(ttl_ms), number(expires_at_ms), number(in_flight)),
        left_ms=None if is_grant or not more else number(more[0]),
        overtakes=_overtaken(asked.resource, *more) if is_grant and more else None,
    )


def _overtaken(resource: ResourceKey, epoch: Reply, secret_digest: Reply, principal: Reply) -> Counted:
    assert isinstance(secret_digest, bytes)
    return Counted(text(principal), lease_entry(resource, number(epoch), secret_digest))


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
