"""One write, from admission to reply: the file to read first.

    admit ─ send ─ judge ─ settle ─ reply

Whatever happens after admission, the ticket is settled exactly once (G5): with what the wire proved, or as unknown if
the gateway is stopped in between. What the caller does meanwhile changes nothing of it.
"""

import asyncio

from gateway.core.clock import Clock, Deadline
from gateway.core.coding import over_stream_limit
from gateway.core.decision import FORWARDED, OUTCOME_UNKNOWN, UPSTREAM_UNREACHABLE, Facts, Refused
from gateway.core.faults import BrokenAnswer, StoreUnavailable
from gateway.core.outcome import Evidence, NoReply, NotSent, Outcome, Overdue, Replied, judge
from gateway.core.request import Request
from gateway.core.write import Admitted, Settled, Write
from gateway.flow.admission import RETRY_AFTER_S, Admission
from gateway.flow.ports import Answer, BodySource, Caller, Marks, Observer, Sender, Store
from gateway.flow.tasks import Tasks

# An answer up to this size is held until the write is settled, so that its caller is told the outcome as recorded.
_SMALL = 64 << 10
_AS_IT_COMES = -1
# A caller for whom this much was waited, all in all, loses its answer: an outcome never depends on its caller's pace.
_CALLER_PATIENCE_S = 5.0
# How often a write whose gateway slept past its ticket's deadline is admitted anew, before its caller is sent away.
_ADMISSIONS = 3
# Between two tries to settle while the store is away: its clients are many, and the ticket's deadline is seconds away.
_SETTLE_PAUSE_S = 0.5


class Inline:
    """Forwards writes while their callers wait."""

    def __init__(
        self, admission: Admission, store: Store, sender: Sender, clock: Clock, tasks: Tasks, observer: Observer
    ) -> None:
        self._admission = admission
        self._store = store
        self._sender = sender
        self._clock = clock
        self._tasks = tasks
        self._observer = observer

    async def run(self, write: Write, request: Request, body: BodySource, caller: Caller) -> Marks | Refused:
        """Admit and forward; returns what the caller was told."""
        for _ in range(_ADMISSIONS):
            got = await self._admission.admit(write, caller.is_gone)
            if isinstance(got, Refused):
                caller.refuse(got)
                return got
            admitted, deadline = got
            told = await self._forward(admitted, deadline, request, body, caller)
            if told is not None:
                return told
        refused = _unreachable(write, "this gateway was paused past the write's deadline each time")
        caller.refuse(refused)
        return refused

    async def _forward(
        self, admitted: Admitted, deadline: Deadline, request: Request, body: BodySource, caller: Caller
    ) -> Marks | Refused | None:
        """Send under the ticket and settle it. None: the deadline passed before the first byte; ask again."""
        upstream = admitted.write.rule.upstream
        before = self._clock.after(0)
        ticket = _Ticket(self._store, self._tasks, self._observer, admitted)
        try:
            self._observer.sent(upstream)
            caller.proceed()
            answer = await self._sender.send(admitted, request, body, deadline)
            if isinstance(answer, Overdue):
                self._tasks.spawn(ticket.listen(answer))
                return await self._unanswered(ticket, answer.evidence, caller)
            if isinstance(answer, NotSent | NoReply):
                return await self._unanswered(ticket, answer, caller)
            try:
                return await self._answered(ticket, answer, caller)
            finally:
                answer.close()
        except asyncio.CancelledError:
            # The gateway is stopped and can wait no longer.
            if not caller.has_begun():
                caller.refuse(_unknown(admitted, "the gateway was stopped"))
            raise
        finally:
            ticket.close()
            self._observer.ended(upstream, -self._clock.left(before))

    async def _unanswered(self, ticket: "_Ticket", evidence: NotSent | NoReply, caller: Caller) -> Refused | None:
        write = ticket.admitted.write
        await ticket.settle(_judge(ticket.admitted, evidence), evidence.detail)
        if isinstance(evidence, NotSent):
            if evidence.cause == "late":
                return None
            too_large = evidence.cause == "too-large"
            refused = over_stream_limit(write.rule) if too_large else _unreachable(write, evidence.detail)
        else:
            refused = _unknown(ticket.admitted, evidence.detail)
        caller.refuse(refused)
        return refused

    async def _answered(self, ticket: "_Ticket", answer: Answer, caller: Caller) -> Marks | Refused:
        try:
            body, whole = await answer.read_small(_AS_IT_COMES if answer.is_stream else _SMALL)
        except BrokenAnswer as broken:
            await ticket.settle("unknown", str(broken))
            refused = _unknown(ticket.admitted, str(broken))
            caller.refuse(refused)
            return refused
        outcome = _judge(ticket.admitted, Replied(answer.status, complete=True))
        if whole:
            settled = await ticket.settle(outcome, f"answered {answer.status}")
            marks = _marks(ticket.admitted, outcome, settled.revision if settled else None)
            caller.reply(marks, answer, body)
            return marks
        marks = _marks(ticket.admitted, outcome, _revision_to_be(ticket.admitted, outcome))
        caller.begin(marks, answer)
        await self._relay(ticket, outcome, body, answer, caller)
        return marks

    async def _relay(self, ticket: "_Ticket", outcome: Outcome, piece: bytes, answer: Answer, caller: Caller) -> None:
        """Pass a large answer on in pieces; a caller that does not keep up is cut off, the answer read to its end."""
        takes, patience_s = True, _CALLER_PATIENCE_S
        try:
            while piece or (piece := await answer.read(None)):
                if takes:
                    patience = self._clock.after(patience_s)
                    takes = await caller.write(piece, patience_s)
                    patience_s = max(0.0, self._clock.left(patience))
                    if not takes:
                        caller.abort()
                piece = b""
        except BrokenAnswer as broken:
            if takes:
                caller.abort()
            await ticket.settle("unknown", str(broken))
            return
        await ticket.settle(outcome, f"answered {answer.status}")
        if takes:
            caller.end()


class _Ticket:
    """An admitted write's ticket, settled once; as unknown when whoever held it was stopped before it could."""

    def __init__(self, store: Store, tasks: Tasks, observer: Observer, admitted: Admitted) -> None:
        self.admitted = admitted
        self._store = store
        self._tasks = tasks
        self._observer = observer
        self._concluded = False

    async def settle(self, outcome: Outcome, reason: str) -> Settled | None:
        """Settle; None if the store is away now, and the settling goes on by itself."""
        self._concluded = True
        try:
            return await self._settle(outcome, reason)
        except StoreUnavailable:
            self._tasks.spawn(self._settle_later(outcome, reason))
            return None
        except BaseException:
            # Cancelled in the middle of the call: repeated, it recognises itself.
            self._tasks.spawn(self._settle_later(outcome, reason))
            raise

    def close(self) -> None:
        """The holder is done; if it was interrupted, nobody knows what became of the write."""
        if not self._concluded:
            self._concluded = True
            self._tasks.spawn(self._settle_later("unknown", "the gateway was stopped while the write was in flight"))

    async def listen(self, overdue: Overdue) -> None:
        """An answer that comes after all turns the unknown write into what it was."""
        replied = await overdue.listen()
        if replied is None:
            return
        # The store may have been away until now: first unknown, then known, or the second would pass for the first.
        await self._settle_later("unknown", overdue.evidence.detail)
        await self._settle_later(_judge(self.admitted, replied), f"answered {replied.status}, late")

    async def _settle(self, outcome: Outcome, reason: str) -> Settled:
        settled = await self._store.settle(self.admitted, outcome, reason)
        if settled.overtaken:
            self._observer.overtaken()
        return settled

    async def _settle_later(self, outcome: Outcome, reason: str) -> None:
        """Until the store is back."""
        while True:
            try:
                await self._settle(outcome, reason)
            except StoreUnavailable:
                await asyncio.sleep(_SETTLE_PAUSE_S)
            else:
                return


def _judge(admitted: Admitted, evidence: Evidence) -> Outcome:
    return judge(admitted.write.rule.upstream.outcomes, evidence)


def _marks(admitted: Admitted, outcome: Outcome, revision: int | None) -> Marks:
    counts = admitted.write.rule.revision == "gateway"
    return Marks(FORWARDED, admitted.write.epoch, outcome, revision if counts else None)


def _revision_to_be(admitted: Admitted, outcome: Outcome) -> int | None:
    """The count after settling, foretold: under `revision: gateway` no other write of the resource is in flight."""
    if admitted.revision is None:
        return None
    return admitted.revision + (outcome != "not_applied")


def _unreachable(write: Write, why: str) -> Refused:
    detail = "Not forwarded: nothing of the request was sent. Retry with the same token."
    facts = Facts(resource=write.resource, epoch=write.epoch, retry_after_s=RETRY_AFTER_S)
    return Refused(UPSTREAM_UNREACHABLE, detail, facts, why)


def _unknown(admitted: Admitted, why: str) -> Refused:
    detail = "The write was sent and may or may not have happened. Do not send it again; look at the resource."
    write = admitted.write
    facts = Facts(resource=write.resource, epoch=write.epoch, intent=admitted.ticket)
    return Refused(OUTCOME_UNKNOWN, detail, facts, why)
