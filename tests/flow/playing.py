"""One inline write under scripts: the conversation that most tests of it compare."""

import asyncio
from dataclasses import dataclass

import pytest

from gateway.core.decision import Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.rule import Rule
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.inline import Inline
from gateway.flow.marks import Marks
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from tests.playbook.caller import Counted, NoBody, ScriptedCaller
from tests.playbook.given import RULE, request, write
from tests.playbook.script import Transcript
from tests.playbook.store import ADMIT, SETTLED, ScriptedStore, unpaused
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender

TOLD = "refuse outcome-unknown"
STOPPED = "settle t1 unknown, unfinished: the gateway was stopped while the write was in flight"
AWAY = StoreUnavailable("away")


@dataclass
class Play:
    """One write under scripts; `said` is the conversation."""

    said: Transcript
    sender: ScriptedSender
    store: ScriptedStore
    caller: ScriptedCaller
    rule: Rule = RULE

    def __post_init__(self) -> None:
        self.counted, self.tasks, clock = Counted(), Tasks(), BootClock()
        admission = Admission(self.store, clock, Wakes(), self.tasks, unpaused(self.store))
        self.inline = Inline(admission, self.store, self.sender, clock, self.tasks, self.counted)

    async def run(self) -> Marks | Refused:
        try:
            return await self.inline.run(write(self.rule), request(), NoBody(), self.caller)
        finally:
            assert await self.tasks.drain(5) == 0

    async def cancelled_at(self, line: str) -> None:
        """Stop the gateway's handler where the conversation stands at `line`."""
        running = asyncio.ensure_future(self.run())
        await self.said.until(line)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


def play(
    *evidence: object,
    rule: Rule = RULE,
    takes: tuple[bool, ...] = (),
    gone: tuple[bool, ...] = (),
    **store: list[object],
) -> Play:
    said = Transcript()
    for each in evidence:
        if isinstance(each, ScriptedAnswer):
            each.said = said
    scripts = {"admit": [ADMIT], "settle": [SETTLED], "abandon": [None]} | store
    sender, caller = ScriptedSender(said, *evidence), ScriptedCaller(said, takes, gone)
    return Play(said, sender, ScriptedStore(said, **scripts), caller, rule)


def answer(status: int = 200, **fields: object) -> ScriptedAnswer:
    return ScriptedAnswer(Transcript(), status, **fields)


def large(*pieces: object) -> ScriptedAnswer:
    return answer(small=(b"one", False), pieces=pieces)


BEFORE = ["admit t1", "proceed", "send t1"]
