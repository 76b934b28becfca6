"""Writes that are parked, taken and delivered straight at the store."""

import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from gateway.core.decision import Refused
from gateway.core.delivery import Again, Conclusion, GivenUp, Taken
from gateway.core.intent import KeptAnswer
from gateway.core.kept_request import KeptRequest
from gateway.core.outcome import Outcome
from gateway.core.record import IntentRecord
from gateway.core.rule import IntentTerms
from gateway.core.write import AdmitReply, Admitted, ResourceKey, Write
from gateway.store.deliveries import Deliveries
from gateway.store.fence import FenceStore
from gateway.store.keys import approvals, deliveries, intent_id, shard_of
from tests.store.fences import PLAIN, RESOURCE, RETAIN_S, TTL_S, bare, keyed, leased

TERMS = IntentTerms("required", RETAIN_S)
QUEUED = replace(PLAIN, intent=TERMS, parks="queued")
APPROVED = replace(PLAIN, intent=TERMS, parks="awaiting_approval", risk="high", approval_s=600.0)
# One that takes `REQUEST` as a write of `RESOURCE`, for a gateway that judges it again.
POLICY = """
upstream: reports
url: http://localhost:9
mount: {path: /mails}
writes:
  - {name: replace, match: POST /mails, resource: report/7, delivery: queued, intent: {mode: required}}
"""
REQUEST = KeptRequest("POST", "/mails?x=1", ((b"Content-Type", b"application/json"),), b'{"to": "x"}')
LONG_AGO_MS = 1000
THEN = Again(2.0)


def mail(name: str, epoch: int = 42, *, of: Any = QUEUED, holder: str = "A", says: bytes = b"one") -> Write:
    """A write that is sent later, and one intent of its own for each name."""
    return keyed(bare(epoch, holder, of), digest=f"{name:-<22}", says=says)


def leased_mail(name: str, epoch: int, *, secret: bytes | None = None) -> Write:
    """The same under a lease."""
    write = leased(epoch) if secret is None else leased(epoch, secret)
    rule = replace(QUEUED, authority="lease")
    return keyed(replace(write, rule=rule), digest=f"{name:-<22}")


def id_of(write: Write) -> str:
    assert write.intent is not None
    return intent_id(write.resource, write.intent.digest)


async def parked(store: FenceStore, write: Write, request: KeptRequest = REQUEST) -> IntentRecord:
    record = await store.park(write, request)
    assert isinstance(record, IntentRecord), record
    return record


async def refused(store: FenceStore, write: Write) -> str:
    reply = await store.park(write, REQUEST)
    assert not isinstance(reply, IntentRecord)
    return reply.decision.name if isinstance(reply, Refused) else "replayed"


class DeliveriesOf(Deliveries):
    """The queues of a store that is at hand."""

    def __init__(self, store: FenceStore) -> None:
        super().__init__(store)
        self.store = store


async def as_kept(store: FenceStore, write: Write) -> Write:
    """As a deliverer has it that takes it now; unless the write says what was taken."""
    record = None if write.keeping else await store.recall(id_of(write))
    return write if record is None else replace(write, keeping=record.keeping)


@contextlib.asynccontextmanager
async def delivering(store: FenceStore) -> AsyncIterator[DeliveriesOf]:
    queue = DeliveriesOf(store)
    try:
        yield queue
    finally:
        await queue.close()


async def taken(queue: Deliveries, resource: ResourceKey = RESOURCE) -> Taken:
    found = await queue.take(resource)
    assert isinstance(found, Taken), found
    return found


async def begin(queue: DeliveriesOf, write: Write, *, waited: bool = False) -> AdmitReply:
    """Ask for the ticket of what was taken. `waited`: it was told to wait before."""
    write = await as_kept(queue.store, write)
    return await queue.admit(write, queue.new_ticket(write.resource), ttl_s=TTL_S, queued=waited, behind=0)


async def begun(queue: DeliveriesOf, write: Write, *, waited: bool = False) -> Admitted:
    reply = await begin(queue, write, waited=waited)
    assert isinstance(reply, Admitted), reply
    return reply


async def delivered(
    queue: DeliveriesOf, write: Write, outcome: Outcome, then: Again | GivenUp = THEN, kept: KeptAnswer | None = None
) -> Taken:
    """The head of the queue, which is this write, taken and sent; it ends so."""
    one = await taken(queue, write.resource)
    admitted = await begun(queue, write)
    await queue.end(one, admitted, Conclusion(outcome, f"it was {outcome}", kept, then))
    return one


async def queued(store: FenceStore, raw: Any, resource: ResourceKey = RESOURCE) -> list[str]:
    """The intents in a resource's queue, the first one first."""
    return [id.decode() for id in raw.lrange(f"{deliveries(shard_of(resource))}:{resource}", 0, -1)]


def make_due(raw: Any, resource: ResourceKey = RESOURCE) -> None:
    """The head's time has come."""
    raw.zadd(deliveries(shard_of(resource)), {resource: LONG_AGO_MS}, xx=True)


def make_expired(raw: Any, write: Write) -> None:
    """The time for an approval is over."""
    reword(raw, write, "expires", LONG_AGO_MS)
    raw.zadd(approvals(shard_of(write.resource)), {id_of(write): LONG_AGO_MS}, xx=True)


def reword(raw: Any, write: Write, word: str, value: int) -> None:
    """Another number behind a word of the record; of the same length, so that nothing else of it moves."""
    reword_record(raw, id_of(write), word, value)


def reword_record(raw: Any, id: str, word: str, value: int) -> None:
    """The same, of the intent with this id."""
    key = f"fg:{{{id[:3]}}}:i:{id}"
    found = re.search(rb"[^a-z]%b:([0-9]+)" % word.encode(), raw.get(key))
    assert found is not None
    packed = found.string[: found.start(1)] + str(value).zfill(len(found[1])).encode() + found.string[found.end(1) :]
    raw.set(key, packed, keepttl=True)


def make_older(raw: Any, id: str, seconds: int) -> None:
    """It was queued so long ago: all gateways have read the same policies since."""
    now_s, _ = raw.time()
    reword_record(raw, id, "since", (now_s - seconds) * 1000)
