"""Deliverers: what they take, what they put back, and when they go on."""

import asyncio
import contextlib
import itertools
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.decision import INTENT_IN_PROGRESS, PAUSED, POLICIES_UNAVAILABLE, STALE_EPOCH, Refused
from gateway.core.delivery import Dropped, Taken
from gateway.core.faults import StoreUnavailable
from gateway.core.outcome import NotSent
from gateway.core.parking import Approval
from gateway.core.write import ResourceKey, Waiting
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.delivery import Deliverer
from gateway.flow.sending import Sender, Sending
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from gateway.log import Log
from gateway.policy.ruleset import RuleSet
from tests.flow.queueing import JUST_NOW, REQUEST, ScriptedQueue, record, taken
from tests.playbook.caller import Counted
from tests.playbook.given import RESOURCE
from tests.playbook.script import Transcript
from tests.playbook.store import ADMIT, SETTLED, ScriptedStore, unpaused
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender
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
    sender: Sender,
    is_over: Callable[[], bool],
    *,
    nudges: bool = False,
    in_force: Callable[[], RuleSet] | None = None,
    **scripts: list[object],
) -> ScriptedQueue:
    """Let a deliverer work until this is so. `nudges`: it is told of something after its first look. `in_force`: asked
    instead of the rules.
    """
    clock, tasks = BootClock(), Tasks()
    queue = ScriptedQueue(said, **scripts)
    admission = Admission(queue, clock, Wakes(), tasks, unpaused(ScriptedStore(said)))
    with Path(os.devnull).open("wb") as nowhere:
        log = Log("json", descriptor=nowhere.fileno())
        sending = Sending(queue, sender, clock, Counted(), lambda: 0.0)
        deliverer = Deliverer(queue, admission, sending, in_force or (lambda: rules), log)
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


async def test_by_policies_that_may_have_ended_nothing_is_delivered(rules: RuleSet) -> None:
    """Nor does it fail: it stays queued."""
    said, looks, silent = Transcript(), list[int](), refusing(rules)

    def in_force() -> RuleSet:
        looks.append(len(said))
        return silent

    await delivered(rules, said, ScriptedSender(said), lambda: len(looks) > 3, in_force=in_force, take=[taken()])

    assert said == []


async def test_what_was_taken_before_nobody_could_tell_is_put_back(rules: RuleSet) -> None:
    """It is judged by what is in force afterwards."""
    said, silent = Transcript(), refusing(rules)
    await delivered(
        rules, said, ScriptedSender(said), lambda: len(said) > 1, in_force=lambda: silent if said else rules,
        take=[taken()],
    )  # fmt: skip

    assert said == ["take", "put back for 0.5 s"]


def refusing(rules: RuleSet) -> RuleSet:
    return rules.refusing(Refused(POLICIES_UNAVAILABLE, "Nobody can tell."))


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
        (Refused(INTENT_IN_PROGRESS, "Another one has it."), "take"),
        (StoreUnavailable("away"), "put back for 0.5 s"),
        (Refused(STALE_EPOCH, "Overtaken."), "take"),
    ],
    ids=["paused", "no longer what was taken: looks again", "the store is away", "superseded: the next one"],
)
async def test_what_gets_no_ticket_is_put_back(refused: object, then: str, rules: RuleSet) -> None:
    """It is nobody's fault, and it is due again soon; what has ended makes room for the next."""
    said = Transcript()
    await delivered(rules, said, ScriptedSender(said), lambda: len(said) >= 3, take=[taken()], admit=[refused])

    assert said[:2] == ["take", "deliver t1 epoch 42"]
    assert then in said[2:4] and "send t1" not in said


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (taken(rule="gone"), "rule r of upstream u takes it, and not gone"),
        (taken(request=replace(REQUEST, method="POST")), "no rule takes it"),
        (taken(request=replace(REQUEST, target="no target")), "its target can be read in two ways"),
    ],
    ids=["its rule is gone", "its rule takes other requests", "no request that a gateway keeps"],
)
async def test_what_its_rule_no_longer_takes_is_not_sent(one: Taken, why: str, rules: RuleSet) -> None:
    """It fails with the reason, and the next one is taken."""
    said = Transcript()
    await delivered(rules, said, ScriptedSender(said), lambda: len(said) == 3, take=[one])

    assert said == ["take", f"fail: the policy no longer takes it: {why}", "take"]


async def test_what_was_queued_just_now_may_be_known_to_others(rules: RuleSet) -> None:
    """A gateway with newer policies has taken it, and delivers it: it does not fail here."""
    said = Transcript()
    one = taken(rule="new")
    one = replace(one, record=replace(one.record, parking=JUST_NOW))
    await delivered(rules, said, ScriptedSender(said), lambda: len(said) == 2, take=[one])

    assert said[0] == "take" and said[1].startswith("fail: ") and len(said) == 2


@pytest.mark.parametrize(
    ("approval", "said_then"),
    [(None, "fail: the policy no longer takes it: rule r wants an approval, and it has none"),
     (Approval("given", 1, "anna"), "deliver t1 epoch 42")],
    ids=["it has none", "it was given"],
)  # fmt: skip
async def test_a_rule_that_wants_an_approval_now_sends_only_what_has_one(
    approval: Approval | None, said_then: str, tmp_path: Path
) -> None:
    """What was queued before has none."""
    said = Transcript()
    rules = rules_from(tmp_path / "p", POLICY.replace("delivery: queued", "approval: required"))
    one = taken()
    one = replace(one, record=record(approval=approval))
    sender = ScriptedSender(said, ScriptedAnswer(said))
    await delivered(rules, said, sender, lambda: len(said) > 1, take=[one], admit=[ADMIT], end=[SETTLED])

    assert said[:2] == ["take", said_then]


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


async def test_an_answer_that_breaks_a_look_ends_nothing(rules: RuleSet) -> None:
    """A bug is logged; what is due is found at the next look."""
    said = Transcript()
    await delivered(
        rules, said, ScriptedSender(said), lambda: said.count("take") == 1, nudges=True,
        due=[ValueError("no such thing"), [RESOURCE]],
    )  # fmt: skip

    assert said == ["take"]


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


class Slow:
    """Implements `sending.Sender`: nothing is answered before it is told."""

    def __init__(self) -> None:
        self.told = asyncio.Event()

    async def send(self, *_: object) -> NotSent:
        await self.told.wait()
        return NotSent("unreachable", "away")


async def test_what_was_approved_comes_before_a_backlog(rules: RuleSet) -> None:
    """Of its own upstream, all of whose other places are taken."""
    said, sender, late = Transcript(), Slow(), ResourceKey("report/late")

    def late_is_taken() -> bool:
        if said.count("take") < 33:
            return False
        sender.told.set()
        return True

    queue = await delivered(
        rules, said, sender, late_is_taken, due=[[ResourceKey(f"report/{number}") for number in range(1_000)]],
        approved=[[], [late]], take=1_100 * [taken()], admit=1_100 * [ADMIT], end=1_100 * [SETTLED],
    )  # fmt: skip

    assert queue.asked.index(late) == 32


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


@pytest.mark.parametrize(
    ("changes_at", "asked"),
    [
        ("take", []),
        ("deliver t1 epoch 42", ["deliver t1 epoch 42"]),
        ("deliver t2 epoch 42", ["deliver t1 epoch 42", "deliver t2 epoch 42", "abandon t2"]),
    ],
    ids=["while it was judged", "while it waited for its turn", "as it was admitted"],
)
async def test_what_was_judged_by_former_policies_is_judged_anew(
    tmp_path: Path, changes_at: str, asked: list[str]
) -> None:
    """It is put back, and taken again under those in force: with their credentials, or not at all. It is neither sent
    by former ones nor lost."""
    former = rules_from(tmp_path / "p", POLICY)

    class Changing(Transcript):
        def say(self, line: str) -> None:
            super().say(line)
            if line == changes_at:
                former.end()

    said = Changing()
    await delivered(
        former,
        said,
        ScriptedSender(said),
        lambda: any(line.startswith("put back") for line in said),
        take=[taken()],
        admit=[Waiting("busy", 0), ADMIT],
        leave=[None],
    )

    told = [line for line in said if line.split()[0] in ("deliver", "abandon", "send", "put")]
    assert told == [*asked, "put back for 0 s"]
