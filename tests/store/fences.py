"""Writes, rules and stores for these tests, each with a default for what a test does not care about."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from gateway.core.compensation import Kept
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.intent import Intent, IntentId, KeptAnswer
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.rule import Authority, Fence, IntentTerms, NativeKey, OnUnknown, Origin, Rule, Timeouts, Upstream
from gateway.core.token import digest_secret
from gateway.core.write import AdmitReply, Admitted, ResourceKey, Settled, Write
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolution, Resolve, resolve
from gateway.store.keys import intent_id
from gateway.store.wake import OnWake

RESOURCE = ResourceKey("report/7")
SECRET = digest_secret("a-secret-of-one-holder-0123456789")
OTHER_SECRET = digest_secret("a-secret-of-another-one-0123456789")
TTL_S = 30.0
LEASE_MS = 60_000
# For a store that answers late because the machine is busy: a list asks for all shards within the time of one call.
PATIENCE_S = 20.0
SERIAL = Fence()


def rule(
    fence: Fence = SERIAL, *, authority: Authority = "header", counts: bool = False, total_s: float = TTL_S
) -> Rule:
    upstream = Upstream("reports", Origin("http", "localhost", 80), timeouts=Timeouts(total_s=total_s))
    return Rule("replace", upstream, authority, revision="gateway" if counts else "off", fence=fence)


PLAIN = rule()


def bare(
    epoch: int, holder: str = "A", of: Rule = PLAIN, *, sequence: int | None = None, if_revision: int | None = None
) -> Write:
    """A write whose epoch was granted elsewhere."""
    return Write(of, RESOURCE, Epoch(epoch), holder, None, sequence, if_revision)


def leased(epoch: int, secret: bytes = SECRET, holder: str | None = None) -> Write:
    return Write(rule(authority="lease"), RESOURCE, Epoch(epoch), holder, secret)


ANSWER = KeptAnswer(201, ((b"Location", b"/mails/1"), (b"Link", b"</a>"), (b"Link", b"</b>")), b"\x00\xff\r\n\r\n")
DIGEST = f"{'a-digest':-<22}"
INTENT = intent_id(RESOURCE, DIGEST)
RETAIN_S = 3600.0


def keyed(write: Write, *, says: bytes = b"\x00one thing", digest: str = DIGEST) -> Write:
    """The write as an intent."""
    return replace(write, intent=Intent("mail-7", "default", "POST /mails", digest, says))


def unknown_is(what: OnUnknown, of: Rule = PLAIN, *, native_s: float | None = None) -> Rule:
    """The rule, with what it does about an unknown outcome. `native_s`: how long the upstream remembers a key."""
    native = None if native_s is None else NativeKey(b"idempotency-key", native_s)
    terms = IntentTerms("optional", RETAIN_S, on_unknown=what, ask_after_s=60.0 if what == "query" else None)
    return replace(of, intent=terms, upstream=replace(of.upstream, native_key=native))


HELD = unknown_is("hold")
RETRIED = unknown_is("retry", native_s=3600.0)


@contextlib.asynccontextmanager
async def opened(
    url: str, on_wake: OnWake = lambda _: None, *, timeout_s: float = PATIENCE_S, gateway: str | None = None
) -> AsyncIterator[FenceStore]:
    store = await open_store(url, gateway=gateway, on_wake=on_wake, timeout_s=timeout_s, clock=BootClock())
    try:
        yield store
    finally:
        await store.close()


async def ask(
    store: FenceStore, write: Write, *, queued: bool = False, behind: int = 0, ttl_s: float = TTL_S
) -> AdmitReply:
    return await store.admit(write, store.new_ticket(write.resource), ttl_s=ttl_s, queued=queued, behind=behind)


async def admitted(store: FenceStore, write: Write, *, ttl_s: float = TTL_S) -> Admitted:
    reply = await ask(store, write, ttl_s=ttl_s)
    assert isinstance(reply, Admitted), reply
    return reply


async def ended(
    store: FenceStore, write: Write, outcome: Outcome, kept: Kept | None = None, reason: str = "a test"
) -> Admitted:
    """A write that was admitted and has ended."""
    one = await admitted(store, write)
    await store.settle(one, outcome, reason, kept)
    return one


async def settled(store: FenceStore, one: Admitted, outcome: Outcome, kept: KeptAnswer | None = None) -> Settled:
    return await store.settle(one, outcome, "a test", kept)


async def resolved(store: FenceStore, outcome: Resolution, id: IntentId = INTENT) -> None:
    """An operator resolves the intent."""
    record = await store.recall(id)
    assert record is not None
    reply = await resolve(store, record, Resolve(outcome, "operator", "seen in the mailbox", "operator"))
    assert not isinstance(reply, Refused), reply


async def state_of(store: FenceStore, id: str = INTENT) -> str | None:
    """The state of an intent; None if nothing is known of it."""
    record = await store.recall(id)
    return record and record.state


async def granted(
    store: FenceStore, holder: str = "A", secret: bytes = SECRET, *, takeover: bool = False, watch: bool = False
) -> Lease:
    lease = await store.grant(RESOURCE, holder, secret, ttl_ms=LEASE_MS, takeover=takeover, watch=watch)
    assert isinstance(lease, Lease), lease
    return lease


def name_of(reply: object) -> str:
    """The refusal's name, or the reply's kind."""
    return reply.decision.name if isinstance(reply, Refused) else type(reply).__name__


def everything(raw: Any) -> dict[bytes, bytes]:
    """The whole database, to be compared."""
    return {key: raw.dump(key) for key in raw.keys("*")}
