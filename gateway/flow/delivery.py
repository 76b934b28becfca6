"""What was queued is delivered: the head of each queue, on the ordinary path, until its upstream has it.

    due ─ take ─ rejudge ─ admit ─ send ─ judge ─ settle          and again from `take` while the queue has more

Whatever is proved not applied is queued again by the script that settles it: a deliverer that dies at any step loses
nothing, and repeats nothing that may have happened (G4, G5).
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from gateway.core.decision import INTENT_IN_PROGRESS, STALE_EPOCH, Refused
from gateway.core.delivery import Dropped, Taken
from gateway.core.faults import PoliciesChanged, StoreUnavailable
from gateway.core.outcome import Outcome
from gateway.core.record import IntentRecord
from gateway.core.request import Headers
from gateway.core.trace import Trace
from gateway.core.write import ResourceKey
from gateway.flow.admission import Admission
from gateway.flow.queue import Queue
from gateway.flow.rejudging import NotTaken, Rejudged, judge_again, lacks_approval
from gateway.flow.sending import Sending
from gateway.flow.tasks import Tasks, count_fault
from gateway.flow.turns import Turns
from gateway.log import Log
from gateway.policy.ruleset import RuleSet

# Between two looks that find nothing. What this process queued itself it looks for at once.
_LOOK_EVERY_S = 0.2
# Where no rule sends anything later: for what was queued before the policies changed.
_LOOK_SELDOM_S = 5.0
# What cannot be sent now is due again soon, for somebody is at it.
_SOON_S = 0.5
# What is to be judged anew, because the policies changed while it waited for its turn.
_AT_ONCE_S = 0.0


class Tracing(Protocol):
    """Who follows deliveries."""

    def resume(self, headers: Headers) -> Trace:
        """The trace of one delivery of a request that was kept with these fields."""
        ...

    def delivered(self, trace: Trace, record: IntentRecord, outcome: Outcome | None) -> None:
        """It was sent, or ended without that. Neither blocks nor raises."""
        ...


class Deliverer:
    """Empties queues until it is stopped; several of them, in any number of processes, share the work."""

    tracing: Tracing | None = None

    def __init__(
        self, queue: Queue, admission: Admission, sending: Sending, rules: Callable[[], RuleSet], log: Log
    ) -> None:
        self._queue = queue
        self._admission = admission
        self._sending = sending
        self._rules = rules
        self._log = log
        self._tasks = Tasks()
        self._turns = Turns(self._upstream_of)
        self._finds = False
        self._woken = asyncio.Event()
        self._stopping = False
        self._stopped_at = 0.0

    @property
    def is_stopping(self) -> bool:
        return self._stopping

    def nudge(self) -> None:
        """Something was queued by this process."""
        self._woken.set()

    async def run(self) -> None:
        """Until it is stopped or cancelled; a store that is away is asked again."""
        while not self._stopping:
            self._woken.clear()
            await self._turn()
            parks = any(entry.rule.parks for entry in self._rules().entries)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY_S if parks else _LOOK_SELDOM_S):
                    await self._woken.wait()

    def stop(self) -> None:
        """Take nothing more; what is being sent goes on."""
        if not self._stopping:
            self._stopping = True
            self._stopped_at = asyncio.get_running_loop().time()
            self._woken.set()

    async def close(self, within_s: float) -> None:
        """Wait for what is being sent, so long from `stop` on; what then is broken off ends as unknown."""
        self.stop()
        await self._tasks.drain(max(0.0, self._stopped_at + within_s - asyncio.get_running_loop().time()))
        await self._sending.close()

    async def _turn(self) -> None:
        if self._rules().refused is not None:
            # By policies that may have ended nothing is sent, and nothing fails; it stays due.
            return
        try:
            self._turns.put_first(await self._queue.approved())
            self._begin_some()
            if self._turns.has_room:
                await self._look()
        except StoreUnavailable:
            # Nothing can be delivered meanwhile, and others say so.
            return
        except Exception as error:  # noqa: BLE001  # nobody else would deliver what this process has queued
            self._log.error("looking for what is due failed by a bug", kind=type(error).__name__)
            count_fault(error)

    async def _look(self) -> None:
        self._finds = self._turns.offer(await self._queue.due())
        self._begin()

    def _begin(self) -> None:
        """As many as have room. When the last of those that were found has begun, the store may have more."""
        self._begin_some()
        if self._finds and self._turns.has_room:
            self._woken.set()

    def _begin_some(self) -> None:
        while not self._stopping and (resource := self._turns.begin()) is not None:
            self._tasks.spawn(self._empty(resource))

    async def _empty(self, resource: ResourceKey | None) -> None:
        """One place at work: for this queue, and for those that come after it."""
        while resource is not None:
            goes_on = await self._next_of(resource)
            if goes_on and not self._turns.is_awaited(resource):
                continue
            # Who was approved just now does not wait for the whole of somebody's long queue.
            self._turns.end(resource, goes_on=goes_on)
            resource = None if self._stopping else self._turns.begin()
        self._begin()

    async def _next_of(self, resource: ResourceKey) -> bool:
        """Deliver the head of a queue. False: there is none, or it cannot be sent now."""
        try:
            taken = None if self._stopping or self._rules().refused else await self._queue.take(resource)
            if taken is not None and _was_approved(taken.record):
                self._turns.passed(resource)
            if isinstance(taken, Dropped):
                self._log.info("a queued write ended without being sent", **_about(taken.record))
                return True
            return taken is not None and await self._deliver(taken)
        except StoreUnavailable:
            # What was taken comes back by itself.
            return False
        except Exception as error:  # noqa: BLE001  # one record must not end the gateway, or keep the others waiting
            self._log.error("a delivery failed by a bug", resource=resource, kind=type(error).__name__)
            count_fault(error)
            return False

    async def _deliver(self, taken: Taken) -> bool:
        """False: it was put back, and nothing behind it is sent before it."""
        rules = self._rules()
        found = await judge_again(taken.record, taken.request, rules)
        now = self._rules()
        if now is not rules or now.refused is not None:
            # A large request takes its time, and a process that was stopped meanwhile as much more.
            await self._queue.put_back(taken.record.resource, _AT_ONCE_S if now.refused is None else _SOON_S)
            return False
        if isinstance(found, Rejudged) and lacks_approval(taken.record, found.write.rule):
            found = NotTaken(f"rule {found.write.rule.name} wants an approval, and it has none")
        return await (self._fail(taken, found) if isinstance(found, NotTaken) else self._send(taken, found))

    async def _fail(self, taken: Taken, found: NotTaken) -> bool:
        """Nothing is sent under a rule that did not take it: an operator sees why, and may have it sent again."""
        if not await self._queue.fail(taken, found.reason):
            return False
        self._log.warning("a queued write has failed", **_about(taken.record) | {"why": found.reason})
        return True

    async def _send(self, taken: Taken, found: Rejudged) -> bool:
        record, request, trace = taken.record, found.request, None
        if self.tracing is not None:
            trace = self.tracing.resume(request.headers)
            trace.enter("admit")
            request = replace(request, trace=trace)
        try:
            got = await self._admission.admit(found.write, _has_no_caller, trace)
        except PoliciesChanged:
            await self._queue.put_back(record.resource, _AT_ONCE_S)
            return False
        if isinstance(got, tuple):
            outcome = await self._sending.run(taken, *got, request)
            sent = _about(record) | self._told(trace, record, outcome)
            self._log.info("a queued write was sent", outcome=outcome, **sent)
            return True
        if isinstance(got, Refused) and got.decision is STALE_EPOCH:
            # The store has ended it, and what is behind it is next.
            ended = _about(record) | self._told(trace, record, None)
            self._log.info("a queued write ended without being sent", why=got.detail, **ended)
            return True
        if isinstance(got, Refused) and got.decision is INTENT_IN_PROGRESS:
            # Others have delivered it, or are at it: what is at the head now has its own time.
            return True
        await self._queue.put_back(record.resource, _SOON_S)
        return False

    def _told(self, trace: Trace | None, record: IntentRecord, outcome: Outcome | None) -> dict[str, object]:
        """The trace ends; what the log says of it."""
        if trace is None or self.tracing is None:
            return {}
        self.tracing.delivered(trace, record, outcome)
        return {"trace_id": trace.id}

    def _upstream_of(self, resource: ResourceKey) -> str:
        """Whose queue it most likely is: one resource may be of several upstreams."""
        rule = self._rules().rule_for_resource(resource, None)
        return "" if rule is None else rule.upstream.name


def _was_approved(record: IntentRecord) -> bool:
    return record.parking is not None and record.parking.approval is not None


def _has_no_caller() -> bool:
    """As long as there is something to deliver, somebody wants it."""
    return False


def _about(record: IntentRecord) -> dict[str, object]:
    about = {"intent": record.id, "upstream": record.upstream, "rule": record.rule, "resource": record.resource}
    return about | {"state": record.state, "reason": record.reason, "attempts": record.attempts}
