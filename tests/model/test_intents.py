"""Intents, tried again and again: their records and their trail are the oracle's, whatever becomes of the attempts."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from gateway.core.faults import StoreUnavailable
from gateway.core.intent import Intent, IntentId, KeptAnswer, ResolvedBy
from gateway.core.outcome import Outcome
from gateway.core.rule import Rule
from gateway.core.write import Admitted, ResourceKey, Write
from gateway.store.embedded import find_server
from gateway.store.intents import Pause, Resolve, resolve, resume
from gateway.store.keys import intent_id, shard_keys, shard_of
from gateway.store.prune import PRUNE
from tests.model import drawn
from tests.model.machine import StoreMachine, compare, name_of, told
from tests.model.record import Resolution
from tests.store.overdue import make_overdue
from tests.store.server import Server

# Three quarters of the time, in the middle of whatever is asked.
_STANDS_STILL_S = 0.3
_GOES_ON_S = 0.1


class IntentMachine(StoreMachine):
    @rule(
        gateway=drawn.gateways,
        resource=drawn.resources,
        of=drawn.plain_rules | drawn.rules,
        intent=drawn.keyed,
        newer=st.sampled_from((0, 0, 0, 1)),
        same_place=st.booleans(),
        outcome=st.none() | st.just("unknown") | drawn.outcomes,
        answer=drawn.answers,
    )
    def attempt(
        self,
        gateway: int,
        resource: ResourceKey,
        of: Rule,
        intent: Intent,
        newer: int,
        same_place: bool,
        outcome: Outcome | None,
        answer: KeptAnswer | None,
    ) -> None:
        """An intent is tried, again or for the first time; without an outcome it is left in flight."""
        before = len(self.admitted)
        write = self.next_write(resource, of, newer, intent)
        again = next((one.write for one in self.admitted[-3:] if one.write.intent == intent), write)
        self.admit(gateway, replace(write, sequence=again.sequence) if same_place else write)
        if outcome is not None and len(self.admitted) > before:
            self.end(gateway, self.admitted[-1], outcome, answer)

    @precondition(lambda self: self.admitted)
    @rule(data=st.data(), gateway=drawn.gateways)
    def admit_again(self, data: st.DataObject, gateway: int) -> None:
        """A call whose answer was lost; or one of an intent's that comes once more behind its end, and does nothing."""
        one = self.any_admitted(data)
        fence = self.fence(one.write.resource)
        record = None if one.write.intent is None else fence.records.get(one.intent)
        if one.ticket in fence.tickets or one.ticket in fence.older:
            assert told(self.ask(gateway, one.write, one.ticket)) == fence.admit(one.write, one.ticket)
            self.see(gateway, one.write.resource, one.write.epoch)
        elif record is not None and one.ticket in (record.ticket, *record.former):
            with pytest.raises(StoreUnavailable, match="later than it was asked"):
                self.ask(gateway, one.write, one.ticket)

    @precondition(lambda self: self.admitted)
    @rule(data=st.data(), gateway=drawn.gateways, outcome=drawn.outcomes, answer=drawn.answers)
    def settle(self, data: st.DataObject, gateway: int, outcome: Outcome, answer: KeptAnswer | None) -> None:
        """In flight, settled before, swept before, resolved before, or lost."""
        one = self.any_admitted(data)
        for _ in range(data.draw(st.sampled_from((1, 1, 2)))):
            self.end(gateway, one, outcome, answer)

    @precondition(lambda self: self.overtaken_attempts())
    @rule(data=st.data(), gateway=drawn.gateways, outcome=st.just("applied") | drawn.outcomes, answer=drawn.answers)
    def settle_late(self, data: st.DataObject, gateway: int, outcome: Outcome, answer: KeptAnswer | None) -> None:
        """The key has been given to another attempt since."""
        self.end(gateway, data.draw(st.sampled_from(self.overtaken_attempts())), outcome, answer)

    @rule(data=st.data(), gateway=drawn.gateways, resource=drawn.resources, of=drawn.rules, intent=drawn.intents)
    def abandon(
        self, data: st.DataObject, gateway: int, resource: ResourceKey, of: Rule, intent: Intent | None
    ) -> None:
        """Whether or not the admission had arrived."""
        write = Write(of, resource, self.epoch(resource, ("by", 1)), "A", None, 1, intent=intent)
        ticket = self.stores[gateway].new_ticket(resource)
        if self.admitted and data.draw(st.booleans()):
            one = self.any_admitted(data)
            write, ticket = one.write, one.ticket
        self.run(self.stores[gateway].abandon(write, ticket))
        id = IntentId(ticket) if write.intent is None else intent_id(write.resource, write.intent.digest)
        self.fence(write.resource).settle(Admitted(write, ticket, None, id), "not_applied", None, abandoned=True)

    @precondition(lambda self: self.admitted)
    @rule(data=st.data(), gateway=drawn.gateways, swept=st.booleans())
    def a_gateway_falls_silent(self, data: st.DataObject, gateway: int, swept: bool) -> None:
        """The sweeper ends its ticket, or whoever comes next and finds it in the way."""
        one = self.any_admitted(data)
        resource, fence = one.write.resource, self.fence(one.write.resource)
        if one.ticket in fence.tickets or one.ticket in fence.older:
            make_overdue(self.redis, resource, one.ticket)
            fence.overdue.add(one.ticket)
        elif one.ticket in fence.unfinished:
            make_overdue(self.redis, resource, one.ticket)
            del fence.unfinished[one.ticket]
        if swept:
            assert self.run(self.stores[gateway].sweep(resource, one.ticket)) == fence.sweep(one.ticket)

    @precondition(lambda self: self.records())
    @rule(
        data=st.data(),
        gateway=drawn.gateways,
        outcome=st.sampled_from(("applied", "not_applied", "not_applied", "duplicated")),
        by=st.sampled_from(("query", "operator")),
        reason=drawn.reasons,
        late=st.sampled_from((False, False, False, True)),
    )
    def resolve(
        self, data: st.DataObject, gateway: int, outcome: Resolution, by: ResolvedBy, reason: str, late: bool
    ) -> None:
        """`late`: what is known is of an attempt before the newest."""
        record = data.draw(st.sampled_from(self.records("unknown") or self.records()))
        store, fence = self.stores[gateway], self.fence(record.write.resource)
        seen = self.run(store.recall(record.id))
        assert seen is not None
        if late:
            seen = replace(seen, attempts=seen.attempts - 1)
        evidence = b'{"count":1}' if by == "query" else b""
        expected = "wrong-state" if late else fence.resolve(record, outcome, by, reason, evidence)
        reply = self.run(resolve(store, seen, Resolve(outcome, by, reason, "somebody", evidence, by == "query")))
        assert name_of(reply, "resolved") == expected

    @rule(gateway=drawn.gateways)
    def resume(self, gateway: int) -> None:
        """What was executed twice has stopped its resource."""
        for resource, fence in self.fences.items():
            self.run(resume(self.stores[gateway], Pause(fence.pause or "none", resource, "", "", 0)))
            fence.pause = None

    @rule(data=st.data(), gateway=drawn.gateways, resource=drawn.resources, pruned=st.booleans())
    def time_ends_a_record(self, data: st.DataObject, gateway: int, resource: ResourceKey, pruned: bool) -> None:
        """Its place in the list of its state is left to the pruning."""
        ended = self.records("applied", "not_applied")
        if ended:
            record = data.draw(st.sampled_from(ended))
            self.redis.delete(self.record_key(record), self.undo_key(record))
            del self.fence(record.write.resource).records[record.id]
            self.left_over.add((record.state, record.id))
        if pruned:
            shard = shard_of(resource)
            self.run(self.stores[gateway].run(PRUNE, shard_keys(shard), "1000", "1000000", "0"))
            self.left_over = {(state, id) for state, id in self.left_over if not id.startswith(shard)}

    @precondition(lambda self: self.lost)
    @rule(data=st.data(), gateway=drawn.gateways, outcome=drawn.outcomes, answer=drawn.answers)
    def settle_lost(self, data: st.DataObject, gateway: int, outcome: Outcome, answer: KeptAnswer | None) -> None:
        """A failover has lost its admission, and its key may have been given away."""
        self.end(gateway, data.draw(st.sampled_from(self.lost)), outcome, answer)

    @rule(lost=st.booleans())
    def failover(self, lost: bool) -> None:
        """A replica is up to date; or it takes over, and has none of what came since."""
        if lost and self.remembered is not None:
            self.fall_back()
        else:
            self.remember()


@pytest.mark.timeout(300)
def test_the_scripts_agree_about_intents(store_url: str) -> None:
    """Every reply, every record, every list and every event equals the oracle's, for two gateways on one store."""
    compare(IntentMachine, store_url, 40)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_scripts_agree_about_many_intents(store_url: str) -> None:
    """Many more stories, other ones each time, for the rare ones."""
    compare(IntentMachine, store_url, 2000, fresh=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_store_that_stands_still_changes_no_story(tmp_path: Path) -> None:
    """No reply and no record depends on how long a call took."""
    server = Server(find_server(), tmp_path, "--save", "", "--appendonly", "no")
    server.start()
    over = threading.Event()
    stalling = threading.Thread(target=_stall, args=(server, over))
    stalling.start()
    try:
        compare(IntentMachine, server.url, 50, fresh=True)
    finally:
        over.set()
        stalling.join()
        server.kill()


def _stall(server: Server, over: threading.Event) -> None:
    while not over.wait(_GOES_ON_S):
        server.pause()
        over.wait(_STANDS_STILL_S)
        server.resume()
