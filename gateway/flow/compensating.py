"""An applied intent is taken back: its compensation is sent, once, on the word of an operator.

    undo ─ admit ─ send ─ judge ─ settle

It is an intent of its own. It matches no rule and raises no epoch; it waits until nothing else of its resource is in
flight, and pauses do not stop it. The first intent's state follows in the steps that the store makes.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from gateway.core.clock import Clock, Deadline
from gateway.core.compensation import Kept, Undo, compensating_intent, not_applied_now, not_available
from gateway.core.decision import RESOURCE_BUSY, WRONG_STATE, Facts, Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import IntentId
from gateway.core.kept_request import KeptRequest
from gateway.core.outcome import NoReply, NotSent, Outcome, Overdue, judge
from gateway.core.record import IntentRecord
from gateway.core.request import Headers, Request
from gateway.core.rule import Fence, IntentTerms, Rule, Upstream
from gateway.core.target import Target, read_target
from gateway.core.whole_body import WholeBody
from gateway.core.write import Admitted, Incident, Settled, TicketId, Waiting, Write
from gateway.flow.admission import RETRY_AFTER_S, store_is_away
from gateway.flow.ports import Incidents
from gateway.flow.sending import Sender
from gateway.flow.tasks import Tasks
from gateway.flow.ticket import Ticket
from gateway.flow.whole import read_answer
from gateway.log import Log
from gateway.policy.reading.graphql_answer import may_be_operation
from gateway.policy.reading.jsonrpc_answer import call_of
from gateway.policy.ruleset import RuleSet

# How long it waits for what is in flight, and then for its own answer: an operator's call ends within half a minute.
_DRAIN_S = 10.0
_ANSWER_S = 10.0
_END_OLDER = "Try again later; or advance the resource, which ends what is queued, and compensate it then."
# Between two questions whether it may be sent; nobody wakes whoever asks.
_RECHECK_S = 0.1


class Compensations(Protocol):
    """The store's compensations. Every call but `new_ticket` raises StoreUnavailable."""

    async def undo(self, id: IntentId) -> Undo | None:
        """What would take the intent back; None where its rule had no compensation."""
        ...

    def new_ticket(self, write: Write) -> TicketId: ...

    async def admit(
        self, first: IntentRecord, write: Write, ticket: TicketId, *, queued: bool, note: str, by: str
    ) -> Admitted | Waiting | Refused:
        """A ticket for what takes `first` back, under the highest epoch. Refused: `wrong-state`, `no-such-intent`,
        `outcome-unknown` where unknown writes hold the resource.
        """
        ...

    async def settle_of(
        self,
        first: IntentId,
        admitted: Admitted,
        outcome: Outcome,
        reason: str,
        kept: Kept | None,
        *,
        unfinished: bool,
    ) -> Settled:
        """End that ticket; the state of `first` follows in the same step."""
        ...

    async def abandon(self, write: Write, ticket: TicketId) -> None: ...

    async def leave(self, write: Write) -> None: ...

    async def recall(self, id: str) -> IntentRecord | None: ...


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an operator asked for, and what is sent for it."""

    first: IntentRecord
    write: Write
    request: KeptRequest
    note: str
    by: str

    @property
    def facts(self) -> Facts:
        return _facts(self.first)


class Compensating:
    """Takes intents back, until it is closed."""

    def __init__(
        self, store: Compensations, sender: Sender, rules: Callable[[], RuleSet], clock: Clock, incidents: Incidents,
        log: Log,
    ) -> None:  # fmt: skip
        self._store = store
        self._sender = sender
        self._rules = rules
        self._clock = clock
        self._witness = _Witness(incidents, log)
        self._log = log
        self._tasks = Tasks()

    async def run(self, first: IntentRecord, note: str, by: str) -> IntentRecord | Refused:
        """Send what takes `first` back, and return how it is then: still `compensating` if that takes its time.

        Refused, and nothing was sent: `wrong-state`, `no-such-intent`, `outcome-unknown` (of others, which hold the
        resource), `resource-busy`, `store-unavailable`.
        """
        if first.state != "applied":
            return not_applied_now(first.state, _facts(first))
        undo = await self._store.undo(first.id)
        if not isinstance(undo, KeptRequest):
            return not_available(undo, _facts(first))
        rule = _rule(first, self._rules())
        if rule is None:
            detail = (
                f"Nothing was done: no policy in force has the upstream {first.upstream}. Put it back and try again."
            )
            return Refused(WRONG_STATE, detail, _facts(first))
        asked = _Asked(first, _write(first, rule, undo), undo, note, by)
        got = await self._admit(asked)
        if isinstance(got, Refused):
            return got
        ended = asyncio.Event()
        self._tasks.spawn(self._send(asked, *got, ended))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                await ended.wait()
        return await self._store.recall(first.id) or first

    async def close(self, within_s: float) -> None:
        """Wait for what is being sent; what then is broken off ends as unknown."""
        await self._tasks.drain(within_s)
        # What was broken off has begun to settle.
        await self._tasks.drain(within_s)

    async def _admit(self, asked: _Asked) -> tuple[Admitted, Deadline] | Refused:
        """Ask until nothing else is in flight, and nothing older is queued."""
        end, queued = self._clock.after(_DRAIN_S), False
        while True:
            got, deadline = await self._ask(asked, queued=queued)
            if isinstance(got, Admitted):
                return got, deadline
            if isinstance(got, Refused):
                return got
            queued = True
            if self._clock.left(end) <= 0:
                self._tasks.spawn(self._leave(asked.write))
                return _busy(asked, got)
            await asyncio.sleep(min(got.recheck_s, _RECHECK_S))

    async def _ask(self, asked: _Asked, *, queued: bool) -> tuple[Admitted | Waiting | Refused, Deadline]:
        write, ticket = asked.write, self._store.new_ticket(asked.write)
        deadline = self._clock.after(write.rule.upstream.timeouts.total_s)
        try:
            got = await self._store.admit(asked.first, write, ticket, queued=queued, note=asked.note, by=asked.by)
        except StoreUnavailable as away:
            self._tasks.spawn(self._abandon(write, ticket))
            return store_is_away(away), deadline
        except BaseException:
            # Cancelled: the call may still reach the store, and nothing will be sent under its ticket.
            self._tasks.spawn(self._abandon(write, ticket))
            raise
        return got, deadline

    async def _send(self, asked: _Asked, admitted: Admitted, deadline: Deadline, ended: asyncio.Event) -> None:
        ticket = Ticket(_Settling(self._store, asked.first.id), self._tasks, self._witness, admitted)
        try:
            outcome = await self._judged(ticket, asked, deadline)
            about = {"intent": asked.first.id, "by": admitted.intent, "resource": asked.first.resource}
            self._log.warning("an intent's compensation was sent", outcome=outcome, **about)
        finally:
            ticket.close()
            ended.set()

    async def _judged(self, ticket: Ticket, asked: _Asked, deadline: Deadline) -> Outcome:
        request, body = _request(asked.request), WholeBody(asked.request.body or b"")
        answer = await self._sender.send(ticket.admitted, request, ticket.sent(body), deadline)
        if isinstance(answer, Overdue):
            self._tasks.spawn(ticket.listen(answer))
            answer = answer.evidence
        if isinstance(answer, NotSent | NoReply):
            outcome = judge(asked.write.rule.upstream.outcomes, answer)
            await ticket.settle(outcome, answer.detail)
            return outcome
        try:
            outcome, why, kept = await read_answer(answer, ticket.hearing(answer))
        finally:
            answer.close()
        await ticket.settle(outcome, why, kept)
        return outcome

    async def _abandon(self, write: Write, ticket: TicketId) -> None:
        # The store hears it once it is back; until then the ticket's deadline ends it, as unknown.
        with contextlib.suppress(StoreUnavailable):
            await self._store.abandon(write, ticket)

    async def _leave(self, write: Write) -> None:
        # The place is lost by silence a second later.
        with contextlib.suppress(StoreUnavailable):
            await self._store.leave(write)


@dataclass(frozen=True, slots=True)
class _Settling:
    """Implements `ports.Settling` for what takes `first` back."""

    store: Compensations
    first: IntentId

    async def settle(
        self, admitted: Admitted, outcome: Outcome, reason: str, kept: Kept | None, *, unfinished: bool
    ) -> Settled:
        return await self.store.settle_of(self.first, admitted, outcome, reason, kept, unfinished=unfinished)


@dataclass(frozen=True, slots=True)
class _Witness:
    """Implements `ticket.Witness`."""

    incidents: Incidents
    log: Log

    def overtaken(self) -> None:
        self.log.info("a newer epoch came while an intent was being compensated")

    def incident(self, kind: Incident) -> None:
        self.incidents.incident(kind)


def _rule(first: IntentRecord, rules: RuleSet) -> Rule | None:
    """How it is sent and judged: as the upstream says now, and kept as long as the rule says that took the first.

    Nobody is asked what became of it: the upstream's query speaks of what agents send, and its no would be believed.
    """
    upstream = next((one for one in rules.upstreams if one.name == first.upstream), None)
    if upstream is None:
        return None
    rule = next((one.rule for one in rules.entries if _is_rule_of(first, one.rule, upstream)), None)
    if rule is None:
        return Rule(first.rule, upstream, intent=IntentTerms("required"))
    terms = replace(rule.intent, mode="required", on_unknown="hold", ask_after_s=None)
    fence = Fence(after_unknown=rule.fence.after_unknown)
    return Rule(first.rule, upstream, revision=rule.revision, fence=fence, intent=terms)


def _is_rule_of(first: IntentRecord, rule: Rule, upstream: Upstream) -> bool:
    return rule.name == first.rule and rule.upstream.name == upstream.name


def _write(first: IntentRecord, rule: Rule, request: KeptRequest) -> Write:
    """It has no holder: the operator's authority is nobody's lease."""
    intent, body = compensating_intent(first.id, first.tenant, request), request.body or b""
    return Write(
        *(rule, first.resource, first.epoch, None, None),
        intent=intent,
        tenant=first.tenant,
        call=call_of(body) if rule.upstream.protocol == "mcp" else None,
        is_graphql=may_be_operation(body),
    )


def _request(kept: KeptRequest) -> Request:
    target = read_target(kept.target)
    assert isinstance(target, Target), "no other target is kept"
    return Request(kept.method, target, Headers(kept.headers))


def _facts(first: IntentRecord) -> Facts:
    return Facts(resource=first.resource, intent=first.id, intent_state=first.state)


def _busy(asked: _Asked, waiting: Waiting) -> Refused:
    facts = replace(asked.facts, retry_after_s=RETRY_AFTER_S)
    if waiting.why == "older":
        detail = f"Nothing was sent: older writes of the resource come first, and were not done after {_DRAIN_S:g} s:"
        return Refused(RESOURCE_BUSY, f"{detail} in flight, or queued under a lease given back. {_END_OLDER}", facts)
    detail = f"Nothing was sent: other writes of the resource were still in flight after {_DRAIN_S:g} s. Pause the"
    return Refused(RESOURCE_BUSY, f"{detail} resource, compensate it then, and end the pause.", facts)
