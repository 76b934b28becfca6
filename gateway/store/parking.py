"""Parked intents apart from their writes: looked at, decided, sent again by an operator, expired."""

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from gateway.core.decision import FORBIDDEN, NO_SUCH_INTENT, WRONG_STATE, Facts, Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import IntentId
from gateway.core.kept_request import KeptRequest
from gateway.core.problem import instant
from gateway.core.record import IntentRecord
from gateway.core.write import Write
from gateway.store.answer import Answer, unknown_word
from gateway.store.budgets import give_back, reserve
from gateway.store.fence import FenceStore
from gateway.store.kept_requests import inflate_request
from gateway.store.keys import APPROVED, HINTS, kept_request, resource_keys, shard_keys, shard_of, shard_of_id
from gateway.store.loss.losses import from_before_a_loss, not_before_accepted
from gateway.store.reply import kept_s, record_of
from gateway.store.script import Script
from gateway.store.share import Counted, counted_so_far, put_right
from gateway.store.views.quarantine import counted

DECIDE = Script("decide")
RETRY = Script("retry")
EXPIRE = Script("expire")

PURPOSE = "parked"
# For how long deliverers are told that something was approved: each looks several times a second.
APPROVED_MS = 5_000


@dataclass(frozen=True, slots=True)
class Decide:
    """Somebody's word on an intent that waits for an approval.

    `by` is told by the trail; `principal` is who that is, None for an operator, who is nobody's principal. `digest`:
    the request that was looked at; without it nothing is approved. `since_ms`: since when it had waited then, None for
    what waits by now.
    """

    verdict: Literal["approve", "deny"]
    by: str
    principal: str | None
    note: str
    digest: str | None = None
    since_ms: int | None = None


async def decide(store: FenceStore, record: IntentRecord, decide: Decide) -> IntentRecord | Refused:
    """Approve or deny, once; the repeat of one call is answered alike. Raises StoreUnavailable, as all calls here do.

    Refused: `wrong-state`, also where a newer epoch rules or the time is over; `forbidden` for who made the request;
    `no-such-intent`.
    """
    who = decide.verdict, decide.by, decide.principal or "", decide.note
    about = record.resource, record.id, *who, decide.digest or "", _keeping(record, decide.since_ms)
    answer = await store.run_in_time(DECIDE, resource_keys(record.resource), *about)
    match answer.word:
        case "decided":
            now = record_of(answer.rest)
            if decide.verdict == "deny":
                store.has_denied(now, kept_s(answer))
            await _hint(store, answer, record)
            if decide.verdict == "approve":
                await _put_first(store, answer, record)
            return now
        case "wrong-state":
            return _not_awaited(record_of(answer.rest))
        case "own-request":
            detail = (
                "Nothing was done: nobody approves or denies what was sent with their own key. Ask another approver."
            )
            return Refused(FORBIDDEN, detail, _facts(record_of(answer.rest)))
        case "other-request":
            return _other_request(record_of(answer.rest), "waits", decide.digest)
        case "store-regressed":
            return not_before_accepted(_facts(record_of(answer.rest)))
        case "lost":
            return from_before_a_loss(_facts(record_of(answer.rest)))
        case "unseen":
            return _unseen(record)
        case _:
            raise unknown_word(answer)


async def retry(
    store: FenceStore,
    record: IntentRecord,
    *,
    note: str,
    by: str,
    write: Write | None = None,
    digest: str | None = None,
    since_ms: int | None = None,
) -> IntentRecord | Refused:
    """Queue again what has failed, as it came. Refused: `wrong-state`, `no-such-intent`, `quota-exceeded`.

    `write`: what it takes of its rule's budgets, if it has any, for its place was given back when it failed. `digest`:
    of the request that was looked at; without it, of the one that `record` tells of; `since_ms` likewise.
    """
    kept = "" if record.parking is None else record.parking.digest
    if kept and digest not in (None, kept):
        return _other_request(record, "is kept", digest)
    attempt = store.new_ticket(record.resource)
    costs = write is not None and bool(write.costs)
    if write is not None and costs:
        refused = await reserve(store, write, attempt)
        if refused is not None:
            return refused
    about = record.resource, record.id, note, by, kept, _keeping(record, since_ms)
    answer = await store.run_in_time(RETRY, resource_keys(record.resource), *about)
    if write is not None and costs and answer.word != "queued":
        await give_back(store, write.rule, record.id, attempt)
    match answer.word:
        case "queued":
            await _hint(store, answer, record)
            return record_of(answer.rest)
        case "wrong-state":
            why = f"the intent is {record_of(answer.rest).state}, and only a queued one that failed can be sent again"
        case "other-request":
            return _other_request(record_of(answer.rest), "is kept", kept)
        case "approved":
            why = "its approval is used up; whoever made it has to repeat it, and it has to be approved again"
        case "overtaken":
            why = (
                "its epoch was overtaken, or an operator has forgotten it; whoever has a newer one repeats the request"
            )
        case "collected":
            why = "its lease ended long ago, and newer ones are no longer known; whoever has one repeats the request"
        case "not-kept":
            why = "its request is no longer kept; whoever made it has to repeat it"
        case "store-regressed":
            return not_before_accepted(_facts(record_of(answer.rest)))
        case "lost":
            return from_before_a_loss(_facts(record_of(answer.rest)))
        case "unseen":
            return _unseen(record)
        case _:
            raise unknown_word(answer)
    return Refused(WRONG_STATE, f"Nothing was done: {why}.", _facts(record_of(answer.rest)))


async def expire(store: FenceStore, id: IntentId) -> None:
    """End what nobody approved in time; nothing happens to any other."""
    shard = shard_of_id(id)
    if shard is not None:
        await store.run(EXPIRE, shard_keys(shard), id, store.gateway)


async def expire_all(store: FenceStore, ids: Iterable[IntentId]) -> None:
    """As `expire`, of each. Raises StoreUnavailable, once all have had their turn."""
    failed = None
    for id in ids:
        try:
            await expire(store, id)
        except StoreUnavailable as error:
            # One record that cannot be read must not keep the others waiting.
            failed = error
    if failed is not None:
        raise failed


async def request_of(store: FenceStore, id: str) -> KeptRequest | None:
    """The request of a parked intent; None where it is not kept, or not any more."""
    shard = shard_of_id(id)
    if shard is None:
        return None
    reply = await store.link.call("HMGET", kept_request(shard, id), "for", "request")
    assert isinstance(reply, list)
    purpose, packed = reply
    if purpose != PURPOSE.encode() or not isinstance(packed, bytes):
        return None
    return await asyncio.to_thread(inflate_request, packed)


async def recount_parked(store: FenceStore) -> int:
    """How many bytes of requests wait, counted anew."""
    before = await counted_so_far(store.link)
    found = await counted(store, PURPOSE)
    return await put_right(store.link, before, Counted(found.total(), found))


async def _hint(store: FenceStore, answer: Answer, record: IntentRecord) -> None:
    """Deliverers look at once; without the hint, within a minute."""
    await store.link.call("ZADD", HINTS, "LT", answer.now_ms, shard_of(record.resource))


async def _put_first(store: FenceStore, answer: Answer, record: IntentRecord) -> None:
    """Deliverers see to it before what else waits; without the word, in its turn."""
    call = store.link.call
    with contextlib.suppress(StoreUnavailable):
        await call("ZADD", APPROVED, answer.now_ms, record.resource)
        await call("ZREMRANGEBYSCORE", APPROVED, "-inf", answer.now_ms - APPROVED_MS)
        await call("PEXPIRE", APPROVED, APPROVED_MS)


def _not_awaited(record: IntentRecord) -> Refused:
    detail = f"Nothing was done: the intent is {record.state}, and only one that waits for an approval can be decided."
    if record.state == "superseded":
        detail = "Not approved: a newer epoch rules its resource, and the intent is superseded. Nothing is sent."
    elif record.state == "expired":
        detail = "Not approved: nobody decided in time, and the intent has expired. Nothing is sent."
    return Refused(WRONG_STATE, detail, _facts(record))


def _keeping(record: IntentRecord, since_ms: int | None) -> str:
    """What names the request that was looked at, as it waited then."""
    if since_ms is None or record.parking is None:
        return record.keeping
    return replace(record.parking, since_ms=since_ms).keeping


def _other_request(record: IntentRecord, now: str, digest: str | None) -> Refused:
    """Of one that was decided about as it was once: its key was free meanwhile."""
    it_is = "" if record.parking is None else f", which is {record.parking.digest}"
    why = f"`digest` is not that of the request that {now}{it_is}"
    if record.parking is not None and digest == record.parking.digest:
        why = f"the same request {now} anew since {instant(record.parking.since_ms)}, which is not what was looked at"
    return Refused(WRONG_STATE, f"Nothing was done: {why}. Look at it again.", _facts(record))


def _unseen(record: IntentRecord) -> Refused:
    return Refused(NO_SUCH_INTENT, "Nothing was done: the intent is no longer kept.", Facts(intent=record.id))


def _facts(record: IntentRecord) -> Facts:
    return Facts(resource=record.resource, intent=record.id, intent_state=record.state)
