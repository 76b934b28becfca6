"""An operator takes an intent back: what is asked of the store and the upstream, and what is refused before."""

import asyncio
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gateway.core.clock import Deadline
from gateway.core.compensation import Kept, Unavailable, Undo
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.faults import BrokenAnswer, StoreUnavailable
from gateway.core.intent import IntentId
from gateway.core.kept_request import KeptRequest
from gateway.core.outcome import NoReply, NotSent, Outcome
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted, Settled, TicketId, Waiting, Write
from gateway.flow.clock import BootClock
from gateway.flow.compensating import Compensating
from gateway.log import Log
from gateway.policy.ruleset import RuleSet
from tests.playbook.caller import Counted
from tests.playbook.given import RESOURCE
from tests.playbook.script import Transcript
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender
from tests.policy.asking import rules

UNDO = KeptRequest("DELETE", "/x/7", (), b"")
FIRST = IntentRecord(
    id=IntentId("0a1first"),
    state="applied",
    upstream="api",
    rule="one",
    resource=RESOURCE,
    epoch=Epoch(42),
    holder="agent-a",
    key="k-1",
    tenant="acme",
    target="POST /x/7",
    attempts=1,
    created_at_ms=0,
    updated_at_ms=0,
    reason="answered 201",
)
POLICY = "upstream: api\nurl: http://127.0.0.1:9\n"


@dataclass
class Store:
    """Implements `Compensations`: what was asked, and canned answers to `admit`."""

    said: Transcript
    replies: deque[object] = field(default_factory=lambda: deque(["admitted"]))
    undo_: Undo | None = UNDO

    async def undo(self, id: IntentId) -> Undo | None:
        return self.undo_

    def new_ticket(self, write: Write) -> TicketId:
        return TicketId("t1")

    async def admit(
        self, first: IntentRecord, write: Write, ticket: TicketId, *, queued: bool, note: str, by: str
    ) -> Admitted | Waiting | Refused:
        self.said.say(f"admit{' queued' * queued}: {note} ({by})")
        reply = self.replies.popleft()
        if isinstance(reply, BaseException):
            raise reply
        if reply == "admitted":
            return Admitted(write, ticket, None, IntentId("0a1second"))
        assert isinstance(reply, Waiting | Refused)
        return reply

    async def settle_of(
        self,
        first: IntentId,
        admitted: Admitted,
        outcome: Outcome,
        reason: str,
        kept: Kept | None,
        *,
        unfinished: bool,
    ) -> Settled:
        self.said.say(f"settle {outcome}: {reason}, of {first}")
        return Settled(False, None, outcome)

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        self.said.say("abandon")

    async def leave(self, write: Write) -> None:
        self.said.say("leave")

    async def recall(self, id: str) -> IntentRecord | None:
        return replace(FIRST, state="compensating")


class HurryingClock(BootClock):
    """Whoever waits has waited long enough."""

    def left(self, deadline: Deadline) -> float:
        return -1.0


def compensating(store: Store, found: RuleSet, sender: ScriptedSender, clock: BootClock | None = None) -> Compensating:
    return Compensating(store, sender, lambda: found, clock or BootClock(), Counted(), Log("json"))


@pytest.mark.parametrize(
    ("evidence", "settled"),
    [
        (NotSent("unreachable", "refused"), "settle not_applied: refused, of 0a1first"),
        (NoReply("timeout", "no answer"), "settle unknown: no answer, of 0a1first"),
        ("204", "settle applied: answered 204, of 0a1first"),
        ("404", "settle not_applied: answered 404, of 0a1first"),
        ("broken", "settle unknown: cut, of 0a1first"),
    ],
    ids=["not sent", "no reply", "applied", "not applied", "broken"],
)
async def test_it_is_sent_once_and_settled(tmp_path: Path, evidence: object, settled: str) -> None:
    """By what the wire showed, as any write."""
    said = Transcript()
    if evidence == "broken":
        answer: object = ScriptedAnswer(said, 200, BrokenAnswer("cut"))
    else:
        answer = ScriptedAnswer(said, int(evidence), (b"", True)) if isinstance(evidence, str) else evidence
    one = compensating(Store(said), rules(tmp_path, POLICY), ScriptedSender(said, answer))

    found = await one.run(FIRST, "in error", "operator")

    assert isinstance(found, IntentRecord)
    assert found.state == "compensating"
    assert [line for line in said if line not in ("read small", "close")] == [
        "admit: in error (operator)",
        "send t1",
        settled,
    ]


async def test_it_asks_again_while_something_is_in_flight(tmp_path: Path) -> None:
    """From its place among those that wait."""
    said = Transcript()
    store = Store(said, deque([Waiting("busy", 0.01), "admitted"]))
    one = compensating(store, rules(tmp_path, POLICY), ScriptedSender(said, NotSent("unreachable", "refused")))

    await one.run(FIRST, "n", "o")

    assert said[:3] == ["admit: n (o)", "admit queued: n (o)", "send t1"]


async def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    """Nothing was sent, and its place is given up; the refusal says how to get through."""
    said = Transcript()
    store = Store(said, deque([Waiting("busy", 0.5)]))
    one = compensating(store, rules(tmp_path, POLICY), ScriptedSender(said), HurryingClock())

    refused = await one.run(FIRST, "n", "o")
    await one.close(5.0)

    assert isinstance(refused, Refused)
    assert (refused.decision.name, list(said)) == ("resource-busy", ["admit: n (o)", "leave"])
    assert "Pause the resource" in refused.detail


async def test_what_older_writes_keep_back_is_told_how_they_end(tmp_path: Path) -> None:
    """A pause would keep what is queued where it is."""
    said = Transcript()
    store = Store(said, deque([Waiting("older", 0.5)]))
    one = compensating(store, rules(tmp_path, POLICY), ScriptedSender(said), HurryingClock())

    refused = await one.run(FIRST, "n", "o")
    await one.close(5.0)

    assert isinstance(refused, Refused) and refused.decision.name == "resource-busy"
    assert "advance the resource" in refused.detail and "Pause" not in refused.detail


async def test_a_store_that_is_away_is_told_that_nothing_was_sent(tmp_path: Path) -> None:
    """Its ticket may be there all the same."""
    said = Transcript()
    store = Store(said, deque([StoreUnavailable("away")]))
    one = compensating(store, rules(tmp_path, POLICY), ScriptedSender(said))

    refused = await one.run(FIRST, "n", "o")
    await one.close(5.0)

    assert isinstance(refused, Refused)
    assert (refused.decision.name, list(said)) == ("store-unavailable", ["admit: n (o)", "abandon"])


async def test_a_gateway_that_stops_leaves_it_unknown(tmp_path: Path) -> None:
    """What was being sent is broken off, and its ticket is settled all the same."""
    said = Transcript()
    one = compensating(Store(said), rules(tmp_path, POLICY), ScriptedSender(said, "stuck"))
    running = asyncio.get_running_loop().create_task(one.run(FIRST, "n", "o"))
    await said.until("send t1")

    await one.close(0.01)

    assert said[-1] == "settle unknown: the gateway was stopped while the write was in flight, of 0a1first"
    await running


@pytest.mark.parametrize(
    ("first", "undo", "says"),
    [
        (replace(FIRST, state="unknown"), UNDO, "the intent is unknown"),
        (FIRST, None, "had no compensation"),
        (FIRST, Unavailable("no `query.q`"), "no `query.q`"),
        (replace(FIRST, upstream="gone"), UNDO, "no policy in force has the upstream gone"),
    ],
    ids=["not applied", "no compensation", "unavailable", "no upstream"],
)
async def test_what_cannot_be_sent_is_refused(
    tmp_path: Path, first: IntentRecord, undo: Undo | None, says: str
) -> None:
    """Before the store is asked for a ticket."""
    said = Transcript()
    one = compensating(Store(said, undo_=undo), rules(tmp_path, POLICY), ScriptedSender(said))

    refused = await one.run(first, "n", "o")

    assert isinstance(refused, Refused)
    assert (refused.decision.name, list(said)) == ("wrong-state", [])
    assert says in refused.detail
