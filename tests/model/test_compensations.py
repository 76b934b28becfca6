"""Intents that are taken back, whatever becomes of them and of what takes them back: the oracle's states follow."""

from dataclasses import replace

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from gateway.core.compensation import Kept, Undoable, compensating_intent
from gateway.core.decision import Refused
from gateway.core.intent import IntentId, KeptAnswer
from gateway.core.kept_request import KeptRequest
from gateway.core.outcome import Outcome
from gateway.core.rule import Fence
from gateway.core.write import Admitted, Waiting, Write
from gateway.store.compensations import Compensations
from gateway.store.keys import resource_keys
from tests.model import drawn
from tests.model.machine import compare
from tests.model.record import Record
from tests.model.test_intents import IntentMachine
from tests.model.told import Wait

UNDO = KeptRequest("DELETE", "/mails/1", (), b"")


class CompensationMachine(IntentMachine):
    def __init__(self) -> None:
        super().__init__()
        self.firsts: dict[IntentId, IntentId] = {}

    def end(self, gateway: int, one: Admitted, outcome: Outcome, answer: KeptAnswer | None) -> None:
        """Every write can be taken back; what takes one back says so when it is settled."""
        kept = answer if outcome == "applied" and one.write.intent is not None else None
        unfinished = self.is_next_unfinished()
        store, fence, first = self.stores[gateway], self.fence(one.write.resource), self.firsts.get(one.intent)
        if first is not None:
            fence.taking_back[one.intent] = first
            ending = Compensations(store).settle_of(first, one, outcome, "a test", kept, unfinished=unfinished)
            settled = self.run(ending)
        else:
            keyed = outcome == "applied" and one.write.intent is not None
            undoable: Kept | None = Undoable(kept, UNDO) if keyed else kept
            settled = self.run(store.settle(one, outcome, "a test", undoable, unfinished=unfinished))
        assert settled == fence.settle(one, outcome, kept, unfinished=unfinished)

    @precondition(lambda self: self.records())
    @rule(data=st.data(), gateway=drawn.gateways, outcome=st.none() | st.just("unknown") | drawn.outcomes)
    def compensate(self, data: st.DataObject, gateway: int, outcome: Outcome | None) -> None:
        """Most of the time one that is applied, and nothing else in flight; without an outcome it is left so."""
        record = data.draw(st.sampled_from(self.records("applied") or self.records()))
        store, fence = self.stores[gateway], self.fence(record.write.resource)
        seen = self.run(store.recall(record.id))
        assert seen is not None
        write = taking_back(record)
        ticket = store.new_ticket(write.resource)
        is_kept = bool(self.redis.exists(self.undo_key(record)))
        # Who came first is tested elsewhere.
        self.redis.delete(resource_keys(write.resource)[3])
        asked = Compensations(store).admit(seen, write, ticket, queued=False, note="in error", by="operator")
        reply = self.run(asked)
        assert shown(reply) == fence.compensate(record, write, ticket, is_kept=is_kept)
        if isinstance(reply, Admitted):
            self.firsts[reply.intent] = record.id
            self.admitted.append(reply)
            if outcome is not None:
                self.end(gateway, reply, outcome, None)


def taking_back(first: Record) -> Write:
    of = first.write.rule
    terms = replace(of.intent, on_unknown="hold", ask_after_s=None)
    fence = Fence(after_unknown=of.fence.after_unknown)
    plain = replace(of, fence=fence, intent=terms, revision=of.revision)
    intent = compensating_intent(first.id, "default", UNDO)
    return Write(plain, first.write.resource, first.write.epoch, None, None, intent=intent)


def shown(reply: Admitted | Waiting | Refused) -> Admitted | Wait | str:
    """As the oracle answers."""
    match reply:
        case Admitted():
            return reply
        case Waiting(why=why):
            return Wait(why)
        case Refused(decision=decision):
            return decision.name


@pytest.mark.timeout(300)
def test_the_scripts_agree_about_compensations(store_url: str) -> None:
    """Every reply, every record, every list and every event equals the oracle's, for two gateways on one store."""
    compare(CompensationMachine, store_url, 25)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_scripts_agree_about_many_compensations(store_url: str) -> None:
    """Many more stories, other ones each time, for the rare ones."""
    compare(CompensationMachine, store_url, 2000, fresh=True)
