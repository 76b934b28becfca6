"""What is asked of the store in the model, each as a gateway, a sweeper or an operator asks it."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import Intent
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.record import IntentRecord
from gateway.core.rule import Authority, Fence, IntentTerms, NativeKey, Origin, Rule, Timeouts, Upstream
from gateway.core.write import AdmitReply, Admitted, TicketId, Write
from gateway.store.intents import Resolution, Resolve, resolve
from gateway.store.keys import intent_id, resource_keys, shard_keys, shard_of
from gateway.store.loss.incarnation import REGRESS_SHARD
from gateway.store.loss.losses import ACCEPT_SHARD
from gateway.store.reply import intent_of, settle_reply
from tests.model.explore.era import ERA_MS
from tests.model.explore.gateway import RESOURCE, ShelfStore
from tests.model.explore.shelf import State
from tests.model.explore.world import GRACE_MS, HOLDERS, TTL_MS, Slot, Token

_DIGEST = f"{'one':-<22}"
INTENT = intent_id(RESOURCE, _DIGEST)

_KEYS = tuple(key.encode() for key in resource_keys(RESOURCE))
_TICKETS = _KEYS[1:3]
_DEADLINES = _KEYS[4]
_RECORD = _KEYS[6] + b"i:"
_UPSTREAM = Upstream(
    "u",
    Origin("http", "localhost", 80),
    timeouts=Timeouts(total_s=TTL_MS / 1000),
    native_key=NativeKey(b"Idempotency-Key", 3600.0),
)
# Of how many intents at once an operator's acceptance makes unknown ones; and how long its floor is kept.
_AT_ONCE, _FLOOR_MS = "100", "86400000"


@lru_cache(None)
def _rule(authority: Authority, retries: bool) -> Rule:
    terms = IntentTerms("optional", 3600.0, on_unknown="retry" if retries else "hold")
    return Rule("w", _UPSTREAM, authority, fence=Fence(), intent=terms)


@lru_cache(None)
def write_of(slot: Slot, token: Token, retries: bool) -> Write:
    """As its gateway has resolved it. A lease's secret tells the holder; a bare epoch comes with a name."""
    rule = _rule("header" if token.secret is None else "lease", retries)
    intent = Intent("one", "default", "PUT /r", _DIGEST, b"says") if slot.keyed else None
    holder = HOLDERS[slot.holder] if token.secret is None else None
    return Write(rule, RESOURCE, Epoch(token.epoch), holder, token.secret, intent=intent)


@lru_cache(None)
def ticket_of(slot: Slot) -> TicketId:
    return TicketId(f"{shard_of(RESOURCE)}{HOLDERS[slot.holder]}{'i' if slot.keyed else 'w'}{slot.number}")


class Known(NamedTuple):
    """What a gateway knows of an attempt when it settles it; `number` and `in_doubt` are as in Admitted."""

    slot: Slot
    token: Token
    retries: bool
    number: int
    in_doubt: bool


def tickets_in(state: State) -> Mapping[str, int]:
    """By id, the milliseconds until its deadline."""
    return {
        member.partition(b" ")[0].decode(): int(score) - ERA_MS
        for key, _, content in state.content
        if key == _DEADLINES
        for score, member in zip(content[::2], content[1::2], strict=True)
    }


def has_ticket(state: State, ticket: str) -> bool:
    return any(key in _TICKETS and ticket.encode() in content[::2] for key, _, content in state.content)


def records_in(state: State) -> list[str]:
    """The ids of what the store knows: the intent's, and those of writes without a key."""
    return [key.removeprefix(_RECORD).decode() for key, _, _ in state.content if key.startswith(_RECORD)]


async def grant(store: ShelfStore, holder: int, secret: bytes, lease_ms: int) -> Lease | Refused:
    return await store.grant(RESOURCE, HOLDERS[holder], secret, ttl_ms=lease_ms, takeover=True, watch=False)


async def renew(store: ShelfStore, token: Token) -> Lease | Refused:
    return await store.renew(RESOURCE, Epoch(token.epoch), token.secret or b"")


async def release(store: ShelfStore, token: Token) -> Lease | Refused:
    return await store.release(RESOURCE, Epoch(token.epoch), token.secret or b"")


async def register(store: ShelfStore, holder: int, token: Token) -> int | Refused:
    return await store.register(RESOURCE, Epoch(token.epoch), HOLDERS[holder], watch=False)


async def admit(store: ShelfStore, slot: Slot, token: Token, retries: bool) -> AdmitReply | None:
    """None where it comes once more behind its own end, and nothing is done."""
    write = write_of(slot, token, retries)
    try:
        return await store.admit(write, ticket_of(slot), ttl_s=TTL_MS / 1000, queued=False, behind=0)
    except StoreUnavailable:
        return None


async def settle(store: ShelfStore, attempt: Known, outcome: str) -> Outcome:
    """`outcome`: as the script has it: `abandoned` too, which `FenceStore.abandon` says twice, by and by."""
    slot, token, retries, number, in_doubt = attempt
    write, ticket = write_of(slot, token, retries), ticket_of(slot)
    admitted = Admitted(write, ticket, None, intent_of(write, ticket), number, in_doubt)
    return settle_reply(await store.end(admitted, outcome, outcome, None), write).outcome


async def sweep(store: ShelfStore, ticket: TicketId) -> int:
    return await store.sweep(RESOURCE, ticket)


async def recall(store: ShelfStore, id: str) -> IntentRecord | None:
    return await store.recall(id)


async def resolve_intent(store: ShelfStore, outcome: Resolution) -> IntentRecord | Refused | None:
    """An operator who has looked. None where there is nothing to resolve."""
    record = await store.recall(INTENT)
    if record is None or record.state != "unknown":
        return None
    return await resolve(store, record, Resolve(outcome, "operator", "looked", "operator"))


async def tell_of_loss(store: ShelfStore) -> None:
    """As whoever connects anew tells all shards, before anything else leaves (store/incarnation.py)."""
    floor = str(ERA_MS + GRACE_MS)
    await store.run(REGRESS_SHARD, shard_keys(shard_of(RESOURCE)), floor, "0", str(ERA_MS))
    assert store.recent is not None
    store.recent.forget(int(floor))


async def tell_of_emptying(store: ShelfStore) -> None:
    """The same, once somebody has missed a mark: the store then begins with something else."""
    await tell_of_loss(store)
    store.begin_anew("second")


async def accept_loss(store: ShelfStore, floor: int) -> None:
    await store.run(ACCEPT_SHARD, shard_keys(shard_of(RESOURCE)), str(floor), _AT_ONCE, _FLOOR_MS, "operator")
