"""Observed writes as whole conversations: admitted ones like any other, all others passed on without a ticket."""

import asyncio
from dataclasses import replace

import pytest

from gateway.core.decision import (
    PAUSED,
    STALE_EPOCH,
    STORE_UNAVAILABLE,
    TAKEOVER_PENDING,
    TOKEN_REQUIRED,
    Decision,
    Refused,
)
from gateway.core.faults import BrokenAnswer, PoliciesChanged, StoreUnavailable
from gateway.core.intent import IntentId, KeptAnswer
from gateway.core.outcome import NoReply, NotSent
from gateway.core.rule import Limits
from gateway.core.term import Term
from gateway.core.write import Replayed, Waiting
from gateway.flow.clock import BootClock
from gateway.flow.marks import Marks
from gateway.flow.observe import Observed, Observing
from tests.flow.playing import BEFORE, Play, answer, play
from tests.playbook.caller import Counted, NoBody, ScriptedCaller
from tests.playbook.given import RULE, request, write
from tests.playbook.script import STUCK, Transcript
from tests.playbook.store import ScriptedStore
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender

OBSERVED = replace(RULE, mode="observe")
REPLAY = Replayed(write(OBSERVED), IntentId("i"), KeptAnswer(200, (), b"first"))
PASSED_ON = ["proceed", "pass on", "read at once", "reply observed ok", "close"]


def observing(*evidence: object, **store: list[object]) -> Play:
    return play(*evidence, rule=OBSERVED, **store)


async def test_an_admitted_write_goes_the_way_of_all_others() -> None:
    """It has a ticket, and its caller is told that it was forwarded, with nothing that would have been."""
    one = observing(answer())

    marks = await one.run()

    assert one.said == [*BEFORE, "read small", "settle t1 applied: answered 200", "reply applied ok", "close"]
    assert isinstance(marks, Marks)
    assert (marks.decision.name, marks.would) == ("forwarded", None)


@pytest.mark.parametrize(
    ("found", "would"),
    [
        (Refused(STALE_EPOCH, "Stop."), "stale-epoch"),
        (Waiting("older", 0.5), "takeover-pending"),
        (Waiting("busy", 0.5), "resource-busy"),
        (REPLAY, "replayed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_the_store_does_not_admit_is_passed_on_at_once(found: object, would: str) -> None:
    """It is asked once, nothing is waited for, nothing is answered in the upstream's place, nothing is settled."""
    one = observing(answer(), admit=[found])

    marks = await one.run()

    assert one.said == ["admit t1", *PASSED_ON]
    assert isinstance(marks, Marks)
    assert (marks.decision.name, marks.would and marks.would.name, marks.epoch) == ("observed", would, 42)
    assert one.counted.said == ["sent", "ended"]


async def test_a_store_that_is_away_stops_nothing() -> None:
    """The ticket that nobody knows of is abandoned; the write goes on."""
    one = observing(answer(), admit=[StoreUnavailable("away")])

    marks = await one.run()

    assert [line for line in one.said if line != "abandon t1"] == ["admit t1", *PASSED_ON]
    assert isinstance(marks, Marks)
    assert marks.would is STORE_UNAVAILABLE


async def test_an_operators_stop_stops_observed_writes_too() -> None:
    """A pause is no judgment that is being tried out."""
    one = observing(admit=[Refused(PAUSED, "Wait.")])

    assert isinstance(await one.run(), Refused)
    assert one.said == ["admit t1", "refuse paused"]


async def passed_on(evidence: object, *, would: Decision = TOKEN_REQUIRED) -> tuple[Transcript, ScriptedCaller]:
    said = Transcript()
    if isinstance(evidence, ScriptedAnswer):
        evidence.said = said
    caller, rule = ScriptedCaller(said), replace(OBSERVED, upstream=replace(RULE.upstream, limits=Limits(stream=9)))
    one = Observing(ScriptedStore(said), ScriptedSender(said, evidence), BootClock(), Counted())
    await one.run(Observed(rule, would), request(), NoBody(), caller)
    return said, caller


@pytest.mark.parametrize(
    ("evidence", "rest"),
    [
        (NotSent("unreachable", "refused"), ["refuse upstream-unreachable"]),
        (NotSent("too-large", "more"), ["refuse body-too-large"]),
        (NoReply("closed", "closed"), ["refuse outcome-unknown"]),
        (answer(small=BrokenAnswer("cut")), ["read at once", "refuse outcome-unknown", "close"]),
        (
            answer(small=(b"one", False), pieces=(b"two", b"")),
            [
                *("read at once", "begin observed", "write one in time", "read on", "write two in time", "read on"),
                *("end", "close"),
            ],
        ),
    ],
    ids=["unreachable", "too large", "no answer", "broken answer", "large answer"],
)
async def test_what_the_wire_showed_is_told(evidence: object, rest: list[str]) -> None:
    """Whoever gets no answer is told whether the write may have happened; nothing is sent twice."""
    said, _ = await passed_on(evidence)

    assert said == ["proceed", "pass on", *rest]


async def test_a_gateway_that_is_stopped_tells_that_nobody_knows() -> None:
    """The write may have happened."""
    said = Transcript()
    caller, counted = ScriptedCaller(said), Counted()
    one = Observing(ScriptedStore(said), ScriptedSender(said, STUCK), BootClock(), counted)
    running = asyncio.ensure_future(one.run(Observed(OBSERVED, TAKEOVER_PENDING), request(), NoBody(), caller))
    await said.until("pass on")

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert said == ["proceed", "pass on", "refuse outcome-unknown"]
    assert counted.said == ["sent", "ended"]


async def test_what_was_judged_by_former_policies_is_not_passed_on() -> None:
    """It is judged anew, however long ago its caller had the right."""
    said = Transcript()
    over = replace(OBSERVED, upstream=replace(RULE.upstream, term=Term()))
    over.upstream.term.end()
    one = Observing(ScriptedStore(said), ScriptedSender(said), BootClock(), Counted())

    with pytest.raises(PoliciesChanged):
        await one.run(Observed(over, TOKEN_REQUIRED), request(), NoBody(), ScriptedCaller(said))

    assert said == []
