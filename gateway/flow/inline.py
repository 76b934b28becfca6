"""One write, from admission to reply: the file to read first.

    admit ─ send ─ judge ─ settle ─ reply

Whatever happens after admission, the ticket is settled exactly once (G5): with what the wire proved, or as unknown if
the gateway is stopped in between. What the caller does meanwhile changes nothing of it.
"""

import asyncio

from gateway.core.clock import Clock, Deadline
from gateway.core.coding import over_stream_limit
from gateway.core.decision import FORWARDED, OUTCOME_UNKNOWN, REPLAYED, UPSTREAM_UNREACHABLE, Facts, Refused
from gateway.core.faults import BrokenAnswer, PoliciesChanged
from gateway.core.observed import is_observable
from gateway.core.outcome import NoReply, NotSent, Outcome, Overdue, judge
from gateway.core.places import overloaded
from gateway.core.request import Request
from gateway.core.session import Switched
from gateway.core.write import Admitted, Replayed, Write
from gateway.flow.admission import RETRY_AFTER_S, Admission
from gateway.flow.keeping import Keeping
from gateway.flow.marks import Marks
from gateway.flow.observe import Observed, Observing
from gateway.flow.ports import Answer, BodySource, Caller, Observer, Sender, Store
from gateway.flow.quarantine import Quarantine
from gateway.flow.replay import answer_of, replay
from gateway.flow.room import Room
from gateway.flow.session import Held, Sessions
from gateway.flow.standing import Standing
from gateway.flow.tasks import Tasks
from gateway.flow.ticket import Ticket
from gateway.flow.whole import at_hand

# An answer up to this size is held until the write is settled, so that its caller is told the outcome as recorded.
_SMALL = 64 << 10
_AS_IT_COMES = -1
# A caller for whom this much was waited, all in all, loses its answer: an outcome never depends on its caller's pace.
_CALLER_PATIENCE_S = 5.0
# How often a write whose gateway slept past its ticket's deadline is admitted anew, before its caller is sent away.
_ADMISSIONS = 3


class Inline:
    """Forwards writes while their callers wait."""

    def __init__(
        self,
        admission: Admission,
        store: Store,
        sender: Sender,
        clock: Clock,
        tasks: Tasks,
        observer: Observer,
        standing: Standing | None = None,
    ) -> None:
        self._admission = admission
        self._store = store
        self._sender = sender
        self._clock = clock
        self._tasks = tasks
        self._observer = observer
        self.observing = Observing(store, sender, clock, observer, standing)
        self.places = admission.places
        self.room = Room(places=self.places)
        self.quarantine = Quarantine(store, observer, clock)
        self._sessions = Sessions(admission, store, clock, observer, standing)

    async def run(self, write: Write, request: Request, body: BodySource, caller: Caller) -> Marks | Refused:
        """Admit and forward, or answer from the intent's record; returns what the caller was told.

        Raises PoliciesChanged when it had to wait and its rule is no longer in force: nothing was sent.
        """
        for _ in range(_ADMISSIONS):
            asked = self._clock.boot()
            request.enter("admit")
            got = await self._admission.admit(write, caller.is_gone, request.trace)
            if isinstance(got, Replayed | Refused):
                return await self._not_admitted(write, got, request, body, caller)
            told = await self._forward(got, asked, request, body, caller)
            if isinstance(told, Held):
                request.enter("session")
                return await self._sessions.run(told, caller)
            if told is not None:
                return told
            body.rewind()
            if write.rule.upstream.term.is_over:
                raise PoliciesChanged
        refused = _unreachable(write, "this gateway was paused past the write's deadline each time")
        caller.refuse(refused)
        return refused

    async def _not_admitted(
        self, write: Write, found: Replayed | Refused, request: Request, body: BodySource, caller: Caller
    ) -> Marks | Refused:
        would = REPLAYED if isinstance(found, Replayed) else found.decision
        if write.rule.mode == "observe" and is_observable(would):
            if paused := await self._admission.paused_by_now(write):
                caller.refuse(paused)
                return paused
            return await self.observing.run(Observed(write.rule, would, write.epoch), request, body, caller)
        if isinstance(found, Replayed):
            called = await at_hand(body, self.room, write.rule.upstream.limits.body)
            answer = await answer_of(found, request, called)
            if write.rule.upstream.term.is_over:
                raise PoliciesChanged
            return replay(found, answer, caller)
        if write.rule.on_stale == "quarantine":
            found = await self.quarantine.kept(write, found, request, body, caller)
        caller.refuse(found)
        return found

    async def _forward(
        self, got: tuple[Admitted, Deadline], asked: float, request: Request, body: BodySource, caller: Caller
    ) -> Marks | Refused | Held | None:
        """Send under the ticket and settle it; the ticket of a session is settled when that ends. `asked` is when the
        store was asked first: what lies between that and the deadline's anchor was waiting.

        None: the deadline passed before the first byte; ask again.
        """
        admitted, deadline = got
        upstream = admitted.write.rule.upstream
        began = self._clock.boot()
        ticket = Ticket(self._store, self._tasks, self._observer, admitted, request.trace)
        request.enter("forward")
        try:
            self._observer.sent(upstream)
            caller.proceed()
            send = self._sender.send if admitted.write.rule.upgrade is None else self._sender.switch
            answer = await send(admitted, request, ticket.sent(body), deadline)
            if isinstance(answer, Switched):
                return Held(ticket.hand_on(), answer, deadline, request.headers)
            if isinstance(answer, Overdue):
                self._tasks.spawn(ticket.listen(answer))
                return await self._unanswered(ticket, answer.evidence, caller)
            if isinstance(answer, NotSent | NoReply):
                return await self._unanswered(ticket, answer, caller)
            try:
                waited_s = deadline.boot - upstream.timeouts.total_s - asked
                return await self._answered(ticket, answer, caller, began - waited_s)
            finally:
                answer.close()
        except asyncio.CancelledError:
            # The gateway is stopped and can wait no longer.
            if not caller.has_begun():
                caller.refuse(_unknown(admitted, "the gateway was stopped"))
            raise
        finally:
            ticket.close()
            self._observer.ended(upstream, (ticket.known_at or self._clock.boot()) - began)

    async def _unanswered(self, ticket: Ticket, evidence: NotSent | NoReply, caller: Caller) -> Refused | None:
        admitted = ticket.admitted
        ticket.known_at = self._clock.boot()
        refused = _without_answer(admitted, evidence)
        try:
            outcome = judge(admitted.write.rule.upstream.outcomes, evidence)
            await ticket.settle(outcome, evidence.detail)
        except asyncio.CancelledError:
            # The gateway is stopped; what is to be told of the write is known all the same.
            caller.refuse(refused)
            raise
        if isinstance(evidence, NotSent) and evidence.cause == "late":
            return None
        caller.refuse(refused)
        return refused

    async def _answered(self, ticket: Ticket, answer: Answer, caller: Caller, since: float) -> Marks | Refused:
        """`since`: when it would have been sent, had it only waited as long as it did."""
        admitted = ticket.admitted
        keeping = ticket.hearing(answer)
        try:
            body, whole = await answer.read_small(_AS_IT_COMES if answer.is_stream else _SMALL)
        except BrokenAnswer as broken:
            await ticket.settle("unknown", str(broken))
            refused = _unknown(admitted, str(broken))
            caller.refuse(refused)
            return refused
        body = keeping.take(body)
        if whole:
            body += keeping.rest()
            ticket.known_at = self._clock.boot()
            outcome, kept = keeping.concluded()
            settled = await ticket.settle(outcome, f"answered {answer.status}", kept)
            revision = settled.revision if settled else None
            marks = _marks(admitted, settled.outcome if settled else outcome, revision, ticket.known_at - since)
            caller.reply(marks, answer, body)
            return marks
        foretold = _foretold(admitted, keeping.foretell())
        marks = _marks(admitted, foretold, _revision_to_be(admitted, foretold))
        caller.begin(marks, answer)
        await self._relay(ticket, answer, body, keeping, caller)
        return marks

    async def _relay(self, ticket: Ticket, answer: Answer, piece: bytes, keeping: Keeping, caller: Caller) -> None:
        """Pass a large answer on in pieces; a caller that does not keep up is cut off, the answer read to its end."""
        takes, patience_s = True, _CALLER_PATIENCE_S
        try:
            while piece or (piece := await _next_piece(answer, keeping)):
                if takes:
                    patience = self._clock.after(patience_s)
                    takes = await caller.write(piece, patience_s)
                    patience_s = max(0.0, self._clock.left(patience))
                    if not takes:
                        caller.abort()
                piece = b""
        except BrokenAnswer as broken:
            if takes and not keeping.lacks_answer:
                caller.abort()
            await ticket.settle("unknown", str(broken))
            if takes and keeping.lacks_answer:
                caller.break_off(_unknown(ticket.admitted, str(broken)))
            return
        ticket.known_at = self._clock.boot()
        outcome, kept = keeping.concluded()
        await ticket.settle(outcome, f"answered {answer.status}", kept)
        if takes:
            caller.end()


async def _next_piece(answer: Answer, keeping: Keeping) -> bytes:
    """What the caller is given next; empty at the end."""
    while piece := await answer.read(None):
        if shown := keeping.take(piece):
            return shown
    return keeping.rest()


def _marks(
    admitted: Admitted, outcome: Outcome | None, revision: int | None, elsewhere_s: float | None = None
) -> Marks:
    write = admitted.write
    counted = revision if write.rule.revision == "gateway" else None
    return Marks(FORWARDED, write.epoch, outcome, counted, admitted.intent, elsewhere_s=elsewhere_s)


def _foretold(admitted: Admitted, outcome: Outcome | None) -> Outcome | None:
    """The outcome as settling will conclude it: a refusal proves nothing about an attempt before."""
    return "unknown" if admitted.in_doubt and outcome == "not_applied" else outcome


def _revision_to_be(admitted: Admitted, outcome: Outcome | None) -> int | None:
    """The count after settling, foretold: under `revision: gateway` no other write of the resource is in flight.

    An attempt before this one, of which nobody knew, has been counted.
    """
    if admitted.revision is None or outcome is None:
        return None
    return admitted.revision + (outcome != "not_applied" and not admitted.in_doubt)


def _without_answer(admitted: Admitted, evidence: NotSent | NoReply) -> Refused:
    write = admitted.write
    if isinstance(evidence, NoReply) or admitted.in_doubt:
        return _unknown(admitted, evidence.detail)
    if evidence.cause == "too-large":
        return over_stream_limit(write.rule)
    if evidence.cause == "crowded":
        return overloaded(Facts(resource=write.resource, epoch=write.epoch), evidence.detail)
    return _unreachable(write, evidence.detail)


def _unreachable(write: Write, why: str) -> Refused:
    detail = "Not forwarded: nothing of the request was sent. Retry with the same token."
    facts = Facts(resource=write.resource, epoch=write.epoch, retry_after_s=RETRY_AFTER_S)
    return Refused(UPSTREAM_UNREACHABLE, detail, facts, why)


def _unknown(admitted: Admitted, why: str) -> Refused:
    write = admitted.write
    what_to_do = "Do not send it again; look at the resource."
    if write.intent is not None:
        what_to_do = "Do not send it under another key; with the same one it is not sent twice."
    if write.intent is not None and write.rule.intent.on_unknown == "retry":
        what_to_do = (
            "Repeat it with the same key: the upstream itself refuses a second execution."
            if write.rule.upstream.outlasts_two
            else "Do not send it under another key; with the same one it is sent again while the upstream remembers it."
        )
    detail = f"The write was sent and may or may not have happened. {what_to_do}"
    facts = Facts(resource=write.resource, epoch=write.epoch, intent=admitted.intent, intent_state="unknown")
    return Refused(OUTCOME_UNKNOWN, detail, facts, why)
