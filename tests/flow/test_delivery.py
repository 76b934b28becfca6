"""Deliverers: what they take, what they put back, and when they go on."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.core.decision import INTENT_IN_PROGRESS, PAUSED, STALE_EPOCH, Refused
from gateway.core.delivery import Dropped
from gateway.core.faults import StoreUnavailable
from gateway.core.outcome import NotSent
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
    rules: RuleSet, said: Transcript, sender: ScriptedSender, is_over: Callable[[], bool], **scripts: list[object]
) -> None:
    """Let a deliverer work until this is so."""
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
            await until(is_over, within_s=5)
        finally:
            await deliverer.close(1.0)
            await running.drain(1.0)


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
        due=[StoreUnavailable("away"), [RESOURCE], [RESOURCE]], take=[StoreUnavailable("away")],
    )  # fmt: skip

    assert said == ["take", "take"]


async def test_a_record_that_breaks_a_delivery_ends_nothing(rules: RuleSet) -> None:
    """A bug is logged; the others are still delivered."""
    said = Transcript()
    with contextlib.suppress(TimeoutError):
        await delivered(
            rules, said, ScriptedSender(said), lambda: said.count("take") == 2, due=[[RESOURCE], [RESOURCE]],
            take=[ValueError("no such thing")],
        )  # fmt: skip

    assert said == ["take", "take"]
