"""One write that is not sent now: it is taken into the queue of its resource, or until somebody approves it.

    read ─ park ─ (wait) ─ reply

Nothing is promised before the store has it; afterwards its delivery no longer depends on its caller.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol

from gateway.core.clock import Clock
from gateway.core.coding import body_too_large
from gateway.core.decision import (
    APPROVAL_DENIED,
    AWAITING_APPROVAL,
    FORWARDED,
    INTENT_IN_PROGRESS,
    INTENT_MISMATCH,
    NO_POLICY,
    OUTCOME_UNKNOWN,
    QUEUED,
    REFUSAL_NOT_KEPT,
    STALE_EPOCH,
    STORE_UNAVAILABLE,
    UPSTREAM_UNREACHABLE,
    Decision,
    Facts,
    Refused,
)
from gateway.core.delivery import NO_LONGER_TAKEN
from gateway.core.faults import BodyTooLarge, CallerGone, NoRoom, PoliciesChanged, StoreUnavailable
from gateway.core.intent import TOOK_EFFECT, KeptAnswer
from gateway.core.kept_request import keep_request
from gateway.core.prefer import preferred_wait_s
from gateway.core.record import IntentRecord
from gateway.core.request import Request
from gateway.core.write import Replayed, Write
from gateway.flow.admission import RETRY_AFTER_S, Admission, store_is_away
from gateway.flow.marks import Marks
from gateway.flow.ports import BodySource, Caller
from gateway.flow.quarantine import Quarantine
from gateway.flow.queue import ParkingStore
from gateway.flow.replay import addressed, answer_of, replay
from gateway.flow.room import PATIENCE_S, Room, no_room
from gateway.flow.standing import Standing
from gateway.flow.whole import at_hand, read_to_end, read_whole

# Of whoever prefers to wait: between two looks at the record. Most deliveries take less than the first few of them.
_FIRST_LOOK_S = 0.02
_LONGEST_LOOK_S = 0.5
# How the reason of a delivery begins that its upstream has answered (sending.py).
_ANSWERED = "answered "
# States of which nothing can be told yet.
_PARKED = frozenset({"awaiting_approval", "queued", "in_flight"})


class Delivers(Protocol):
    """This process's deliverer."""

    @property
    def is_stopping(self) -> bool:
        """Whether the process ends, so that nobody should wait for a delivery here."""
        ...

    def nudge(self) -> None:
        """Something was queued."""
        ...


class Parking:
    """Takes writes that their rules send later. `standing`: None where nobody's right can change."""

    def __init__(
        self,
        store: ParkingStore,
        admission: Admission,
        quarantine: Quarantine,
        room: Room,
        clock: Clock,
        deliverer: Delivers,
        standing: Standing | None = None,
    ) -> None:
        self._store = store
        self._admission = admission
        self._quarantine = quarantine
        self._room = room
        self._clock = clock
        self._deliverer = deliverer
        self._standing = standing

    async def run(self, write: Write, request: Request, body: BodySource, caller: Caller) -> Marks | Refused:
        """Take it, or answer from the intent's record; returns what the caller was told.

        Raises CallerGone, and PoliciesChanged when its rule is no longer in force once its body is here.
        """
        caller.proceed()
        request.enter("park")
        size = await _arrived(write, body)
        if isinstance(size, Refused):
            return _refuse(caller, size)
        asked = _Asked(write, request, body, preferred_wait_s(request.headers))
        found = await self._park(asked, size, caller)
        if isinstance(found, Refused):
            if write.rule.on_stale == "quarantine":
                found = await self._quarantine.kept(write, found, request, body, caller)
            return _refuse(caller, await self._with_note(found))
        if isinstance(found, IntentRecord):
            self._deliverer.nudge()
            if asked.waits_s:
                # Without a place its caller is told at once that it was taken, as one who does not prefer to wait.
                with self._admission.places.taken("answer") as has_place:
                    if has_place:
                        request.enter("wait")
                        found = await self._wait(found, asked, asked.waits_s, caller)
                        if isinstance(found, Refused):
                            return _refuse(caller, found)
                    else:
                        asked = replace(asked, waits_s=None)
        return await self._tell(found, asked, caller)

    async def _with_note(self, refused: Refused) -> Refused:
        """Where somebody has denied it: with their note, which only the record has."""
        if refused.decision is not APPROVAL_DENIED or refused.facts.intent is None:
            return refused
        try:
            record = await self._store.recall(refused.facts.intent)
        except StoreUnavailable:
            return refused
        return refused if record is None or record.state != "denied" else _ended(record)

    async def _park(self, asked: "_Asked", size: int, caller: Caller) -> IntentRecord | Replayed | Refused:
        """Its body is in memory only while this lasts, and not while its caller waits for an answer."""
        write = asked.write
        async with self._room.taken(size, PATIENCE_S) as has_room:
            if not has_room:
                return no_room(write, "too many large bodies are taken at once")
            whole = await read_whole(asked.body, size)
            if caller.is_gone():
                raise CallerGone("the caller left before its write was taken")
            kept = keep_request(asked.request, whole, write.rule.upstream)
            try:
                return await self._store.park(write, kept, lambda: self._barred(write))
            except StoreUnavailable as away:
                return _perhaps_taken(away)

    async def _barred(self, write: Write) -> Refused | None:
        if write.rule.upstream.term.is_over:
            raise PoliciesChanged
        try:
            return await self._admission.barred(write)
        except StoreUnavailable as away:
            return store_is_away(away)

    async def _wait(
        self, record: IntentRecord, asked: "_Asked", within_s: float, caller: Caller
    ) -> IntentRecord | Refused:
        """The record once it has ended, or as it is when the time is over. Refused: it is another request's by now, or
        its caller has lost the right to it."""
        end, look_s = self._clock.after(within_s), _FIRST_LOOK_S
        try:
            while record.state in _PARKED and (left := self._clock.left(end)) > 0:
                if caller.is_gone() or self._deliverer.is_stopping:
                    break
                await asyncio.sleep(min(look_s, left))
                look_s = min(2 * look_s, _LONGEST_LOOK_S)
                later = await self._look(record)
                lost = await self._lost(asked)
                if lost is not None:
                    return lost
                if not _is_same(record, later):
                    return _given_away(record, later)
                record = later
        except asyncio.CancelledError:
            # The gateway is stopped: what was taken stays taken, and the caller should know it.
            if not caller.has_begun():
                caller.park(Marks(_decision(record), record.epoch, intent=record.id), record, None)
            raise
        return record

    async def _lost(self, asked: "_Asked") -> Refused | None:
        """Why its caller is told no more of it: asked once other policies are in force, and else it costs a look."""
        write, headers = asked.write, asked.request.headers
        if self._standing is None or not write.rule.upstream.term.is_over:
            return None
        if write.expires is not None and self._clock.left(write.expires) <= 0:
            # A claim that ends in its own time while its caller waits takes nothing from it.
            lost = self._standing.barred(write, headers)
        else:
            lost = await self._standing.lost(write, headers)
        return None if lost is None else _without_answer(lost)

    async def _tell(self, found: IntentRecord | Replayed, asked: "_Asked", caller: Caller) -> Marks | Refused:
        """What has become of it by now."""
        if isinstance(found, IntentRecord) and found.state in TOOK_EFFECT:
            kept = None if found.answer is None else _after_waiting(found.answer, asked.waits_s)
            evidence = found.evidence if found.evidence_is_own else b""
            found = Replayed(asked.write, found.id, kept, found.resolved_by, evidence)
        answer = await self._answer(found, asked)
        lost = await self._lost(asked)
        if lost is not None:
            return _refuse(caller, lost)
        if isinstance(found, Replayed):
            assert answer is not None
            return replay(found, answer, caller)
        if found.state in _PARKED:
            marks = Marks(_decision(found), found.epoch, intent=found.id)
            caller.park(marks, found, asked.waits_s)
            return marks
        if answer is None or isinstance(answer, Refused):
            return _refuse(caller, _ended(found))
        # The upstream has refused it, and says why: that is what its caller has waited for.
        marks = Marks(FORWARDED, found.epoch, "not_applied", intent=found.id)
        caller.replay(marks, answer)
        return marks

    async def _answer(self, found: IntentRecord | Replayed, asked: "_Asked") -> KeptAnswer | Refused | None:
        """That of the upstream, if it is told."""
        limit, called = asked.write.rule.upstream.limits.body, None
        if found.answer is not None:
            called = await at_hand(asked.body, self._room, limit)
        if isinstance(found, Replayed):
            return await answer_of(found, asked.request, called)
        if found.answer is None or found.state not in ("failed", "not_applied"):
            return None
        return await addressed(_after_waiting(found.answer, asked.waits_s), asked.request, called or b"", limit)

    async def _look(self, record: IntentRecord) -> IntentRecord:
        try:
            return await self._store.recall(record.id) or record
        except StoreUnavailable:
            return record


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was sent. `waits_s`: for how long its caller would rather wait than be told that it was taken."""

    write: Write
    request: Request
    body: BodySource
    waits_s: int | None


async def _arrived(write: Write, body: BodySource) -> int | Refused:
    """The body's size, once all of it is here."""
    limit = write.rule.upstream.limits.body
    if body.length is not None and body.length > limit:
        return body_too_large(limit)
    try:
        size = await read_to_end(body)
    except BodyTooLarge:
        return body_too_large(limit)
    except NoRoom as error:
        return no_room(write, str(error))
    return size if size <= limit else body_too_large(limit)


def _is_same(record: IntentRecord, later: IntentRecord) -> bool:
    """Whether a record still tells of the request that was kept: a key that is free may be used for another one.

    One without a kept request was written anew after the store had lost it.
    """
    if record.parking is None or later.parking is None:
        return record.fingerprint == later.fingerprint
    return record.parking.digest == later.parking.digest


def _given_away(record: IntentRecord, later: IntentRecord) -> Refused:
    """What is told of one whose record is another request's by now. Only of what was not applied is a key free."""
    facts = Facts(resource=record.resource, epoch=record.epoch)
    if later.created_at_ms != record.created_at_ms:
        detail = "Nobody can tell what became of it: its record is gone, and its key was used for another since."
        return Refused(OUTCOME_UNKNOWN, f"{detail} Look at the resource before you go on.", facts)
    ended = "Not applied: it was refused, or has ended without being sent, and"
    if later.fingerprint != record.fingerprint:
        detail = f"{ended} its key was used for another request since. If it should still be done, give it a new key."
        return Refused(INTENT_MISMATCH, detail, facts)
    # By another key it might be done twice: by its rule the other one says the same.
    detail = f"{ended} the same intent was asked for again since. Repeat it with the same key for what became of that."
    about = replace(facts, intent=later.id, intent_state=later.state, retry_after_s=RETRY_AFTER_S)
    return Refused(INTENT_IN_PROGRESS, detail, about)


def _without_answer(refused: Refused) -> Refused:
    """As its caller's next request would be refused, but for the beginning: of this one something was done."""
    _, _, why = refused.detail.partition(": ")
    detail = f"What was taken is not ended by this, but its answer is withheld: {why or refused.detail}"
    return replace(refused, detail=detail)


def _perhaps_taken(away: StoreUnavailable) -> Refused:
    """The store may have taken it and could not say so: then it is sent, and a repeat under its key finds it."""
    detail = "Nobody knows whether it was taken: the store went away meanwhile. Repeat it with the same key."
    return Refused(STORE_UNAVAILABLE, detail, Facts(retry_after_s=RETRY_AFTER_S), str(away))


def _decision(record: IntentRecord) -> Decision:
    return AWAITING_APPROVAL if record.state == "awaiting_approval" else QUEUED


def _refuse(caller: Caller, refused: Refused) -> Refused:
    caller.refuse(refused)
    return refused


def _after_waiting(answer: KeptAnswer, waited_s: int | None) -> KeptAnswer:
    """RFC 7240, section 3: what was preferred, and done."""
    applied = (b"Preference-Applied", b"wait=%d" % (waited_s or 0))
    return KeptAnswer(answer.status, (*answer.headers, applied), answer.body)


def _ended(record: IntentRecord) -> Refused:
    """What is told of one that ended without an effect, or nobody knows how."""
    facts = Facts(resource=record.resource, epoch=record.epoch, intent=record.id, intent_state=record.state)
    match record.state:
        case "unknown":
            detail = "The write was sent and may or may not have happened. Do not send it under another key."
            return Refused(OUTCOME_UNKNOWN, detail, facts, record.reason)
        case "denied":
            detail = f"Not forwarded: an approver has denied this intent ({record.reason}). Stop."
            return Refused(APPROVAL_DENIED, detail, facts)
        case "expired":
            detail = "Not forwarded: nobody approved it in time. Repeat it if it should still be done."
            return Refused(APPROVAL_DENIED, detail, facts)
        case "superseded":
            detail = "Not forwarded: a newer epoch rules its resource. Stop: another holder has taken over."
            return Refused(STALE_EPOCH, detail, facts)
        case "failed" if record.reason.startswith(_ANSWERED):
            detail = (
                f"Not applied: the upstream has {record.reason}, and its answer was too large to keep. "
                "Correct the request; its key is free."
            )
            return Refused(REFUSAL_NOT_KEPT, detail, facts, record.reason)
        case "failed" if record.reason.startswith(NO_LONGER_TAKEN):
            detail = "Not forwarded: the policy has changed since it was taken, and its rule no longer takes it."
            return Refused(NO_POLICY, f"{detail} Stop; an operator sees why.", facts, record.reason)
        case _:
            detail = (
                f"Not applied: its delivery has failed ({record.reason}). Repeat it with the same key to try again."
            )
            return Refused(UPSTREAM_UNREACHABLE, detail, replace(facts, retry_after_s=RETRY_AFTER_S), record.reason)
