"""Writes that are intents, admitted and ended straight at the store: what operators then look at."""

import zlib

from gateway.core.compensation import Kept
from gateway.core.epoch import Epoch
from gateway.core.intent import Intent, KeptAnswer
from gateway.core.outcome import Outcome
from gateway.core.rule import Fence, IntentTerms, Origin, Rule, Upstream
from gateway.core.write import Admitted, ResourceKey, Write
from gateway.store.fence import FenceStore

SEVEN = ResourceKey("report/7")
RULE = Rule(
    "write",
    Upstream("reports", Origin("http", "127.0.0.1", 9)),
    authority="header",
    fence=Fence(concurrency="parallel"),
    intent=IntentTerms(mode="optional"),
)
ANSWER = KeptAnswer(201, ((b"location", b"/reports/7"), (b"content-type", b"application/json")), b'{"ok": true}')
_TTL_S = 30


def intended(key: str | None, resource: ResourceKey = SEVEN, *, of: Rule = RULE, holder: str = "agent-a") -> Write:
    """A write under this key, or without one."""
    # Any 22 characters name an intent.
    intent = (
        None
        if key is None
        else Intent(key, "default", "PUT /reports/7", f"{zlib.crc32(key.encode()):022d}", b"\x01\xff")
    )
    return Write(of, resource, Epoch(41), holder, None, intent=intent)


async def begun(store: FenceStore, write: Write) -> Admitted:
    """A write in flight."""
    ticket = store.new_ticket(write.resource)
    admitted = await store.admit(write, ticket, ttl_s=_TTL_S, queued=False, behind=0)
    assert isinstance(admitted, Admitted), admitted
    return admitted


async def ended(store: FenceStore, write: Write, outcome: Outcome, kept: Kept | None = None) -> Admitted:
    """A write that has ended."""
    admitted = await begun(store, write)
    await store.settle(admitted, outcome, "no answer within 30 s" if outcome == "unknown" else "answered 201", kept)
    return admitted
