"""What the store pays for a resource to which nothing happens, and for an intent that has ended."""

import asyncio
import json
import random
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.epoch import Epoch
from gateway.core.intent import Intent, KeptAnswer, intent_digest
from gateway.core.lease import Lease
from gateway.core.rule import Authority, IntentTerms, Rule
from gateway.core.target import Target, read_target
from gateway.core.write import Admitted, ResourceKey, Write
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, in_state, shard_keys, shards
from tests.store.fences import PLAIN, SECRET, TTL_S, opened, rule

BYTES_OF_A_RESOURCE = 200
BYTES_OF_AN_INTENT = 700
_AT_ONCE = 500
# Of a million intents no more than this many have their events at one time.
_TRAIL = 50_000
_EPOCH = Epoch(1_790_000_000_000)


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[FenceStore]:
    """A gateway with patience: what is measured is room, on a machine that may be busy."""
    async with opened(store_url, timeout_s=60.0) as store:
        yield store


def used_memory(raw: Any) -> int:
    """The store's own figure, without the audit trail and the lists of states: what they keep has bounds of its own."""
    for shard in shards():
        raw.delete(audit_trail(shard), f"{shard_keys(shard)[6]}n", in_state(shard, "applied"))
    used: int = raw.info("memory")["used_memory"]
    return used


async def apply(store: FenceStore, write: Write, kept: KeptAnswer | None = None) -> None:
    reply = await store.admit(write, store.new_ticket(write.resource), ttl_s=TTL_S, queued=False, behind=0)
    assert isinstance(reply, Admitted), reply
    await store.settle(reply, "applied", "answered 201", kept)


async def write_once(store: FenceStore, authority: Authority, resource: ResourceKey) -> None:
    """A lease granted, one write applied, the lease released; or one write under an epoch granted elsewhere."""
    if authority == "header":
        await apply(store, Write(PLAIN, resource, _EPOCH, "agent-17", None))
        return
    lease = await store.grant(resource, "agent-17", SECRET, ttl_ms=60_000, takeover=False, watch=False)
    assert isinstance(lease, Lease)
    await apply(store, Write(rule(authority="lease"), resource, lease.epoch, None, SECRET))
    await store.release(resource, lease.epoch, SECRET)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("authority", ["lease", "header"])
@pytest.mark.parametrize("count", [8_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
async def test_an_idle_resource_costs_at_most_200_bytes(
    store: FenceStore, raw: Any, authority: Authority, count: int
) -> None:
    """Names of 32 bytes; the store's own figure before and after, divided by their number."""
    # The scripts are not the resources'.
    await write_once(store, authority, ResourceKey("another"))
    before = used_memory(raw)
    for first in range(0, count, _AT_ONCE):
        names = (ResourceKey(f"resource/{number:023d}") for number in range(first, first + _AT_ONCE))
        await asyncio.gather(*(write_once(store, authority, name) for name in names))
        if first % _TRAIL == 0:
            used_memory(raw)

    assert (used_memory(raw) - before) / count <= BYTES_OF_A_RESOURCE


def mail_rule() -> Rule:
    """Names as long as names may be."""
    upstream = replace(PLAIN.upstream, name="mail-of-the-northern-offices-eu1")
    terms = IntentTerms("required", retain_s=86_400.0)
    return replace(PLAIN, name="send-a-message-to-one-recipient1", upstream=upstream, intent=terms)


def mail(of: Rule, draw: random.Random) -> tuple[Write, KeptAnswer]:
    """One of a thousand agents sends a mail under a key of its own; 200 bytes of JSON answer it."""
    resource = ResourceKey(f"mailbox/{draw.randrange(1000):024d}")
    key, made = (str(uuid.UUID(bytes=draw.randbytes(16), version=4)) for _ in range(2))
    target = read_target("/mailboxes/17/mails")
    assert isinstance(target, Target)
    digest = intent_digest("default", resource, "POST", None, target, key)
    intent = Intent(key, "default", "POST /mailboxes/17/mails", digest, draw.randbytes(16))
    told = {
        "id": made,
        "object": "mail",
        "status": "queued",
        "thread": draw.randbytes(8).hex(),
        "to": "ada@example.com",
    }
    body = json.dumps(told | {"subject": "The quarterly figures"}).encode().ljust(200)
    headers = ((b"Content-Type", b"application/json"), (b"Location", b"/mailboxes/17/mails/" + made.encode()))
    write = Write(of, resource, _EPOCH, "agent-17-of-the-night-shift-0007", None, intent=intent)
    return write, KeptAnswer(201, headers, body)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("count", [8_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
async def test_an_ended_intent_costs_at_most_700_bytes(store: FenceStore, raw: Any, count: int) -> None:
    """A UUID as key, names of 32 bytes, an answer of 200 bytes with its type and its location."""
    draw, of = random.Random(count), replace(mail_rule(), fence=replace(PLAIN.fence, concurrency="parallel"))
    for number in range(1000):
        await apply(store, Write(of, ResourceKey(f"mailbox/{number:024d}"), _EPOCH, mail(of, draw)[0].holder, None))
    before = used_memory(raw)
    for first in range(0, count, _AT_ONCE):
        mails = [mail(of, draw) for _ in range(_AT_ONCE)]
        assert len(mails[0][1].body) == 200
        await asyncio.gather(*(apply(store, write, kept) for write, kept in mails))
        if first % _TRAIL == 0:
            used_memory(raw)

    assert (used_memory(raw) - before) / count <= BYTES_OF_AN_INTENT
