"""What operators see of an applied intent's compensation. Every call raises StoreUnavailable."""

import asyncio
from dataclasses import dataclass

from gateway.core.compensation import Compensation, Unavailable, Undo
from gateway.core.intent import IntentId
from gateway.core.record import IntentRecord
from gateway.store.answer import number, text
from gateway.store.fence import FenceStore
from gateway.store.kept_requests import inflate_request
from gateway.store.keys import compensation, shard_of_id
from gateway.store.views import audit_views
from gateway.store.views.audit_views import Sought

# Of a search through the trail; one looks at thousands of events.
_PAGES = 3


@dataclass(frozen=True, slots=True)
class _Stored:
    """A compensation as it is stored, with the number of the event after which it was kept, and the instant of it."""

    undo: Undo
    number: int
    at_ms: int


async def undo_of(store: FenceStore, id: IntentId) -> Undo | None:
    """What would take the intent back; None where its rule had no compensation, or it never was applied."""
    stored = await _stored(store, id)
    return None if stored is None else stored.undo


async def compensation_of(store: FenceStore, record: IntentRecord) -> Compensation | None:
    """The same, and whether the resource was written since."""
    stored = await _stored(store, record.id)
    return None if stored is None else Compensation(stored.undo, await _is_written_since(store, record, stored))


async def _stored(store: FenceStore, id: IntentId) -> _Stored | None:
    shard = shard_of_id(id)
    if shard is None:
        return None
    found = await store.link.call("HMGET", compensation(shard, id), "request", "none", "number", "at")
    assert isinstance(found, list)
    packed, why, at_number, at_ms = found
    if at_number is None or at_ms is None:
        return None
    if not isinstance(packed, bytes):
        return _Stored(Unavailable(text(why)), number(at_number), number(at_ms))
    request = await asyncio.to_thread(inflate_request, packed)
    return _Stored(request, number(at_number), number(at_ms))


async def _is_written_since(store: FenceStore, record: IntentRecord, stored: _Stored) -> bool | None:
    """By the trail: whether a write of another intent has ended since, and not as one that was not applied."""
    sought, cursor = Sought(resource=record.resource, since_ms=stored.at_ms), None
    for _ in range(_PAGES):
        found = await audit_views.events(store, sought, cursor)
        for event in found.items:
            other = event.number > stored.number and event.intent != record.id
            if other and event.before == "in_flight" and event.after in ("applied", "unknown"):
                if await _is_of(store, event.intent, record.id):
                    continue
                return True
        cursor = found.next
        if cursor is None:
            return False if await _trail_reaches(store, record, stored) else None
    return None


async def _is_of(store: FenceStore, id: str, first: IntentId) -> bool:
    other = await store.recall(id)
    return other is not None and other.compensates == first


async def _trail_reaches(store: FenceStore, record: IntentRecord, stored: _Stored) -> bool:
    """Whether nothing has been pruned that came after the compensation was kept."""
    oldest = await audit_views.oldest(store, record.resource)
    return oldest is not None and oldest.number <= stored.number + 1
