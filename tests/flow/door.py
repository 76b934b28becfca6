"""The door of one resource: an admission over a scripted store, whose conversation is told."""

import asyncio

from gateway.core.clock import Deadline
from gateway.core.decision import Refused
from gateway.core.places import Places
from gateway.core.rule import Fence, Rule
from gateway.core.write import Admitted
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from tests.playbook.caller import ScriptedCaller
from tests.playbook.given import UPSTREAM, write
from tests.playbook.script import Transcript
from tests.playbook.store import ScriptedStore, unpaused

PATIENT = Rule("r", UPSTREAM, fence=Fence(queue_timeout_s=3_600, drain_timeout_s=3_600))


class Door:
    """An admission over a scripted store."""

    def __init__(
        self, *admit: object, gone: tuple[bool, ...] = (), leave: object = None, most: int | None = None
    ) -> None:
        self.said, self.wakes, self.tasks = Transcript(), Wakes(), Tasks()
        self.store = ScriptedStore(self.said, admit=[*admit], leave=[leave], abandon=[None])
        self.caller = ScriptedCaller(self.said, gone=gone)
        self.pauses = unpaused(self.store)
        self.places = Places(most)
        self.admission = Admission(self.store, BootClock(), self.wakes, self.tasks, self.pauses, self.places)

    def come(self, rule: Rule = PATIENT) -> "asyncio.Task[tuple[Admitted, Deadline] | Refused]":
        return asyncio.ensure_future(self.admission.admit(write(rule), self.caller.is_gone))

    async def closed(self) -> list[str]:
        assert await self.tasks.drain(5) == 0
        assert self.admission._lines._lines == {} and self.wakes._interests == {}
        return self.said


def ticket(got: tuple[Admitted, Deadline] | Refused) -> str:
    assert isinstance(got, tuple)
    return got[0].ticket
