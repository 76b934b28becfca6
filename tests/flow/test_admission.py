"""Admission: order of arrival, wake-ups, patience, and nothing left behind."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from gateway.core.clock import Deadline
from gateway.core.decision import OVERLOADED, STALE_EPOCH, TOKEN_INVALID, Refused
from gateway.core.faults import CallerGone, StoreUnavailable
from gateway.core.rule import Authority, Fence, Rule
from gateway.core.write import Waiting, Write
from gateway.flow import admission
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from tests.flow.door import PATIENT, Door, ticket
from tests.playbook.given import INTENT, RESOURCE, UPSTREAM, write
from tests.playbook.script import STUCK
from tests.playbook.store import ADMIT, Admit

# Waiting until somebody wakes: a wake-up that is lost fails the test by its own time limit.
BUSY, OLDER = Waiting("busy", 3_600), Waiting("older", 3_600)
AT_ONCE = Waiting("busy", 0)
STALE = Refused(STALE_EPOCH, "d")


CLAIM_ENDS = Deadline(0.0, 0.0)


class ClaimClock(BootClock):
    """A clock by which a claim has so long left, each time that it is asked."""

    def __init__(self, *left: float) -> None:
        self._left = list(left)

    def left(self, deadline: Deadline) -> float:
        return self._left.pop(0) if deadline is CLAIM_ENDS else super().left(deadline)


@pytest.mark.parametrize(
    ("left", "asked", "admitted"),
    [((60.0,), ["admit t1"], True), ((-1.0,), [], False), ((60.0, -1.0), ["admit t1", "leave"], False)],
    ids=["a claim that holds", "one that expired while its body came", "one that expires while it waits"],
)
async def test_a_claims_end_is_judged_when_its_write_is_admitted(
    left: tuple[float, ...], asked: list[str], admitted: bool
) -> None:
    """Each time that the store would be asked; nothing is asked under a claim that has ended."""
    door = Door(ADMIT if admitted else replace(OLDER, recheck_s=0))
    admission = Admission(door.store, ClaimClock(*left), door.wakes, door.tasks, door.pauses)

    got = await admission.admit(replace(write(PATIENT), expires=CLAIM_ENDS), door.caller.is_gone)

    assert await door.closed() == asked
    assert isinstance(got, tuple) is admitted
    assert admitted or (isinstance(got, Refused) and got.decision is TOKEN_INVALID)


async def test_a_waiter_asks_again_when_it_is_woken() -> None:
    """From the start, under a new ticket, as one who was told to wait."""
    door = Door(OLDER, BUSY, ADMIT)
    coming = door.come()
    for line in ("admit t1", "admit t2 queued"):
        await door.said.until(line)
        door.wakes.on_wake(RESOURCE)

    assert ticket(await coming) == "t3"
    assert await door.closed() == ["admit t1", "admit t2 queued", "admit t3 queued"]


async def test_a_wake_up_that_overtakes_the_answer_is_not_lost() -> None:
    """The store wakes while its answer is still on the way: the waiter asks again at once."""

    class Overtaken(Door):
        def __init__(self) -> None:
            super().__init__(BUSY, ADMIT)
            say = self.said.say

            def woken(line: str) -> None:
                say(line)
                if line == "admit t1":
                    self.wakes.on_wake(RESOURCE)

            self.said.say = woken

    door = Overtaken()

    assert ticket(await door.come()) == "t2"
    assert await door.closed() == ["admit t1", "admit t2 queued"]


async def test_without_a_wake_up_a_waiter_looks_again_by_itself() -> None:
    """After the time that the store names."""
    door = Door(AT_ONCE, AT_ONCE, ADMIT)

    assert ticket(await door.come()) == "t3"
    assert await door.closed() == ["admit t1", "admit t2 queued", "admit t3 queued"]


@pytest.mark.parametrize(
    ("asking", "conversation"),
    [
        (write(PATIENT), ["admit t1", "abandon t1", "admit t2 queued"]),
        (write(PATIENT, intent=INTENT), ["admit t1"]),
        (write(replace(PATIENT, mode="observe")), ["admit t1"]),
    ],
    ids=["a write without a key", "one with a key", "an observed one"],
)
async def test_nothing_is_sent_under_a_ticket_that_may_be_made_twice(asking: Write, conversation: list[str]) -> None:
    """The store may come to the first of two calls behind the end of its write. Of a key it knows what became of it."""
    door = Door(Admit(asked_twice=True), ADMIT)

    got = await door.admission.admit(asking, door.caller.is_gone)

    assert await door.closed() == conversation
    assert ticket(got) == f"t{1 + len(conversation) // 3}"


async def test_waiters_are_admitted_in_order_of_arrival() -> None:
    """Only the first asks; who is admitted hands the turn on; the store is told how many are behind."""
    door = Door(BUSY, BUSY, BUSY, ADMIT, ADMIT, ADMIT)
    order: list[str] = []

    def note(name: str) -> Callable[[object], None]:
        return lambda _: order.append(name)

    comers = []
    for at, name in enumerate(("first", "second", "third"), 1):
        comers.append(door.come())
        comers[-1].add_done_callback(note(name))
        await door.said.until(f"admit t{at}")
    door.wakes.on_wake(RESOURCE)
    got = [ticket(each) for each in await asyncio.gather(*comers)]

    assert order == ["first", "second", "third"]
    assert got == ["t4", "t5", "t6"]
    assert (await door.closed())[3:] == ["admit t4 queued behind 2", "admit t5 queued behind 1", "admit t6 queued"]


@pytest.mark.parametrize(
    ("told", "fence", "decision"),
    [
        (OLDER, Fence(drain_timeout_s=0, queue_timeout_s=3_600), "takeover-pending"),
        (BUSY, Fence(drain_timeout_s=3_600, queue_timeout_s=0), "resource-busy"),
    ],
    ids=["older writes", "another write"],
)
async def test_patience_ends(told: Waiting, fence: Fence, decision: str) -> None:
    """Each reason to wait has its own end; the gateway gives its place up, and the caller may come again."""
    door = Door(told)

    refused = await door.come(Rule("r", UPSTREAM, fence=fence))

    assert isinstance(refused, Refused) and refused.decision.name == decision
    assert (refused.facts.resource, refused.facts.epoch, refused.facts.retry_after_s) == (RESOURCE, 42, 1)
    assert await door.closed() == ["admit t1", "leave"]


async def test_patience_ends_also_far_back_in_the_line() -> None:
    """Who never has its turn gives up without asking again; the first goes on waiting."""
    door = Door(BUSY, BUSY, ADMIT)
    first = door.come()
    await door.said.until("admit t1")
    refused = await door.come(Rule("r", UPSTREAM, fence=Fence(queue_timeout_s=0.01)))

    assert isinstance(refused, Refused) and refused.decision.name == "resource-busy"
    door.wakes.on_wake(RESOURCE)
    await first
    assert await door.closed() == ["admit t1", "admit t2", "admit t3 queued"]


@pytest.mark.parametrize("leave", [None, StoreUnavailable("away")], ids=["left", "the store is away"])
async def test_the_last_waiter_gives_the_place_up(leave: object) -> None:
    """Refused while waiting, nobody behind: the store is told, so that another gateway's turn comes."""
    door = Door(AT_ONCE, STALE, leave=leave)

    assert await door.come() is STALE
    assert await door.closed() == ["admit t1", "admit t2 queued", "leave"]


async def test_a_caller_that_leaves_while_it_waits_is_not_asked_for() -> None:
    """Its place goes, and no ticket is made for it."""
    door = Door(AT_ONCE, gone=(False, True))

    with pytest.raises(CallerGone):
        await door.come()
    assert await door.closed() == ["admit t1", "leave"]


@pytest.mark.parametrize(
    ("lines", "at", "ends"),
    [
        ((STUCK,), "admit t1", ["abandon t1"]),
        ((BUSY,), "admit t1", ["leave"]),
        ((AT_ONCE, STUCK), "admit t2 queued", ["abandon t2", "leave"]),
    ],
    ids=["asking", "waiting", "asking again"],
)
async def test_stopped_anywhere_nothing_is_left(lines: tuple[object, ...], at: str, ends: list[str]) -> None:
    """A ticket that may have been made is ended as never sent; the place in the line is given up."""
    door = Door(*lines)
    coming = door.come()
    await door.said.until(at)
    coming.cancel()

    with pytest.raises(asyncio.CancelledError):
        await coming
    said = await door.closed()
    assert said[said.index(at) + 1 :] == ends


async def test_a_stopped_waiter_hands_its_turn_on() -> None:
    """The next in line asks at once; the place at the store stays this gateway's."""
    door = Door(BUSY, BUSY, ADMIT)
    first = door.come()
    await door.said.until("admit t1")
    second = door.come()
    await door.said.until("admit t2")
    first.cancel()

    assert ticket(await second) == "t3"
    assert await door.closed() == ["admit t1", "admit t2", "admit t3 queued"]


FULL = 2
"""Of so many places admission has none to begin with but one."""


@pytest.mark.parametrize(
    ("authority", "asked"),
    [("lease", ["admit t1", "admit t2"]), ("header", ["admit t1"])],
    ids=["of a lease", "granted elsewhere"],
)
async def test_who_finds_no_place_is_told_to_come_back_and_has_moved_nothing(
    authority: Authority, asked: list[str]
) -> None:
    """The epoch of a lease was moved by its grant: only of others the store is not even asked."""
    rule = replace(PATIENT, authority=authority)
    door = Door(BUSY, BUSY, STALE, most=FULL)
    first = door.come(rule)
    await door.said.until("admit t1")

    second = await door.come(rule)

    assert isinstance(second, Refused)
    assert (second.decision, second.facts.epoch, second.facts.retry_after_s) == (OVERLOADED, 42, 2)
    assert door.said == asked
    first.cancel()
    await asyncio.wait((first,))
    await door.closed()
    assert door.places.has_one("admission")


async def test_who_is_told_to_wait_and_finds_no_place_keeps_none_at_the_store() -> None:
    """Other gateways would wait for this one as long as it is not known to be silent."""
    door = Door(BUSY, most=FULL)
    with door.places.taken("admission"):
        refused = await door.come()

        assert isinstance(refused, Refused) and refused.decision is OVERLOADED
        assert await door.closed() == ["admit t1", "leave"]


async def test_a_line_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """One resource does not take the places of all others, and its last caller would wait in vain."""
    monkeypatch.setattr(admission, "_LONGEST_LINE", 1)
    door = Door(BUSY, BUSY)
    first = door.come()
    await door.said.until("admit t1")

    refused = await door.come()

    assert isinstance(refused, Refused) and refused.decision is OVERLOADED
    first.cancel()
    await asyncio.wait((first,))
    await door.closed()
