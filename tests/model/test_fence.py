"""The scripts and the plain fence answer alike and leave the same behind, whatever is asked in whatever order."""

import asyncio
import shutil
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from gateway.core.decision import Refused
from gateway.core.epoch import HIGHEST, Epoch
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.rule import Fence as FenceRule
from gateway.core.rule import Origin, Rule, Upstream
from gateway.core.write import Admitted, ResourceKey, TicketId, Waiting, Write
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from tests.model.oracle import Fence
from tests.store.overdue import make_overdue
from tests.store.server import Server

T = TypeVar("T")

_UPSTREAM = Upstream("reports", Origin("http", "localhost", 80))
_SECRETS = (b"s" * 16, b"t" * 16)
_LEASE_MS = 3_600_000
_LONG_AGO_MS = 1_000

resources = st.sampled_from((ResourceKey("a"), ResourceKey("b c/ü")))
gateways = st.sampled_from((0, 1))
holders = st.sampled_from(("A", "B é"))
secrets = st.sampled_from(_SECRETS)
outcomes: st.SearchStrategy[Outcome] = st.sampled_from(("applied", "not_applied", "unknown"))
# Relative to the highest, or absolute: both sides of 2^53, where doubles lose digits, of a change of length beyond it,
# and of the end.
epochs = st.one_of(
    st.sampled_from((-1, 0, 0, 0, 1)).map(lambda step: ("by", step)),
    st.sampled_from((1, 9, 10, 2**53 - 1, 2**53, 2**53 + 1, 10**17 - 1, 10**17, HIGHEST - 1, HIGHEST)).map(
        lambda epoch: ("to", epoch)
    ),
)
rules = st.builds(
    lambda order, concurrency, sequence, revision: Rule(
        "replace", _UPSTREAM, revision=revision, fence=FenceRule(order, concurrency, sequence=sequence)
    ),
    st.sampled_from(("monotonic", "monotonic", "strict")),
    st.sampled_from(("serial", "parallel", "parallel")),
    st.sampled_from(("off", "off", "increasing", "contiguous")),
    st.sampled_from(("off", "gateway")),
)


class FenceMachine(RuleBasedStateMachine):
    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.redis: Any = redis.Redis.from_url(self.url)
        self.redis.flushall()
        self.loop = asyncio.new_event_loop()
        self.stores = [self.run(self.open()) for _ in range(2)]
        self.fences: dict[ResourceKey, Fence] = {}
        self.writes: list[tuple[Write, TicketId]] = []
        self.requests = 0

    async def open(self) -> FenceStore:
        return await open_store(self.url, on_wake=lambda _: None, clock=BootClock(), timeout_s=10)

    def teardown(self) -> None:
        for store in self.stores:
            self.run(store.close())
        self.loop.close()
        self.redis.close()

    def run(self, call: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await call

        return self.loop.run_until_complete(awaited())

    def fence(self, resource: ResourceKey) -> Fence:
        return self.fences.setdefault(resource, Fence())

    def epoch(self, resource: ResourceKey, wanted: tuple[str, int]) -> Epoch:
        how, value = wanted
        base = (self.fence(resource).highest or 0) if how == "by" else 0
        return Epoch(min(max(base + value, 0), HIGHEST))

    def token(self, resource: ResourceKey, wanted: tuple[str, int], secret: bytes, own: bool) -> tuple[Epoch, bytes]:
        """The one that the newest lease has, or any."""
        fence = self.fence(resource)
        return self.epoch(resource, ("by", 0) if own else wanted), fence.secret if own and fence.secret else secret

    def forget_who_waits(self, resource: ResourceKey) -> None:
        """Who came first is tested elsewhere: it depends on how fast this test runs."""
        self.redis.delete(resource_keys(resource)[3])

    def ask(self, gateway: int, write: Write, ticket: TicketId) -> str:
        self.forget_who_waits(write.resource)
        reply = self.run(self.stores[gateway].admit(write, ticket, ttl_s=3600, queued=False, behind=0))
        match reply:
            case Admitted(revision=revision):
                counts = write.rule.revision == "gateway"
                assert revision == (self.fence(write.resource).revision if counts else None)
                return "admitted"
            case Waiting(why=why):
                return why
            case Refused(decision=decision):
                return decision.name

    @rule(
        gateway=gateways,
        resource=resources,
        wanted=epochs,
        holder=holders,
        of=rules,
        step=st.sampled_from((0, 1, 1, 2)),
        based_on=st.sampled_from((None, 0, -1)),
    )
    def admit_bare(
        self,
        gateway: int,
        resource: ResourceKey,
        wanted: tuple[str, int],
        holder: str,
        of: Rule,
        step: int,
        based_on: int | None,
    ) -> None:
        fence = self.fence(resource)
        epoch = self.epoch(resource, wanted)
        sequence = ((fence.sequence or 0) if epoch == fence.highest else 0) + step
        if_revision = None if based_on is None else max(fence.revision + based_on, 0)
        self.admit(gateway, Write(of, resource, epoch, holder, None, sequence, if_revision))

    @rule(gateway=gateways, resource=resources, of=rules, newer=st.sampled_from((0, 0, 0, 1)))
    def admit_in_order(self, gateway: int, resource: ResourceKey, of: Rule, newer: int) -> None:
        """What most writes are: by the holder, under the highest epoch, next in the sequence."""
        fence = self.fence(resource)
        epoch = self.epoch(resource, ("by", newer))
        holder = fence.holder if epoch == fence.highest and fence.holder is not None else "A"
        sequence = (fence.sequence or 0) + 1 if epoch == fence.highest else 1
        self.admit(gateway, Write(of, resource, epoch, holder, fence.secret if not newer else None, sequence))

    @rule(
        gateway=gateways,
        resource=resources,
        wanted=epochs,
        holder=st.one_of(st.none(), holders),
        secret=secrets,
        of=rules,
    )
    def admit_leased(
        self, gateway: int, resource: ResourceKey, wanted: tuple[str, int], holder: str | None, secret: bytes, of: Rule
    ) -> None:
        self.admit(gateway, Write(of, resource, self.epoch(resource, wanted), holder, secret, 1))

    def admit(self, gateway: int, write: Write) -> None:
        ticket = self.stores[gateway].new_ticket(write.resource)
        assert self.ask(gateway, write, ticket) == self.fence(write.resource).admit(write, ticket)
        if ticket in self.fence(write.resource).tickets:
            self.writes.append((write, ticket))

    @precondition(lambda self: self.writes)
    @rule(data=st.data(), gateway=gateways)
    def admit_again(self, data: st.DataObject, gateway: int) -> None:
        write, ticket = data.draw(st.sampled_from(self.writes))
        fence = self.fence(write.resource)
        if ticket in fence.tickets or ticket in fence.older:
            assert self.ask(gateway, write, ticket) == "admitted"

    @precondition(lambda self: self.writes)
    @rule(data=st.data(), gateway=gateways, outcome=outcomes)
    def settle(self, data: st.DataObject, gateway: int, outcome: Outcome) -> None:
        """In flight, settled before, or swept before."""
        write, ticket = data.draw(st.sampled_from(self.writes))
        settled = self.run(self.stores[gateway].settle(Admitted(write, ticket, None), outcome, "a test"))
        assert settled.overtaken == self.fence(write.resource).settle(write, ticket, outcome)

    @precondition(lambda self: self.writes)
    @rule(data=st.data(), gateway=gateways)
    def sweep_overdue(self, data: st.DataObject, gateway: int) -> None:
        write, ticket = data.draw(st.sampled_from(self.writes))
        make_overdue(self.redis, write.resource, ticket)
        ended = self.run(self.stores[gateway].sweep(write.resource, ticket))
        assert ended == self.fence(write.resource).sweep({ticket})

    @rule(gateway=gateways, resource=resources, holder=holders, secret=secrets, takeover=st.booleans())
    def grant(self, gateway: int, resource: ResourceKey, holder: str, secret: bytes, takeover: bool) -> None:
        fence = self.fence(resource)
        before = fence.highest or 0
        reply = self.run(
            self.stores[gateway].grant(resource, holder, secret, ttl_ms=_LEASE_MS, takeover=takeover, watch=False)
        )
        fresh = reply.epoch if isinstance(reply, Lease) else 0
        expected = fence.grant(holder, secret, takeover, fresh)
        assert _name(reply, "granted") == expected
        if isinstance(reply, Lease):
            assert (reply.epoch, reply.holder) == (fence.highest, fence.holder)
            assert reply.in_flight == len(fence.older)
            assert fresh >= before

    @rule(gateway=gateways, resource=resources, wanted=epochs, secret=secrets, own=st.booleans())
    def renew(self, gateway: int, resource: ResourceKey, wanted: tuple[str, int], secret: bytes, own: bool) -> None:
        epoch, secret = self.token(resource, wanted, secret, own)
        reply = self.run(self.stores[gateway].renew(resource, epoch, secret))
        assert _name(reply, "renewed") == self.fence(resource).renew(epoch, secret)

    @rule(gateway=gateways, resource=resources, wanted=epochs, secret=secrets, own=st.booleans())
    def release(self, gateway: int, resource: ResourceKey, wanted: tuple[str, int], secret: bytes, own: bool) -> None:
        epoch, secret = self.token(resource, wanted, secret, own)
        reply = self.run(self.stores[gateway].release(resource, epoch, secret))
        assert _name(reply, "released") == self.fence(resource).release(epoch, secret)

    @rule(gateway=gateways, resource=resources, wanted=epochs, holder=holders)
    def register(self, gateway: int, resource: ResourceKey, wanted: tuple[str, int], holder: str) -> None:
        epoch = self.epoch(resource, wanted)
        reply = self.run(self.stores[gateway].register(resource, epoch, holder, watch=False))
        assert _name(reply, "registered") == self.fence(resource).register(epoch, holder)
        if not isinstance(reply, Refused):
            assert reply == len(self.fence(resource).older)

    @rule(gateway=gateways, resource=resources, wanted=epochs, again=st.booleans())
    def advance(self, gateway: int, resource: ResourceKey, wanted: tuple[str, int], again: bool) -> None:
        self.requests += not again
        epoch = self.epoch(resource, wanted)
        reply = self.run(self.stores[gateway].advance(resource, epoch, f"request {self.requests}"))
        assert _name(reply, "advanced") == self.fence(resource).advance(epoch, f"request {self.requests}")

    @rule(resource=resources)
    def time_ends_the_lease(self, resource: ResourceKey) -> None:
        if self.fence(resource).lease == "live":
            self.redis.hset(resource_keys(resource)[0], "x", _LONG_AGO_MS)
            self.fence(resource).lease = "expired"

    @invariant()
    def the_records_are_alike(self) -> None:
        for resource, fence in self.fences.items():
            key, current, older, *_ = resource_keys(resource)
            record = {name.decode(): value for name, value in self.redis.hgetall(key).items()}
            assert _shown(record) == _expected(fence)
            assert self.redis.ttl(key) in (-1, -2), "the fence record has no time to live"
            assert {id.decode() for id in self.redis.hkeys(current)} == set(fence.tickets)
            assert {id.decode() for id in self.redis.hkeys(older)} == set(fence.older)
            assert not (fence.tickets and fence.older), "nothing is admitted while older tickets are in flight"
            for id, state in fence.records.items():
                assert self.redis.hget(f"{resource_keys(resource)[6]}{id}", "state") == state.encode()


def _name(reply: object, otherwise: str) -> str:
    return reply.decision.name if isinstance(reply, Refused) else otherwise


def _shown(record: dict[str, bytes]) -> dict[str, object]:
    """The record without the instants, which depend on the clock."""
    lease = {None: "none", b"0": "released", str(_LONG_AGO_MS).encode(): "expired"}.get(record.get("x"), "live")
    return {
        "e": record.get("e"), "h": record.get("h"), "q": record.get("q"), "a": record.get("a"), "s": record.get("s"),
        "n": int(record.get("n", b"0")), "used": bool(record.get("w")), "lease": lease, "l": "l" in record,
    }  # fmt: skip


def _expected(fence: Fence) -> dict[str, object]:
    return {
        "e": _text(fence.highest), "h": _text(fence.holder), "q": _text(fence.sequence), "a": _text(fence.advanced_by),
        "s": fence.secret, "n": fence.revision, "used": fence.used is not None, "lease": fence.lease,
        "l": fence.lease in ("live", "expired"),
    }  # fmt: skip


def _text(value: int | str | None) -> bytes | None:
    return None if value is None else str(value).encode()


@pytest.mark.timeout(300)
def test_the_scripts_agree_with_the_plain_fence(store_url: str) -> None:
    """Every reply and every record equals the oracle's, for two gateways that share the store."""
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


def compare(url: str) -> None:
    FenceMachine.url = url
    run_state_machine_as_test(
        FenceMachine,
        settings=settings(
            max_examples=100, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
