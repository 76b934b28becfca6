"""What every story of the machine has: two gateways on one store, the plain fences beside it, and the comparison."""

import asyncio
import copy
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any, TypeVar

import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

from gateway.core.decision import Refused
from gateway.core.epoch import HIGHEST, Epoch
from gateway.core.intent import Intent, KeptAnswer
from gateway.core.outcome import Outcome
from gateway.core.rule import Rule
from gateway.core.write import AdmitReply, Admitted, Replayed, ResourceKey, TicketId, Waiting, Write
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys, shard_of, unfinished
from tests.model.drawn import RETAIN_S
from tests.model.oracle import Fence
from tests.model.record import Record, Step
from tests.model.told import Refusal, Told, Wait
from tests.model.trail import Trail, check_lists
from tests.store.overdue import deadline_ms

T = TypeVar("T")

LEASE_MS = 3_600_000
LONG_AGO_MS = 1_000
# How long the store or this process may stand still: no story is about that.
_PATIENCE_S = 60.0
# Of a write without a key, once it is resolved.
_RESOLVED_S = 86_400.0


class StoreMachine(RuleBasedStateMachine):
    url = ""

    def __init__(self) -> None:
        super().__init__()
        self.redis: Any = redis.Redis.from_url(self.url)
        self.redis.flushall()
        self.loop = asyncio.new_event_loop()
        self.stores = [self.run(self.open()) for _ in range(2)]
        self.fences: dict[ResourceKey, Fence] = {}
        self.trails: dict[ResourceKey, Trail] = {}
        self.left_over: set[tuple[str, str]] = set()
        # By gateway and resource, the largest epoch that it has seen: it outlives what the store loses.
        self.seen: dict[tuple[int, ResourceKey], int] = {}
        self.admitted: list[Admitted] = []
        self.requests = 0
        self.ends = 0
        self.remembered: tuple[Any, ...] | None = None
        self.admitted_by_then = 0
        self.lost: list[Admitted] = []

    async def open(self) -> FenceStore:
        return await open_store(self.url, on_wake=lambda _: None, clock=BootClock(), timeout_s=_PATIENCE_S)

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

    def records(self, *states: str) -> list[Record]:
        """Those in these states, or all."""
        every = [record for fence in self.fences.values() for record in fence.records.values()]
        return [record for record in every if not states or record.state in states]

    def any_admitted(self, data: st.DataObject) -> Admitted:
        """Half of the time one that is in flight."""
        in_flight = {id for fence in self.fences.values() for id in (*fence.tickets, *fence.older)}
        lives = [one for one in self.admitted if one.ticket in in_flight]
        return data.draw(st.sampled_from(lives if lives and data.draw(st.booleans()) else self.admitted))

    def overtaken_attempts(self) -> list[Admitted]:
        """Those whose intent has another attempt by now."""
        newest = {record.id: record.ticket for record in self.records()}
        return [one for one in self.admitted if newest.get(one.intent, one.ticket) != one.ticket]

    def epoch(self, resource: ResourceKey, wanted: tuple[str, int]) -> Epoch:
        how, value = wanted
        base = (self.fence(resource).highest or 0) if how == "by" else 0
        return Epoch(min(max(base + value, 0), HIGHEST))

    def token(self, resource: ResourceKey, wanted: tuple[str, int], secret: bytes, own: bool) -> tuple[Epoch, bytes]:
        """The one that the newest lease has, or any."""
        fence = self.fence(resource)
        return self.epoch(resource, ("by", 0) if own else wanted), fence.secret if own and fence.secret else secret

    def ask(self, gateway: int, write: Write, ticket: TicketId) -> AdmitReply:
        # Who came first is tested elsewhere: it depends on how fast this test runs.
        self.redis.delete(resource_keys(write.resource)[3])
        return self.run(self.stores[gateway].admit(write, ticket, ttl_s=3600, queued=False, behind=0))

    def admit(self, gateway: int, write: Write) -> None:
        ticket = self.stores[gateway].new_ticket(write.resource)
        reply = self.ask(gateway, write, ticket)
        fence, seen = self.fence(write.resource), self.seen.get((gateway, write.resource), 0)
        before = fence.highest or 0
        assert told(reply) == fence.admit(write, ticket, seen)
        if isinstance(reply, Admitted):
            self.admitted.append(reply)
        if not isinstance(reply, Refused) or self.is_recorded(write, reply):
            self.see(gateway, write.resource, write.epoch)
        if name_of(reply, "") in ("stale-epoch", "token-invalid"):
            self.see(gateway, write.resource, before)

    def is_recorded(self, write: Write, refused: Refused) -> bool:
        """Whether an epoch from elsewhere is the highest, although its write is refused."""
        is_highest = write.secret_digest is None and self.fence(write.resource).highest == write.epoch
        return is_highest and refused.decision.name != "store-regressed"

    def next_write(self, resource: ResourceKey, of: Rule, newer: int, intent: Intent | None) -> Write:
        """What most writes are: by the holder, under the highest epoch, next in the sequence."""
        fence = self.fence(resource)
        epoch = self.epoch(resource, ("by", newer))
        holder = fence.holder if epoch == fence.highest and fence.holder is not None else "A"
        sequence = (fence.sequence or 0) + 1 if epoch == fence.highest else 1
        secret = None if newer else fence.secret
        return Write(of, resource, epoch, holder, secret, sequence, intent=intent)

    def end(self, gateway: int, one: Admitted, outcome: Outcome, answer: KeptAnswer | None) -> None:
        kept = answer if outcome == "applied" and one.write.intent is not None else None
        unfinished = self.is_next_unfinished()
        settled = self.run(self.stores[gateway].settle(one, outcome, "a test", kept, unfinished=unfinished))
        assert settled == self.fence(one.write.resource).settle(one, outcome, kept, unfinished=unfinished)

    def is_next_unfinished(self) -> bool:
        """Whether nobody says that the server is done with what ends now: every second time."""
        self.ends += 1
        return self.ends % 2 == 0

    def see(self, gateway: int, resource: ResourceKey, epoch: int) -> None:
        self.seen[gateway, resource] = max(epoch, self.seen.get((gateway, resource), 0))

    def remember(self) -> None:
        """A replica has all of it."""
        self.check_trail()
        names, pipe = self.redis.keys("*"), self.redis.pipeline(transaction=False)
        for name in names:
            pipe.dump(name).pexpiretime(name)
        found = pipe.execute()
        keys = list(zip(names, found[::2], found[1::2], strict=True))
        self.remembered = copy.deepcopy((keys, self.fences, self.trails, self.left_over))
        self.admitted_by_then = len(self.admitted)

    def fall_back(self) -> None:
        """The replica takes over, and has none of what came since."""
        assert self.remembered is not None
        keys, self.fences, self.trails, self.left_over = copy.deepcopy(self.remembered)
        self.lost += self.admitted[self.admitted_by_then :]
        pipe = self.redis.pipeline(transaction=False).flushall()
        for key, dump, expires_at in keys:
            # Who waits is forgotten by time alone.
            if dump is not None:
                pipe.restore(key, max(expires_at, 0), dump, absttl=True)
        pipe.execute()

    def record_key(self, record: Record) -> str:
        return f"{resource_keys(record.write.resource)[6]}i:{record.id}"

    def undo_key(self, record: Record) -> str:
        """What takes it back lives as long as its record."""
        return f"{resource_keys(record.write.resource)[6]}c:{record.id}"

    def check_fence(self, resource: ResourceKey, fence: Fence) -> None:
        key, current, older, *_ = resource_keys(resource)
        pipe = self.redis.pipeline(transaction=False)
        pipe.hgetall(key).ttl(key).hkeys(current).hkeys(older).hgetall(unfinished(resource))
        fields, ttl, tickets, older_tickets, left = pipe.execute()
        assert _shown({name.decode(): value for name, value in fields.items()}) == _expected(fence)
        assert ttl in (-1, -2), "the fence record has no time to live"
        assert {id.decode() for id in tickets} == set(fence.tickets)
        assert {id.decode() for id in older_tickets} == set(fence.older)
        # What is over goes when somebody looks.
        assert {id.decode() for id, packed in left.items() if deadline_ms(packed) > LONG_AGO_MS} == set(
            fence.unfinished
        )
        assert not (fence.tickets and fence.older), "nothing is admitted while older tickets are in flight"

    def check_record(self, record: Record) -> None:
        found = self.run(self.stores[0].recall(record.id))
        assert found is not None
        write, intent = record.write, record.write.intent
        assert (found.state, found.attempts, found.answer) == (record.state, record.attempts, record.answer)
        assert (found.resolved_by, found.evidence) == (record.resolved_by, record.evidence)
        assert (found.resource, found.epoch, found.holder) == (write.resource, write.epoch, record.holder)
        assert found.key == (intent and intent.key)
        assert record.state != "unknown" or found.no_after_s >= record.no_after_s
        expires_at = self.redis.pexpiretime(self.record_key(record))
        if record.state in ("applied", "not_applied", "compensated"):
            retain_ms = (_RESOLVED_S if intent is None else RETAIN_S) * 1000
            assert expires_at == found.updated_at_ms + retain_ms
        else:
            assert expires_at == -1, "what has not ended has no time to live"

    def check_lists(self) -> None:
        for resource in self.fences:
            shard = shard_of(resource)
            of_shard = [record for record in self.records() if shard_of(record.write.resource) == shard]
            check_lists(self.redis, shard, of_shard, self.left_over)

    def check_trail(self) -> None:
        """Within one call, the order in which several tickets end is nobody's promise."""
        for resource, fence in self.fences.items():
            trail = self.trails.setdefault(resource, Trail(shard_of(resource)))
            assert sorted(trail.read_on(self.redis), key=_spelled) == sorted(fence.trail, key=_spelled)
            fence.trail.clear()

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


def compare(machine: type[StoreMachine], url: str, examples: int, *, fresh: bool = False) -> None:
    """`fresh`: other stories each time; else always the same ones, so that what is red once is red again."""
    machine.url = url
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=50,
            derandomize=not fresh,
            # A fresh story is told once: whoever reads that it failed needs what brings it back.
            print_blob=True,
            # Whether the machine is busy is no fault of a story.
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def told(reply: AdmitReply) -> Told:
    """As the oracle answers, which knows no instants."""
    match reply:
        case Admitted():
            return replace(reply, sent_ms=0)
        case Replayed():
            return reply
        case Waiting(why=why):
            return Wait(why)
        case Refused(decision=decision, facts=facts):
            return Refusal(decision.name, facts.intent, facts.intent_state)


def name_of(reply: object, otherwise: str) -> str:
    return reply.decision.name if isinstance(reply, Refused) else otherwise


def _spelled(step: Step) -> str:
    return repr(step)


def _shown(record: dict[str, bytes]) -> dict[str, object]:
    """The record without the instants, which depend on the clock."""
    lease = {None: "none", b"0": "released", str(LONG_AGO_MS).encode(): "expired"}.get(record.get("x"), "live")
    return {
        "e": record.get("e"), "h": record.get("h"), "q": record.get("q"), "a": record.get("a"), "s": record.get("s"),
        "n": int(record.get("n", b"0")), "used": bool(record.get("w")), "lease": lease, "l": "l" in record,
        "paused": "p" in record, "holding": record.get("u", b"").decode().split(),
    }  # fmt: skip


def _expected(fence: Fence) -> dict[str, object]:
    return {
        "e": _text(fence.highest), "h": _text(fence.holder), "q": _text(fence.sequence), "a": _text(fence.advanced_by),
        "s": fence.secret, "n": fence.revision, "used": fence.used is not None, "lease": fence.lease,
        "l": fence.lease in ("live", "expired"), "paused": fence.pause is not None,
        "holding": [record.id for record in fence.holding],
    }  # fmt: skip


def _text(value: int | str | None) -> bytes | None:
    return None if value is None else str(value).encode()
