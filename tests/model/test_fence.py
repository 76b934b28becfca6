"""The scripts and the plain fence answer alike and leave the same behind, whatever is asked in whatever order."""

import shutil
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from gateway.core.decision import Refused
from gateway.core.epoch import HIGHEST
from gateway.core.intent import Intent
from gateway.core.lease import Lease
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey, Write
from gateway.store.intents import Pause, pause, resume
from gateway.store.keys import resource_keys
from tests.model import drawn
from tests.model.machine import LEASE_MS, LONG_AGO_MS, compare, name_of
from tests.model.test_intents import IntentMachine
from tests.store.server import Server

Wanted = tuple[str, int]


class FenceMachine(IntentMachine):
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
        self.admit(gateway, self.next_write(resource, of, newer, intent))

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
    def extend(self, data: st.DataObject, gateway: int) -> None:
        """A session, as long as a write of its token would be admitted."""
        one = self.any_admitted(data)
        reply = self.run(self.stores[gateway].extend(one, ttl_s=3600))
        assert name_of(reply, type(reply).__name__.lower()) == self.fence(one.write.resource).extend(one)

    @rule(gateway=drawn.gateways, resource=drawn.resources, id=st.sampled_from(("p1", "p2")))
    def pause(self, gateway: int, resource: ResourceKey, id: str) -> None:
        """Begun, or ended by its id: a paused resource has few stories."""
        store, fence = self.stores[gateway], self.fence(resource)
        if fence.pause is None:
            fence.pause = self.run(pause(store, resource, id=id, reason="", by="somebody")).id
            assert fence.pause == id
        assert self.run(pause(store, resource, id="later", reason="", by="somebody")).id == fence.pause
        self.run(resume(store, Pause("another", resource, "", "", 0)))
        self.check_fence(resource, fence)
        if id == "p1":
            self.run(resume(store, Pause(fence.pause, resource, "", "", 0)))
            fence.pause = None

    @rule(gateway=drawn.gateways, resource=drawn.resources, wanted=drawn.epochs, secret=st.none() | drawn.secrets)
    def peek(self, gateway: int, resource: ResourceKey, wanted: Wanted, secret: bytes | None) -> None:
        """It says what admission would, and moves nothing."""
        write = Write(drawn.RULE, resource, self.epoch(resource, wanted), "A", secret)
        refused = self.run(self.stores[gateway].peek(write))
        seen = self.seen.get((gateway, resource), 0)
        assert (refused and refused.decision.name) == self.fence(resource).refuses(write, seen)

    @rule(
        gateway=drawn.gateways,
        resource=drawn.resources,
        holder=drawn.holders,
        secret=drawn.secrets,
        takeover=st.booleans(),
    )
    def grant(self, gateway: int, resource: ResourceKey, holder: str, secret: bytes, takeover: bool) -> None:
        fence = self.fence(resource)
        seen = self.seen.get((gateway, resource), 0)
        before = max(fence.highest or 0, seen)
        reply = self.run(
            self.stores[gateway].grant(resource, holder, secret, ttl_ms=LEASE_MS, takeover=takeover, watch=False)
        )
        fresh = reply.epoch if isinstance(reply, Lease) else 0
        known = fence.secret == secret
        told = fence.grant(holder, secret, takeover, fresh, exhausted=before == HIGHEST, seen=seen)
        assert name_of(reply, "granted") == told
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
        if not isinstance(reply, Refused):
            self.see(gateway, resource, reply)

    @rule(resource=drawn.resources)
    def time_ends_the_lease(self, resource: ResourceKey) -> None:
        if self.fence(resource).lease == "live":
            self.redis.hset(resource_keys(resource)[0], "x", LONG_AGO_MS)
            self.fence(resource).lease = "expired"


@pytest.mark.timeout(300)
def test_the_scripts_agree_with_the_plain_fence(store_url: str) -> None:
    """Every reply, every record and every event equals the oracle's, for two gateways that share the store."""
    compare(FenceMachine, store_url, 40)


@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server on PATH")
def test_the_scripts_agree_on_redis_too(tmp_path: Path) -> None:
    """The oldest supported server runs the same scripts to the same effect."""
    server = Server(shutil.which("redis-server") or "", tmp_path, "--save", "")
    server.start()
    try:
        compare(FenceMachine, server.url, 15)
    finally:
        server.kill()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_scripts_agree_for_long(store_url: str) -> None:
    """Many more stories, other ones each time, for the rare ones."""
    compare(FenceMachine, store_url, 2000, fresh=True)
