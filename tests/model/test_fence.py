"""The scripts and the plain fence answer alike and leave the same behind, whatever is asked in whatever order."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from gateway.core.decision import Refused
from gateway.core.epoch import HIGHEST
from gateway.core.intent import Intent, IntentId, KeptAnswer, ResolvedBy
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.rule import Rule
from gateway.core.write import Admitted, ResourceKey, Write
from gateway.store.intents import Pause, Resolve, pause, resolve, resume
from gateway.store.keys import intent_id, resource_keys, shard_keys, shard_of
from gateway.store.prune import PRUNE
from tests.model import drawn
from tests.model.machine import LEASE_MS, LONG_AGO_MS, StoreMachine, name_of, told
from tests.model.record import Record, Resolution
from tests.store.overdue import make_overdue
from tests.store.server import Server

Wanted = tuple[str, int]


class FenceMachine(StoreMachine):
    @rule(
        gateway=drawn.gateways,
        resource=drawn.resources,
        wanted=drawn.epochs,
        holder=drawn.holders,
        of=drawn.rules,
        step=st.sampled_from((0, 1, 1, 2)),
        based_on=st.sampled_from((None, 0, -1)),
        intent=drawn.intents,
    )
    def admit_bare(
        self,
        gateway: int,
        resource: ResourceKey,
        wanted: Wanted,
        holder: str,
        of: Rule,
        step: int,
        based_on: int | None,
        intent: Intent | None,
    ) -> None:
        fence = self.fence(resource)
        epoch = self.epoch(resource, wanted)
        sequence = ((fence.sequence or 0) if epoch == fence.highest else 0) + step
        if_revision = None if based_on is None else max(fence.revision + based_on, 0)
        self.admit(gateway, Write(of, resource, epoch, holder, None, sequence, if_revision, intent))

    @rule(
        gateway=drawn.gateways,
        resource=drawn.resources,
        of=drawn.rules,
        newer=st.sampled_from((0, 0, 0, 1)),
        intent=drawn.intents,
    )
    def admit_in_order(self, gateway: int, resource: ResourceKey, of: Rule, newer: int, intent: Intent | None) -> None:
        """What most writes are: by the holder, under the highest epoch, next in the sequence."""
        fence = self.fence(resource)
        epoch = self.epoch(resource, ("by", newer))
        holder = fence.holder if epoch == fence.highest and fence.holder is not None else "A"
        sequence = (fence.sequence or 0) + 1 if epoch == fence.highest else 1
        secret = None if newer else fence.secret
        self.admit(gateway, Write(of, resource, epoch, holder, secret, sequence, intent=intent))

    @rule(
        gateway=drawn.gateways,
        resource=drawn.resources,
        wanted=drawn.epochs,
        holder=st.one_of(st.none(), drawn.holders),
        secret=drawn.secrets,
        of=drawn.rules,
    )
    def admit_leased(
        self, gateway: int, resource: ResourceKey, wanted: Wanted, holder: str | None, secret: bytes, of: Rule
    ) -> None:
        self.admit(gateway, Write(of, resource, self.epoch(resource, wanted), holder, secret, 1))

    @precondition(lambda self: self.admitted)
    @rule(data=st.data(), gateway=drawn.gateways)
    def admit_again(self, data: st.DataObject, gateway: int) -> None:
        """A call whose answer was lost; one that arrives after its ticket has ended is another story."""
        one = self.any_admitted(data)
        fence = self.fence(one.write.resource)
        if one.ticket in fence.tickets or one.ticket in fence.older:
            assert told(self.ask(gateway, one.write, one.ticket)) == fence.admit(one.write, one.ticket)

    @precondition(lambda self: self.admitted)
    @rule(data=st.data(), gateway=drawn.gateways, outcome=drawn.outcomes, answer=drawn.answers)
    def settle(self, data: st.DataObject, gateway: int, outcome: Outcome, answer: KeptAnswer | None) -> None:
        """In flight, settled before, swept before, resolved before, or lost."""
        one = self.any_admitted(data)
        kept = answer if outcome == "applied" and one.write.intent is not None else None
        for _ in range(data.draw(st.sampled_from((1, 1, 2)))):
            settled = self.run(self.stores[gateway].settle(one, outcome, "a test", kept))
            assert settled == self.fence(one.write.resource).settle(one, outcome, kept)

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
    @rule(data=st.data())
    def a_gateway_falls_silent(self, data: st.DataObject) -> None:
        """Whoever comes next and finds its ticket in the way ends it."""
        one = self.any_admitted(data)
        fence = self.fence(one.write.resource)
        if one.ticket in fence.tickets or one.ticket in fence.older:
            make_overdue(self.redis, one.write.resource, one.ticket)
            fence.overdue.add(one.ticket)

    @precondition(lambda self: self.admitted)
    @rule(data=st.data(), gateway=drawn.gateways)
    def sweep(self, data: st.DataObject, gateway: int) -> None:
        one = self.any_admitted(data)
        ended = self.run(self.stores[gateway].sweep(one.write.resource, one.ticket))
        assert ended == self.fence(one.write.resource).sweep(one.ticket)

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
        record = data.draw(st.sampled_from(self.records()))
        store, fence = self.stores[gateway], self.fence(record.write.resource)
        seen = self.run(store.recall(record.id))
        assert seen is not None
        if late:
            seen = replace(seen, attempts=seen.attempts - 1)
        evidence = b'{"count":1}' if by == "query" else b""
        expected = "wrong-state" if late else fence.resolve(record, outcome, by, reason, evidence)
        reply = self.run(resolve(store, seen, Resolve(outcome, by, reason, "somebody", evidence)))
        assert name_of(reply, "resolved") == expected

    @rule(gateway=drawn.gateways, resource=drawn.resources, id=st.sampled_from(("p1", "p2")))
    def pause(self, gateway: int, resource: ResourceKey, id: str) -> None:
        fence = self.fence(resource)
        fence.pause = fence.pause or id
        begun = self.run(pause(self.stores[gateway], resource, id=id, reason="", by="somebody"))
        assert begun.id == fence.pause

    @rule(gateway=drawn.gateways, resource=drawn.resources, own=st.sampled_from((True, True, False)))
    def resume(self, gateway: int, resource: ResourceKey, own: bool) -> None:
        fence = self.fence(resource)
        id = fence.pause or "p1" if own else "another"
        self.run(resume(self.stores[gateway], Pause(id, resource, "", "", 0)))
        fence.pause = None if own else fence.pause

    @rule(gateway=drawn.gateways, resource=drawn.resources, wanted=drawn.epochs, secret=st.none() | drawn.secrets)
    def peek(self, gateway: int, resource: ResourceKey, wanted: Wanted, secret: bytes | None) -> None:
        """It says what admission would, and moves nothing."""
        write = Write(drawn.RULE, resource, self.epoch(resource, wanted), "A", secret)
        refused = self.run(self.stores[gateway].peek(write))
        assert (refused and refused.decision.name) == self.fence(resource).refuses(write)

    @rule(
        gateway=drawn.gateways,
        resource=drawn.resources,
        holder=drawn.holders,
        secret=drawn.secrets,
        takeover=st.booleans(),
    )
    def grant(self, gateway: int, resource: ResourceKey, holder: str, secret: bytes, takeover: bool) -> None:
        fence = self.fence(resource)
        before = max(fence.highest or 0, self.seen.get((gateway, resource), 0))
        reply = self.run(
            self.stores[gateway].grant(resource, holder, secret, ttl_ms=LEASE_MS, takeover=takeover, watch=False)
        )
        fresh = reply.epoch if isinstance(reply, Lease) else 0
        known = fence.secret == secret
        assert name_of(reply, "granted") == fence.grant(holder, secret, takeover, fresh, exhausted=before == HIGHEST)
        if isinstance(reply, Lease):
            assert (reply.epoch, reply.holder) == (fence.highest, fence.holder)
            assert reply.in_flight == len(fence.older)
            assert fresh > before or known
            self.see(gateway, resource, fresh)

    @rule(
        gateway=drawn.gateways,
        resource=drawn.resources,
        wanted=drawn.epochs,
        secret=drawn.secrets,
        own=st.booleans(),
        release=st.booleans(),
    )
    def renew_or_release(
        self, gateway: int, resource: ResourceKey, wanted: Wanted, secret: bytes, own: bool, release: bool
    ) -> None:
        store, fence = self.stores[gateway], self.fence(resource)
        epoch, secret = self.token(resource, wanted, secret, own)
        if release:
            reply = self.run(store.release(resource, epoch, secret))
            assert name_of(reply, "released") == fence.release(epoch, secret)
        else:
            reply = self.run(store.renew(resource, epoch, secret))
            assert name_of(reply, "renewed") == fence.renew(epoch, secret)

    @rule(gateway=drawn.gateways, resource=drawn.resources, wanted=drawn.epochs, holder=drawn.holders)
    def register(self, gateway: int, resource: ResourceKey, wanted: Wanted, holder: str) -> None:
        epoch = self.epoch(resource, wanted)
        reply = self.run(self.stores[gateway].register(resource, epoch, holder, watch=False))
        assert name_of(reply, "registered") == self.fence(resource).register(epoch, holder)
        if not isinstance(reply, Refused):
            assert reply == len(self.fence(resource).older)
            self.see(gateway, resource, epoch)

    @rule(gateway=drawn.gateways, resource=drawn.resources, wanted=drawn.epochs, again=st.booleans())
    def advance(self, gateway: int, resource: ResourceKey, wanted: Wanted, again: bool) -> None:
        self.requests += not again
        epoch = self.epoch(resource, wanted)
        reply = self.run(self.stores[gateway].advance(resource, epoch, f"request {self.requests}"))
        assert name_of(reply, "advanced") == self.fence(resource).advance(epoch, f"request {self.requests}")

    @rule(resource=drawn.resources)
    def time_ends_the_lease(self, resource: ResourceKey) -> None:
        if self.fence(resource).lease == "live":
            self.redis.hset(resource_keys(resource)[0], "x", LONG_AGO_MS)
            self.fence(resource).lease = "expired"

    @precondition(lambda self: self.records("applied", "not_applied"))
    @rule(data=st.data())
    def time_ends_a_record(self, data: st.DataObject) -> None:
        """Its place in the list of its state is left to the pruning."""
        record = data.draw(st.sampled_from(self.records("applied", "not_applied")))
        self.redis.delete(self.record_key(record))
        del self.fence(record.write.resource).records[record.id]
        self.left_over.add((record.state, record.id))

    @rule(gateway=drawn.gateways, resource=drawn.resources)
    def prune(self, gateway: int, resource: ResourceKey) -> None:
        shard = shard_of(resource)
        self.run(self.stores[gateway].run(PRUNE, shard_keys(shard), "1000", "1000000", "0"))
        self.left_over = {(state, id) for state, id in self.left_over if not id.startswith(shard)}

    @rule()
    def a_replica_is_up_to_date(self) -> None:
        self.remember()

    @precondition(lambda self: self.remembered is not None)
    @rule(lose=st.sampled_from((True, False, False)))
    def a_failover_loses_what_came_since(self, lose: bool) -> None:
        if lose:
            self.fall_back()

    @invariant()
    def the_fences_are_alike(self) -> None:
        for resource, fence in self.fences.items():
            self.check_fence(resource, fence)

    @invariant()
    def the_records_are_alike(self) -> None:
        for record in self.records():
            self.check_record(record)
        self.check_lists()

    @invariant()
    def the_trail_tells_every_step(self) -> None:
        self.check_trail()


def compare(url: str, examples: int = 100) -> None:
    FenceMachine.url = url
    run_state_machine_as_test(
        FenceMachine,
        settings=settings(
            max_examples=examples, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@pytest.mark.timeout(300)
def test_the_scripts_agree_with_the_plain_fence(store_url: str) -> None:
    """Every reply, every record and every event equals the oracle's, for two gateways that share the store."""
    compare(store_url)


@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server on PATH")
def test_the_scripts_agree_on_redis_too(tmp_path: Path) -> None:
    """The oldest supported server runs the same scripts to the same effect."""
    server = Server(shutil.which("redis-server") or "", tmp_path, "--save", "")
    server.start()
    try:
        compare(server.url)
    finally:
        server.kill()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_scripts_agree_for_long(store_url: str) -> None:
    """Twenty times as many stories, for the rare ones."""
    compare(store_url, 2000)
