"""Admission: what was forbidden while a write waited, or while the store was asked, admits nothing."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.core.decision import PAUSED, Refused
from gateway.core.faults import PoliciesChanged
from gateway.core.pause import PausesInForce, Scope, WidePause
from gateway.core.rule import Rule
from gateway.core.term import Term
from gateway.core.write import TicketId, Waiting, Write
from gateway.flow.admission import Admission
from gateway.flow.pauses import Pauses
from tests.flow.door import PATIENT, Door, ticket
from tests.hand_clock import HandClock
from tests.playbook.given import UPSTREAM
from tests.playbook.store import ADMIT

AT_ONCE = Waiting("busy", 0)


def ending_at(line: str, rule: Rule, *admit: object) -> Door:
    """The rule is over once the store was asked this."""
    door = Door(*admit)
    say = door.said.say

    def ending(said: str) -> None:
        say(said)
        if said == line:
            rule.upstream.term.end()

    door.said.say = ending
    return door


async def test_a_rule_that_is_over_admits_nobody() -> None:
    """Whoever was judged a moment ago may have been judged before its process was stopped: the store is not asked."""
    door = Door()
    over = replace(PATIENT, upstream=replace(UPSTREAM, term=Term()))
    over.upstream.term.end()

    with pytest.raises(PoliciesChanged):
        await door.come(over)

    assert await door.closed() == []


async def test_nor_whoever_waited_under_it() -> None:
    """Nothing is left behind of it."""
    ends = replace(PATIENT, upstream=replace(UPSTREAM, term=Term()))
    door = ending_at("admit t1", ends, AT_ONCE)

    with pytest.raises(PoliciesChanged):
        await door.come(ends)

    assert await door.closed() == ["admit t1", "leave"]


async def test_nor_does_one_that_is_over_when_the_store_has_answered() -> None:
    """The process may have been stopped between question and answer: nothing is sent, nor left in flight."""
    ends = replace(PATIENT, upstream=replace(UPSTREAM, term=Term()))

    door = ending_at("admit t2 queued", ends, AT_ONCE, ADMIT)

    with pytest.raises(PoliciesChanged):
        await door.come(ends)

    assert await door.closed() == ["admit t1", "admit t2 queued", "abandon t2", "leave"]


async def test_a_ticket_under_a_rule_that_is_over_is_abandoned_whoever_is_stopped_meanwhile() -> None:
    """Nothing was sent under it: left alone it would end as unknown."""
    ends = replace(PATIENT, upstream=replace(UPSTREAM, term=Term()))
    door, abandoned = ending_at("admit t2 queued", ends, AT_ONCE, ADMIT), asyncio.Event()
    abandon = door.store.abandon

    async def slowly(write: Write, ticket: TicketId) -> None:
        door.said.say("abandoning")
        await abandoned.wait()
        await abandon(write, ticket)

    door.store.abandon = slowly
    coming = door.come(ends)
    await door.said.until("abandoning")
    coming.cancel()
    await asyncio.wait((coming,))
    abandoned.set()

    assert coming.cancelled()
    assert await door.closed() == ["admit t1", "admit t2 queued", "abandoning", "leave", "abandon t2"]


class Standing(Door):
    """The store's first answer takes so long; meanwhile something happens."""

    def __init__(self, took_s: float, meanwhile: Callable[["Standing"], None]) -> None:
        super().__init__(ADMIT)
        clock, say, records = HandClock(), self.said.say, Told()
        self.in_force = records.in_force_now
        self.pauses = Pauses(self.store, records, clock, self.wakes)
        self.admission = Admission(self.store, clock, self.wakes, self.tasks, self.pauses, self.places)
        self.rule = replace(PATIENT, upstream=replace(UPSTREAM, term=Term()))

        def asked(line: str) -> None:
            say(line)
            if line == "admit t1":
                clock.now += took_s
                meanwhile(self)

        self.said.say = asked


class Told:
    """The wide pauses that are in force by now."""

    def __init__(self) -> None:
        self.in_force_now: PausesInForce = {}

    async def in_force(self) -> PausesInForce:
        return dict(self.in_force_now)


def a_pause(door: Standing) -> None:
    door.in_force[Scope("all")] = WidePause("p", Scope("all"), "sent twice", "operator", 1)


def another_policy(door: Standing) -> None:
    door.rule.upstream.term.end()


@pytest.mark.parametrize("meanwhile", [a_pause, another_policy])
async def test_an_answer_that_was_long_in_coming_admits_nothing_that_was_forbidden_since(
    meanwhile: Callable[[Standing], None],
) -> None:
    """The connection stood still, or the process: nothing is sent, nor left in flight."""
    door = Standing(5.0, meanwhile)

    if meanwhile is a_pause:
        refused = await door.come(door.rule)
        assert isinstance(refused, Refused) and refused.decision is PAUSED
    else:
        with pytest.raises(PoliciesChanged):
            await door.come(door.rule)

    assert await door.closed() == ["admit t1", "abandon t1"]


@pytest.mark.parametrize(
    ("took_s", "meanwhile"), [(0.1, another_policy), (5.0, lambda _: None)], ids=["at once", "nothing has changed"]
)
async def test_another_answer_admits(took_s: float, meanwhile: Callable[[Standing], None]) -> None:
    """What was looked at a moment ago is not looked at again, and what has not changed is no reason."""
    door = Standing(took_s, meanwhile)

    assert ticket(await door.come(door.rule)) == "t1"
    assert await door.closed() == ["admit t1"]
