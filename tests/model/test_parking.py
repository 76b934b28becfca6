"""Parked intents, whatever comes in whichever order: the store's queue and records are the oracle's."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from gateway.core.decision import Refused
from gateway.core.delivery import Again, Conclusion, Dropped, GivenUp, Taken
from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted, Write
from gateway.store.deliveries import Deliveries
from gateway.store.intents import Resolve, resolve
from gateway.store.keys import deliveries, intent_id, kept_request, shard_of
from gateway.store.parking import Decide, decide, expire, retry
from tests.model.machine import StoreMachine, compare
from tests.model.parking import Line
from tests.store.fences import RESOURCE, name_of
from tests.store.overdue import make_overdue
from tests.store.parked import APPROVED, QUEUED, REQUEST, keyed, make_due, make_expired

names = st.sampled_from(("one", "two", "three", "four", "five"))
# Most steps are of one holder, or nothing would ever be delivered.
seldom = st.sampled_from((False, False, False, False, True))
principals = st.sampled_from(("anna", "ben", "carl"))
# None: an operator.
approvers = st.sampled_from((None, None, None, "anna", "ben", "carl"))
outcomes: st.SearchStrategy[Outcome] = st.sampled_from(("applied", "not_applied", "not_applied", "unknown"))


class ParkingMachine(StoreMachine):
    def __init__(self) -> None:
        super().__init__()
        self.line = Line()
        self.queue = self.run(self.deliveries())
        self.secrets = itertools.count(1)
        self.notes = itertools.count(1)
        self.taken: dict[str, Taken] = {}
        self.keepings: dict[str, int] = {}
        self.under_way: dict[str | None, Admitted] = {}
        self.ways: dict[str, str] = {}
        self.next_holder(released=False)

    async def deliveries(self) -> Deliveries:
        return Deliveries(self.stores[0])

    def teardown(self) -> None:
        self.run(self.queue.close())
        super().teardown()

    def write(self, name: str | None, way: Any = QUEUED) -> Write:
        """Of whoever has the resource now; without a name an inline one."""
        plain = replace(way, authority="lease", parks=None, intent=replace(way.intent, mode="off"))
        base = Write(plain, RESOURCE, Epoch(self.line.highest), None, self.secret)
        return (
            base if name is None else keyed(replace(base, rule=replace(way, authority="lease")), digest=f"{name:-<22}")
        )

    def id(self, name: str) -> IntentId:
        return intent_id(RESOURCE, f"{name:-<22}")

    @rule(released=st.booleans(), now=seldom)
    def lease(self, released: bool, now: bool) -> None:
        """A newer holder, after the one before has let go, or was taken over."""
        if now:
            self.next_holder(released)

    @rule(now=seldom)
    def advance(self, now: bool) -> None:
        """An operator ends whoever writes; somebody else comes after that."""
        if now:
            advanced = self.run(self.stores[0].advance(RESOURCE, None, f"request {next(self.notes)}"))
            assert not isinstance(advanced, Refused)
            self.line.advance(advanced)
            self.next_holder(released=False)

    def next_holder(self, released: bool) -> None:
        if released and self.line.highest:
            self.run(self.stores[0].release(RESOURCE, Epoch(self.line.highest), self.secret))
        secret = b"%016d" % next(self.secrets)
        lease = self.run(self.stores[0].grant(RESOURCE, "A", secret, ttl_ms=3_600_000, takeover=True, watch=False))
        assert isinstance(lease, Lease)
        self.secret = secret
        self.line.lease(lease.epoch, after_release=released and self.line.highest > 0)
        assert lease.drained == (not self.line.on_its_way and not self.line.let_go)

    @rule(name=names, approved=st.booleans(), who=principals)
    def park(self, name: str, approved: bool, who: str) -> None:
        """For the first time, again, by a successor, or anew. Two rules never take one request."""
        one = self.line.known.get(name)
        fresh = one is None or one.state in ("not_applied", "superseded", "expired", "failed")
        if fresh:
            self.ways[name] = "awaiting_approval" if approved else "queued"
        way = APPROVED if self.ways[name] == "awaiting_approval" else QUEUED
        reply = self.run(self.stores[0].park(replace(self.write(name, way), principal=who), REQUEST))
        told = reply.state if isinstance(reply, IntentRecord) else name_of(reply)
        assert {"Replayed": "replayed"}.get(told, told) == self.line.park(name, self.ways[name], who)

    @rule()
    def take(self) -> None:
        make_due(self.redis)
        reply, name = self.run(self.queue.take(RESOURCE)), self.line.take()
        if isinstance(reply, Taken):
            assert name is not None and reply.record.id == self.id(name) and reply.request == REQUEST
            self.taken[name], self.keepings[name] = reply, self.line.known[name].keeping
        elif isinstance(reply, Dropped):
            assert name is not None and reply.record.id == self.id(name) and reply.record.state == "superseded"
        else:
            assert name is None

    @precondition(lambda self: self.taken)
    @rule(data=st.data())
    def deliver(self, data: st.DataObject) -> None:
        """Just taken, or long ago."""
        ready = [name for name in self.line.queue[:1] if name in self.taken]
        name = data.draw(st.sampled_from(ready or sorted(self.taken)))
        epoch, keeping = self.taken[name].record.epoch, self.taken[name].record.keeping
        write = replace(self.write(name), epoch=epoch, secret_digest=None, holder="A", keeping=keeping)
        reply = self.run(self.queue.admit(write, self.queue.new_ticket(RESOURCE), ttl_s=3600, queued=True, behind=0))
        assert name_of(reply) == self.line.deliver(name, epoch, self.keepings[name])
        if isinstance(reply, Admitted):
            self.under_way[name] = reply

    @rule(now=seldom)
    def write_inline(self, now: bool) -> None:
        if not now:
            return
        write = self.write(None)
        reply = self.run(
            self.stores[0].admit(write, self.stores[0].new_ticket(RESOURCE), ttl_s=3600, queued=True, behind=0)
        )
        assert name_of(reply) == self.line.write()
        if isinstance(reply, Admitted):
            self.under_way[None] = reply

    @precondition(lambda self: self.under_way)
    @rule(data=st.data(), outcome=outcomes, again=st.booleans(), silent=st.booleans())
    def end(self, data: st.DataObject, outcome: Outcome, again: bool, silent: bool) -> None:
        """Settled, perhaps twice; or its deliverer fell silent, and it was swept."""
        name = data.draw(st.sampled_from(sorted(self.under_way, key=str)))
        one = self.under_way.pop(name)
        if name is None:
            self.run(self.stores[0].settle(one, outcome, "a test", None))
            self.line.on_its_way.remove(None)
        elif silent:
            make_overdue(self.redis, RESOURCE, one.ticket)
            self.run(self.stores[0].sweep(RESOURCE, one.ticket))
            self.line.end(name, "unknown", again=False)
        else:
            conclusion = Conclusion(outcome, "a test", None, Again(0.0) if again else GivenUp())
            for _ in range(data.draw(st.sampled_from((1, 1, 2)))):
                self.run(self.queue.end(self.taken[name], one, conclusion))
            self.line.end(name, outcome, again=again)

    @precondition(lambda self: self.line.known)
    @rule(data=st.data(), approve=st.sampled_from((True, True, True, False)), who=approvers)
    def decide(self, data: st.DataObject, approve: bool, who: str | None) -> None:
        waiting = [name for name, one in self.line.known.items() if one.state == "awaiting_approval"]
        name = data.draw(st.sampled_from(sorted(waiting or self.line.known)))
        record = self.record(name)
        assert record.parking is not None
        verdict = Decide(
            "approve" if approve else "deny", who or "operator", who, f"note {next(self.notes)}", record.parking.digest
        )
        reply = self.run(decide(self.stores[0], record, verdict))
        told = reply.state if isinstance(reply, IntentRecord) else reply.decision.name
        assert told == self.line.decide(name, who, approve=approve)

    @precondition(lambda self: self.line.known)
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        failed = [name for name, one in self.line.known.items() if one.state in ("failed", "not_applied")]
        name = data.draw(st.sampled_from(sorted(failed or self.line.known)))
        reply = self.run(retry(self.stores[0], self.record(name), note=f"note {next(self.notes)}", by="operator"))
        told = reply.state if isinstance(reply, IntentRecord) else reply.decision.name
        assert told == self.line.retry(name)

    @precondition(lambda self: any(one.state == "unknown" for one in self.line.known.values()))
    @rule(data=st.data(), outcome=st.sampled_from(("applied", "not_applied")))
    def resolve(self, data: st.DataObject, outcome: Any) -> None:
        unknown = sorted(name for name, one in self.line.known.items() if one.state == "unknown")
        name = data.draw(st.sampled_from(unknown))
        self.run(resolve(self.stores[0], self.record(name), Resolve(outcome, "operator", "seen", "operator")))
        self.line.resolve(name, outcome)

    @precondition(lambda self: any(one.state == "awaiting_approval" for one in self.line.known.values()))
    @rule(data=st.data())
    def expire(self, data: st.DataObject) -> None:
        waiting = sorted(name for name, one in self.line.known.items() if one.state == "awaiting_approval")
        name = data.draw(st.sampled_from(waiting))
        make_expired(self.redis, self.write(name))
        self.run(expire(self.stores[0], self.id(name)))
        self.line.expire(name)

    def record(self, name: str) -> IntentRecord:
        record = self.run(self.stores[0].recall(self.id(name)))
        assert record is not None
        return record

    @invariant()
    def everything_is_as_it_should_be(self) -> None:
        """Records, requests, the queue, when it is due, and what was let go of."""
        shard = shard_of(RESOURCE)
        for name, one in self.line.known.items():
            record = self.record(name)
            assert record.parking is not None
            assert (record.state, record.epoch, record.parking.failures) == (one.state, one.epoch, one.failures), name
            assert self.redis.exists(kept_request(shard, self.id(name))) == one.kept
        queue = [id.decode() for id in self.redis.lrange(f"{deliveries(shard)}:{RESOURCE}", 0, -1)]
        assert queue == [self.id(name) for name in self.line.queue]
        assert self.redis.zcard(deliveries(shard)) == bool(queue)
        let_go = (self.redis.hget(f"fg:{{{shard}}}:f:{RESOURCE}", "g") or b"").split()
        assert [int(epoch) for epoch in let_go] == self.line.let_go


# Three thousand take three minutes on a busy machine.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("examples", [30, pytest.param(3000, marks=pytest.mark.slow)], ids=["short", "long"])
def test_parked_intents_are_the_oracles(store_url: str, examples: int) -> None:
    """Through takeovers, releases, failures, approvals and deliverers that fall silent."""
    compare(ParkingMachine, store_url, examples)
