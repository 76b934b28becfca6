"""Time passes for a ticket or an intent: the store's own instants are put into the past."""

from typing import Any

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys, shard_of_id, unfinished

LONG_AGO_MS = 1000
# Instants of a record and of a ticket, behind their marks.
UPDATED_AT = slice(10, 16)
_SENT_AT = slice(16, 22)
_DEADLINE = slice(1, 7)


def make_overdue(raw: Any, resource: ResourceKey, ticket: str) -> None:
    """As if its gateway had been silent all that while. The shard's list of deadlines says so too."""
    _, current, older, _, deadlines, *_ = resource_keys(resource)
    raw.zadd(deadlines, {f"{ticket} {resource}": LONG_AGO_MS}, xx=True)
    for key in (current, older, unfinished(resource)):
        if packed := raw.hget(key, ticket):
            raw.hset(key, ticket, _with(packed, _DEADLINE, LONG_AGO_MS))


def deadline_ms(packed: bytes) -> int:
    """Of a ticket as it is kept, by the store's clock."""
    return int.from_bytes(packed[_DEADLINE], "big")


def make_sent_before(raw: Any, id: str, seconds: float) -> None:
    """The first attempt in doubt was admitted that much earlier."""
    move_back(raw, id, _SENT_AT, seconds)


def move_back(raw: Any, id: str, instant: slice, seconds: float) -> None:
    """The record's instant was that much earlier."""
    key = f"fg:{{{shard_of_id(id)}}}:i:{id}"
    packed = raw.get(key)
    ms = int.from_bytes(packed[instant], "big") - round(seconds * 1000)
    raw.set(key, _with(packed, instant, ms), keepttl=True)


def _with(packed: bytes, instant: slice, ms: int) -> bytes:
    return packed[: instant.start] + ms.to_bytes(6, "big") + packed[instant.stop :]
