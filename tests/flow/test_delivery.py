"""Deliverers: what they take, what they put back, and when they go on."""

import asyncio
import contextlib
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.core.decision import INTENT_IN_PROGRESS, PAUSED, STALE_EPOCH, Refused
from gateway.core.delivery import Dropped
from gateway.core.faults import StoreUnavailable
from gateway.core.outcome import NotSent
from gateway.core.write import ResourceKey
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.delivery import Deliverer
from gateway.flow.sending import Sending
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from gateway.log import Log
from gateway.policy.ruleset import RuleSet
from tests.flow.queueing import REQUEST, ScriptedQueue, record, taken
from tests.playbook import (
    ADMIT,
    RESOURCE,
    SETTLED,
    Counted,
    ScriptedAnswer,
    ScriptedSender,
    ScriptedStore,
    Transcript,
    unpaused,
)
from tests.stack import rules_from
from tests.until import until

POLICY = """
upstream: u
url: http://localhost:9
writes:
  - {name: r, match: "PUT /reports/{id}", resource: "report/{path.id}", delivery: queued, intent: {mode: required}}
"""


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules_from(tmp_path_factory.mktemp("policies") / "p", POLICY)


async def delivered(
    rules: RuleSet,
    said: Transcript,
    sender: ScriptedSender,
    is_over: Callable[[], bool],
    *,
    nudges: bool = False,
    **scripts: list[object],
) -> ScriptedQueue:
    """Let a deliverer work until this is so. `nudges`: it is told of something after its first look."""
    clock, tasks = BootClock(), Tasks()
    queue = ScriptedQueue(said, **scripts)
    admission = Admission(queue, clock, Wakes(), tasks, unpaused(ScriptedStore(said)))
    with Path(os.devnull).open("wb") as nowhere:
        log = Log("json", descriptor=nowhere.fileno())
        sending = Sending(queue, sender, clock, Counted(), lambda: 0.0)
        deliverer = Deliverer(queue, admission, sending, lambda: rules, log)
        running = Tasks()
        running.spawn(deliverer.run())
        try:
            if nudges:
                await until(lambda: queue.looks == 1, within_s=5)
                deliverer.nudge()
            await until(is_over, within_s=5)
        finally:
            await deliverer.close(1.0)
            await running.drain(1.0)
    return queue


async def test_a_queue_is_emptied(rules: RuleSet) -> None:
    """One after the other, each on the ordinary path."""
    said = Transcript()
    sender = ScriptedSender(said, ScriptedAnswer(said), ScriptedAnswer(said))
    await delivered(
        rules, said, sender, lambda: said.count("take") == 3, take=[taken(), taken()], admit=[ADMIT, ADMIT],
        end=[SETTLED, SETTLED],
    )  # fmt: skip

    conversation = [line for line in said if line.split()[0] in ("take", "deliver", "send", "end", "put")]
    ended = "applied: answered 200, keeping 200; else never again"
    assert conversation == [
        "take", "deliver t1 epoch 42", "send t1", f"end t1 {ended}",
        "take", "deliver t2 epoch 42", "send t2", f"end t2 {ended}", "take",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("refused", "then"),
    [
        (Refused(PAUSED, "Stopped."), "put back for 0.5 s"),
        (Refused(INTENT_IN_PROGRESS, "Another one has it."), "put back for 0.5 s"),
        (StoreUnavailable("away"), "put back for 0.5 s"),
        (Refused(STALE_EPOCH, "Overtaken."), "take"),
    ],
    ids=["paused", "another deliverer has it", "the store is away", "superseded: the next one"],
)
async def test_what_gets_no_ticket_is_put_back(refused: object, then: str, rules: RuleSet) -> None:
    """It is nobody's fault, and it is due again soon; what has ended makes room for the next."""
    said = Transcript()
    await delivered(rules, said, ScriptedSender(said), lambda: len(said) >= 3, take=[taken()], admit=[refused])

    assert said[:2] == ["take", "deliver t1 epoch 42"]
    assert then in said[2:4] and "send t1" not in said


@pytest.mark.parametrize(
    "one",
    [taken(rule="gone"), taken(request=REQUEST.__class__("PUT", "no target", (), b""))],
    ids=["its rule is gone", "no request that a gateway keeps"],
)
async def test_what_cannot_be_sent_waits_for_other_policies(one: object, rules: RuleSet) -> None:
    """It stays queued, and holds up what is behind it; a person is told by the log."""
    said = Transcript()
    await delivered(rules, said, ScriptedSender(said), lambda: len(said) == 2, take=[one])

    assert said == ["take", "put back for 30 s"]


async def test_what_ended_in_the_queue_makes_room(rules: RuleSet) -> None:
    """A superseded one, and then the next."""
    said = Transcript()
    sender = ScriptedSender(said, NotSent("unreachable", "away"))
    await delivered(
        rules, said, sender, lambda: said.count("take") == 3, take=[Dropped(record("superseded")), taken()],
        admit=[ADMIT], end=[SETTLED],
    )  # fmt: skip

    assert said[:4] == ["take", "take", "deliver t1 epoch 42", "send t1"]


async def test_a_store_that_is_away_ends_nothing(rules: RuleSet) -> None:
    """It is asked again, whichever call it did not answer."""
    said = Transcript()
    await delivered(
        rules, said, ScriptedSender(said), lambda: said.count("take") == 2,
        due=[StoreUnavailable("away"), [RESOURCE], [], [RESOURCE]], take=[StoreUnavailable("away")],
    )  # fmt: skip

    assert said == ["take", "take"]


async def test_a_record_that_breaks_a_delivery_ends_nothing(rules: RuleSet) -> None:
    """A bug is logged; the others are still delivered."""
    said = Transcript()
    with contextlib.suppress(TimeoutError):
        await delivered(
            rules, said, ScriptedSender(said), lambda: said.count("take") == 2, due=[[RESOURCE], [], [RESOURCE]],
            take=[ValueError("no such thing")],
        )  # fmt: skip

    assert said == ["take", "take"]


async def test_queues_take_turns(rules: RuleSet) -> None:
    """Where more of them wait than there are places, each sends one and goes to the end of the line."""
    said = Transcript()
    resources = [ResourceKey(f"report/{number}") for number in range(33)]
    sender = ScriptedSender(said, *(ScriptedAnswer(said) for _ in range(66)))
    queue = await delivered(
        rules, said, sender, lambda: said.count("take") >= 66, due=[resources],
        take=66 * [taken()], admit=66 * [ADMIT], end=66 * [SETTLED],
    )  # fmt: skip

    assert set(queue.asked) == set(resources)
    assert all(one != next_one for one, next_one in itertools.pairwise(queue.asked[:60]))


async def test_a_queue_that_nobody_waits_behind_goes_on(rules: RuleSet) -> None:
    """It keeps its place to its end."""
    said = Transcript()
    one, other = ResourceKey("report/1"), ResourceKey("report/2")
    sender = ScriptedSender(said, *(ScriptedAnswer(said) for _ in range(4)))
    queue = await delivered(
        rules, said, sender, lambda: said.count("take") == 6, due=[[one, other], []],
        take=4 * [taken()], admit=4 * [ADMIT], end=4 * [SETTLED],
    )  # fmt: skip

    assert len(queue.asked) == 6 and set(queue.asked) == {one, other}
    assert queue.looks <= 3


@pytest.mark.parametrize(
    ("later", "least", "most"), [(", delivery: queued", 2, 5), ("", 1, 1)], ids=["a rule queues", "no rule queues"]
)
async def test_a_store_is_asked_as_often_as_it_pays(later: str, least: int, most: int, tmp_path: Path) -> None:
    """Where no rule sends anything later there is only what older policies left."""
    said = Transcript()
    loop = asyncio.get_running_loop()
    end = loop.time() + 0.5
    rules = rules_from(tmp_path / "p", POLICY.replace(", delivery: queued", later))
    queue = await delivered(rules, said, ScriptedSender(said), lambda: loop.time() > end, due=[])

    assert least <= queue.looks <= most


async def test_what_was_taken_here_is_looked_for_at_once(tmp_path: Path) -> None:
    """However seldom the store is asked otherwise."""
    said = Transcript()
    rules = rules_from(tmp_path / "p", POLICY.replace(", delivery: queued", ""))
    await delivered(rules, said, ScriptedSender(said), lambda: "take" in said, due=[[], [RESOURCE]], nudges=True)

    assert said == ["take"]
