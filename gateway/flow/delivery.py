"""What was queued is delivered: the head of each queue, on the ordinary path, until its upstream has it.

    due ─ take ─ rule ─ admit ─ send ─ judge ─ settle          and again from `take` while the queue has more

Whatever is proved not applied is queued again by the script that settles it: a deliverer that dies at any step loses
nothing, and repeats nothing that may have happened (G4, G5).
"""

import asyncio
import contextlib
from collections.abc import Callable

from gateway.core.caller import ANONYMOUS
from gateway.core.decision import STALE_EPOCH, Refused
from gateway.core.delivery import Dropped, Taken
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import Intent
from gateway.core.kept_request import KeptRequest
from gateway.core.record import IntentRecord
from gateway.core.request import Headers, Request
from gateway.core.rule import Rule
from gateway.core.target import Target, read_target
from gateway.core.write import ResourceKey, Write
from gateway.flow.admission import Admission
from gateway.flow.queue import Queue
from gateway.flow.sending import Sending
from gateway.flow.tasks import Tasks
from gateway.flow.turns import Turns
from gateway.flow.undoing import undoable_again
from gateway.log import Log
from gateway.policy.ruleset import RuleSet

# Between two looks that find nothing. What this process queued itself it looks for at once.
_LOOK_EVERY_S = 0.2
# Where no rule sends anything later: for what was queued before the policies changed.
_LOOK_SELDOM_S = 5.0
# What cannot be sent now is due again soon, for somebody is at it; or later, once a policy may say how.
_SOON_S = 0.5
_WITHOUT_A_RULE_S = 30.0
# Where an id's shard ends, and the intent's own digest begins.
_BEHIND_SHARD = 3


class Deliverer:
    """Empties queues until it is stopped; several of them, in any number of processes, share the work."""

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
        self._known = _Known(rules())
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
            # While the store is away nothing can be delivered, and others say so.
            with contextlib.suppress(StoreUnavailable):
                if self._turns.has_room:
                    await self._look()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY_S if self._in_force().parks else _LOOK_SELDOM_S):
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

    async def _look(self) -> None:
        self._finds = self._turns.offer(await self._queue.due())
        self._begin()

    def _begin(self) -> None:
        """As many as have room. When the last of those that were found has begun, the store may have more."""
        while not self._stopping and (resource := self._turns.begin()) is not None:
            self._tasks.spawn(self._empty(resource))
        if self._finds and self._turns.has_room:
            self._woken.set()

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
            taken = None if self._stopping else await self._queue.take(resource)
            if isinstance(taken, Dropped):
                self._log.info("a queued write ended without being sent", **_about(taken.record))
                return True
            return taken is not None and await self._deliver(taken)
        except StoreUnavailable:
            # What was taken comes back by itself.
            return False
        except Exception as error:  # noqa: BLE001  # one record must not end the gateway, or keep the others waiting
            self._log.error("a delivery failed by a bug", resource=resource, kind=type(error).__name__)
            return False

    async def _deliver(self, taken: Taken) -> bool:
        """False: it was put back, and nothing behind it is sent before it."""
        record = taken.record
        rule, request = self._rule_of(record), request_of(taken.request)
        if rule is None or request is None:
            self._log.warning("a queued write cannot be sent: no rule of its name is in force", **_about(record))
            await self._queue.put_back(record.resource, _WITHOUT_A_RULE_S)
            return False
        return await self._send(taken, rule, request)

    async def _send(self, taken: Taken, rule: Rule, request: Request) -> bool:
        record = taken.record
        write = undoable_again(write_of(record, rule), self._rules(), request, taken.request.body)
        got = await self._admission.admit(write, _has_no_caller)
        if isinstance(got, tuple):
            outcome = await self._sending.run(taken, *got, request)
            self._log.info("a queued write was sent", outcome=outcome, **_about(record))
            return True
        if isinstance(got, Refused) and got.decision is STALE_EPOCH:
            # The store has ended it, and what is behind it is next.
            self._log.info("a queued write ended without being sent", why=got.detail, **_about(record))
            return True
        await self._queue.put_back(record.resource, _SOON_S)
        return False

    def _in_force(self) -> "_Known":
        rules = self._rules()
        if rules is not self._known.rules:
            self._known = _Known(rules)
        return self._known

    def _upstream_of(self, resource: ResourceKey) -> str:
        """Whose queue it most likely is: one resource may be of several upstreams."""
        rule = self._rules().rule_for_resource(resource, None)
        return "" if rule is None else rule.upstream.name

    def _rule_of(self, record: IntentRecord) -> Rule | None:
        """The rule that took it, as it is in force now: with its credentials, its limits and its outcomes."""
        return self._in_force().by_name.get((record.upstream, record.rule))


class _Known:
    """What is asked of one set of rules again and again: of thousands, one is not searched for at each delivery."""

    __slots__ = ("by_name", "parks", "rules")

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self.parks = any(entry.rule.parks for entry in rules.entries)
        each = (entry.rule for entry in rules.entries)
        self.by_name = {(rule.upstream.name, rule.name): rule for rule in each}


def write_of(record: IntentRecord, rule: Rule) -> Write:
    """What was taken, as admission knows it. Its token was proved then, and is kept nowhere."""
    intent = Intent(record.key or "", record.tenant, record.target, record.id[_BEHIND_SHARD:], record.fingerprint)
    return Write(
        rule,
        record.resource,
        record.epoch,
        record.holder,
        None,
        intent=intent,
        principal=record.principal or ANONYMOUS,
        tenant=record.tenant,
    )


def request_of(kept: KeptRequest) -> Request | None:
    """None for what no gateway has kept."""
    target = read_target(kept.target)
    return Request(kept.method, target, Headers(kept.headers)) if isinstance(target, Target) else None


def _has_no_caller() -> bool:
    """As long as there is something to deliver, somebody wants it."""
    return False


def _about(record: IntentRecord) -> dict[str, object]:
    about = {"intent": record.id, "upstream": record.upstream, "rule": record.rule, "resource": record.resource}
    return about | {"state": record.state, "reason": record.reason, "attempts": record.attempts}
