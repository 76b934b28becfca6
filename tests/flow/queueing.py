"""A scripted queue, and what is in it."""

from collections import deque
from dataclasses import dataclass

from gateway.core.delivery import Again, Conclusion, Dropped, Taken
from gateway.core.epoch import Epoch
from gateway.core.intent import State
from gateway.core.kept_request import KeptRequest
from gateway.core.parking import Approval, Parking
from gateway.core.record import IntentRecord
from gateway.core.write import AdmitReply, Admitted, ResourceKey, Settled, TicketId, Write
from tests.playbook.given import INTENT, INTENT_ID, RESOURCE
from tests.playbook.script import Script, Transcript
from tests.playbook.store import Admit, Settle

# Queued at an instant at which gateways may have several policies.
JUST_NOW = Parking("digest", "low", 2_000)
REQUEST = KeptRequest("PUT", "/reports/7", (), b"body")


def record(
    state: State = "queued", *, failures: int = 0, approval: Approval | None = None, rule: str = "r", reason: str = ""
) -> IntentRecord:
    """What the store knows of `playbook.INTENT`."""
    parking = Parking("digest", "low", 1_000, failures, approval)
    return IntentRecord(
        *(INTENT_ID, state, "u", rule, RESOURCE, Epoch(42), "a", INTENT.key, INTENT.tenant, INTENT.target),
        *(0, 1_000, 1_000, reason),
        parking=parking,
    )


def taken(failures: int = 0, *, rule: str = "r", request: KeptRequest = REQUEST) -> Taken:
    return Taken(record(failures=failures, rule=rule), request, 1_000)


@dataclass
class Nobody:
    """Implements `parking.Delivers`, and delivers nothing."""

    nudged: int = 0
    is_stopping: bool = False

    def nudge(self) -> None:
        self.nudged += 1


class ScriptedQueue:
    """Implements `queue.Queue`. After the last `due` nothing is due, and after the last `take` nothing left."""

    def __init__(self, said: Transcript, **scripts: list[object]) -> None:
        self._said = said
        self._due = deque(scripts.pop("due", [[RESOURCE]]))
        self._approved = deque(scripts.pop("approved", []))
        self._take = deque(scripts.pop("take", []))
        self._scripts = {verb: Script(*lines) for verb, lines in scripts.items()}
        self._tickets = 0
        self.looks = 0
        self.asked: list[ResourceKey] = []

    async def due(self) -> list[ResourceKey]:
        self.looks += 1
        found = self._due.popleft() if self._due else []
        if isinstance(found, BaseException):
            raise found
        assert isinstance(found, list)
        return found

    async def approved(self) -> list[ResourceKey]:
        found = self._approved.popleft() if self._approved else []
        assert isinstance(found, list)
        return found

    async def take(self, resource: ResourceKey) -> Taken | Dropped | None:
        self._said.say("take")
        self.asked.append(resource)
        found = self._take.popleft() if self._take else None
        if isinstance(found, BaseException):
            raise found
        assert found is None or isinstance(found, Taken | Dropped)
        return found

    async def put_back(self, resource: ResourceKey, after_s: float) -> None:
        self._said.say(f"put back for {after_s:g} s")

    async def fail(self, taken: Taken, reason: str) -> bool:
        self._said.say(f"fail: {reason}")
        return taken.record.parking != JUST_NOW

    def new_ticket(self, resource: ResourceKey) -> TicketId:
        self._tickets += 1
        return TicketId(f"t{self._tickets}")

    async def admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int) -> AdmitReply:
        self._said.say(f"deliver {ticket} epoch {write.epoch}")
        reply = await self._scripts["admit"].next()
        if isinstance(reply, Admit):
            return Admitted(write, ticket, None, INTENT_ID, reply.attempt)
        return reply

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        self._said.say(f"abandon {ticket}")

    async def leave(self, resource: ResourceKey) -> None:
        self._said.say("leave")

    async def end(self, taken: Taken, admitted: Admitted, conclusion: Conclusion) -> Settled:
        then = f"again after {conclusion.then.after_s:g} s" if isinstance(conclusion.then, Again) else "never again"
        kept = "" if conclusion.kept is None else f", keeping {conclusion.kept.status}"
        self._said.say(f"end {admitted.ticket} {conclusion.outcome}: {conclusion.reason}{kept}; else {then}")
        reply = await self._scripts["end"].next()
        assert isinstance(reply, Settle)
        return Settled(reply.overtaken, None, reply.outcome or conclusion.outcome, reply.incident)
