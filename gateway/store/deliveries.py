"""What is queued: where something is due, whose it is for now, and what became of it.

Implements `gateway.flow.queue.Queue`. Every call raises StoreUnavailable.
"""

import asyncio
import contextlib
from collections import Counter

from gateway.core.delivery import Again, Conclusion, Dropped, GivenUp, Taken
from gateway.core.faults import StoreUnavailable
from gateway.core.write import AdmitReply, Admitted, ResourceKey, Settled, TicketId, Write
from gateway.store import reply
from gateway.store.answer import Answer, number
from gateway.store.fence import FenceStore
from gateway.store.kept_requests import inflate_request
from gateway.store.keys import APPROVED, HINTS, deliveries, resource_keys, shard_of, shards
from gateway.store.links.link import Reply, pack
from gateway.store.script import Script
from gateway.store.share import tell_freed
from gateway.store.words import UNFINISHED

TAKE = Script("take")
FAIL = Script("fail")

# For how long the head of a queue is one deliverer's. It has begun to send within that, or waits for a ticket: whoever
# takes it then waits too, and one of them gets it.
_TAKEN_MS = 3_000
# Gateways read changed policies within seconds of each other, and one takes already what another does not know.
_POLICIES_SPREAD_MS = 10_000
# Until another deliverer looks into a shard where something is due.
_LOOK_AGAIN_MS = 200
# Of one look: shards, and resources of each. Four looks come by all shards, however much is due in them.
_SHARDS_AT_ONCE = 256
_RESOURCES_AT_ONCE = 16
# Approvals of the last seconds: more than people give, and a script that gives more puts nothing first.
_APPROVED_AT_ONCE = 256
# Bytes of requests that are sent and still count as kept; what every process has of them is little beside the bound.
_FREED_AT_ONCE = 1 << 20
# Inflating more than this takes over a millisecond, and the event loop would wait for it.
_AT_ONCE = 64 << 10
# A delivery that may never have begun is due again after this.
_AGAIN_S = 1.0


class Deliveries:
    """The queues of one store, for one deliverer."""

    def __init__(self, store: FenceStore) -> None:
        self._store = store
        self._freed: Counter[str] = Counter()
        self._told: dict[str, int] = {}

    async def close(self) -> None:
        if self._freed:
            await self._tell_freed()

    async def due(self) -> list[ResourceKey]:
        """Resources whose queue has something due now."""
        if self._freed:
            await self._tell_freed()
        call, now_ms = self._store.link.call, self._store.expected_ms()
        hinted = _texts(await call("ZRANGE", HINTS, "-inf", now_ms, "BYSCORE", "LIMIT", 0, _SHARDS_AT_ONCE))
        found = await asyncio.gather(*(self._due_in(shard, now_ms) for shard in hinted))
        return [ResourceKey(resource) for resources in found for resource in resources]

    async def approved(self) -> list[ResourceKey]:
        """Resources of which something was approved since the last look, or a few seconds before the first one."""
        found = await self._store.link.call("ZRANGE", APPROVED, 0, _APPROVED_AT_ONCE - 1, "WITHSCORES")
        assert isinstance(found, list)
        told = dict(zip(_texts(found[::2]), map(_ms, found[1::2]), strict=True))
        fresh = [ResourceKey(one) for one, at in told.items() if self._told.get(one) != at]
        self._told = told
        return fresh

    async def take(self, resource: ResourceKey) -> Taken | Dropped | None:
        """Take the head of a queue; None where nothing is due. A dead deliverer's comes back by itself."""
        keys, taken_ms = resource_keys(resource), str(_TAKEN_MS)
        answer = await self._store.run(TAKE, keys, resource, self._store.gateway, taken_ms)
        match answer.word:
            case "taken":
                return await _taken(answer)
            case "superseded" | "failed":
                return Dropped(reply.record_of(answer.rest))
            case _:
                await _hint(self._store, shard_of(resource))
                return None

    async def put_back(self, resource: ResourceKey, after_s: float) -> None:
        """What was taken cannot be sent now; it is due again then."""
        due_ms = self._store.expected_ms() + round(after_s * 1000)
        await self._store.link.call("ZADD", deliveries(shard_of(resource)), "XX", due_ms, resource)
        await _hint(self._store, shard_of(resource))

    async def fail(self, taken: Taken, reason: str) -> bool:
        """End what was taken without sending it. False: not yet, for it was queued just now, and is due again soon."""
        record, store = taken.record, self._store
        about = record.resource, record.id, str(record.epoch), record.keeping
        told = reason, store.gateway, str(_POLICIES_SPREAD_MS)
        answer = await store.run(FAIL, resource_keys(record.resource), *about, *told)
        if answer.word != "failed":
            await _hint(store, shard_of(record.resource))
        return answer.word == "failed"

    def new_ticket(self, resource: ResourceKey) -> TicketId:
        return self._store.new_ticket(resource)

    async def admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int) -> AdmitReply:
        return await self._store.deliver(write, ticket, ttl_s=ttl_s, queued=queued, behind=behind)

    async def leave(self, resource: ResourceKey) -> None:
        await self._store.leave(resource)

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        """End a ticket whose admission got no answer: nothing was sent under it, and it is queued again."""
        await self._store.abandoned.end(write, ticket, _spelled(Again(_AGAIN_S)))

    async def end(self, taken: Taken, admitted: Admitted, conclusion: Conclusion) -> Settled:
        """Settle the ticket, and in the same step queue again what is proved not applied, if that is what follows."""
        ended = conclusion.outcome, conclusion.reason, conclusion.kept
        answer = await self._store.end(admitted, *ended, _spelled(conclusion.then) + UNFINISHED * conclusion.unfinished)
        settled = reply.settle_reply(answer, admitted.write)
        if settled.outcome == "applied":
            self._freed[taken.record.principal] += taken.size
            if self._freed.total() >= _FREED_AT_ONCE:
                await self._tell_freed()
        return settled

    async def _tell_freed(self) -> None:
        """So many bytes of requests are not kept any more; until they are counted anew."""
        freed, self._freed = self._freed, Counter()
        with contextlib.suppress(StoreUnavailable):
            await tell_freed(self._store.link, freed)

    async def _due_in(self, shard: str, now_ms: int) -> list[str]:
        call, key = self._store.link.call, deliveries(shard)
        await call("ZADD", HINTS, "XX", now_ms + _LOOK_AGAIN_MS, shard)
        found = _texts(await call("ZRANGE", key, "-inf", now_ms, "BYSCORE", "LIMIT", 0, _RESOURCES_AT_ONCE))
        if not found:
            # First gone, then looked once more: what is parked in between leaves a hint of its own.
            await call("ZREM", HINTS, shard)
            await _hint(self._store, shard)
        return found


async def due_at_ms(store: FenceStore, resource: ResourceKey) -> int | None:
    """When the head of a resource's queue is due; None where it has none."""
    score = await store.link.call("ZSCORE", deliveries(shard_of(resource)), resource)
    return None if score is None else _ms(score)


async def leave_hints(store: FenceStore) -> None:
    """Look into every shard, and say of each that has a queue when it is due: a hint may be lost.

    It costs the store half a millisecond and this process two, so that who answers requests should not do it.
    """
    every = shards()
    keys = map(deliveries, every)
    counts = await asyncio.gather(*(store.link.at(key).send(pack("EXISTS", key)) for key in keys))
    for shard, count in zip(every, counts, strict=True):
        if count:
            await _hint(store, shard)


async def _hint(store: FenceStore, shard: str) -> None:
    """Leave a hint of the next one in this shard, if there is one."""
    first = await store.link.call("ZRANGE", deliveries(shard), 0, 0, "WITHSCORES")
    assert isinstance(first, list)
    if first:
        await store.link.call("ZADD", HINTS, "LT", _ms(first[1]), shard)


def _spelled(then: Again | GivenUp) -> str:
    return " again:never" if isinstance(then, GivenUp) else f" again:{round(then.after_s * 1000)}"


async def _taken(answer: Answer) -> Taken:
    packed, size, *shown = answer.rest
    assert isinstance(packed, bytes)
    record = reply.record_of(shown)
    if len(packed) <= _AT_ONCE:
        return Taken(record, inflate_request(packed), number(size))
    return Taken(record, await asyncio.to_thread(inflate_request, packed), number(size))


def _texts(reply: Reply) -> list[str]:
    """Members that no gateway wrote lead to nothing."""
    assert isinstance(reply, list)
    return [member.decode("utf-8", "replace") for member in reply if isinstance(member, bytes)]


def _ms(score: Reply) -> int:
    assert isinstance(score, bytes)
    return int(float(score))
