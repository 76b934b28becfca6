"""The audit trail is sealed: about once a minute the digest of all that a shard's trail has had is kept beside it.

Each event has a digest, of itself and of the digest of the event before it: SHA-256, which is computed here, because in
the scripts of a write it would cost as much as a tenth of a write. It is kept for the last event of each round, its
seal. So a change, a gap or an insertion among sealed events is found (audit_chain.py), and the trail is cut at its old
end behind a seal, so that what is left still follows on it.

What it proves: nothing was changed since it was sealed, by whoever can change the store but not the seals as well. Who
can change both may make a trail with its seals anew; that is found by a checkpoint that was kept elsewhere.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.core.faults import StoreUnavailable
from gateway.store.answer import number, text
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, seals, shard_keys, shards
from gateway.store.links.link import Reply
from gateway.store.packed import event_number
from gateway.store.script import Script

SEAL = Script("seal")

# The digest before the first event of a shard, and before the oldest that was left when the trail was first sealed.
BEGINNING = "0" * 64
# The id of a seal that is none of an event.
NO_EVENT = "0-0"
# Events that are read at a time. Each of a long trail's rounds has a seal of its own, behind which it can be cut.
STEP = 500
# Rounds of one shard at a time: what more there is waits for the next minute, and holds no other shard back.
_ROUNDS = 1000
# Shards that are looked at at a time.
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Seal:
    """The digest of a shard's trail up to its event of this number. `id` is that event's in the stream."""

    number: int
    id: str
    digest: str

    @property
    def ms(self) -> int:
        """When its event was made, by the store's clock."""
        return int(self.id.partition("-")[0])

    @property
    def member(self) -> str:
        return f"{self.number} {self.id} {self.digest}"


@dataclass(frozen=True, slots=True)
class Raw:
    """An event as it is stored. `number` is None where it is no event."""

    id: str
    number: int | None
    content: bytes


def digest_after(before: str, event: Raw) -> str:
    """The digest of an event that follows on one with the digest `before`."""
    return hashlib.sha256(f"{before} {event.id} ".encode() + event.content).hexdigest()


async def seal(store: FenceStore) -> None:
    """Seal what is new in all shards. One that cannot be sealed keeps no other from it. Raises StoreUnavailable."""
    every, failed = shards(), None
    for first in range(0, len(every), _AT_ONCE):
        answers = await asyncio.gather(
            *(seal_shard(store, shard) for shard in every[first : first + _AT_ONCE]), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, StoreUnavailable) and store.healthy:
                failed = answer
            elif isinstance(answer, BaseException):
                raise answer
    if failed is not None:
        raise failed


async def seal_shard(store: FenceStore, shard: str) -> Seal | None:
    """Seal a shard's trail up to its end; returns its newest seal, or None where there never was an event."""
    last, events = await asyncio.gather(newest_seal(store, shard), store.link.call("GET", f"{shard_keys(shard)[6]}n"))
    for _ in range(_ROUNDS):
        if events is None or (last is not None and last.number >= number(events)):
            return last
        found = await read_events(store, shard, "-" if last is None else f"({last.id}", STEP)
        told = [event for event in found if event.number is not None]
        if not told:
            return last
        last = await _seal_after(store, shard, last, told)
    return last


async def _seal_after(store: FenceStore, shard: str, last: Seal | None, events: Sequence[Raw]) -> Seal | None:
    first, added = events[0].number, []
    assert first is not None
    digest = last.digest if last is not None else BEGINNING
    if first > (last.number if last is not None else 0) + 1:
        # The trail is older than its seals; or it was cut before anybody sealed it.
        digest = BEGINNING
        added.append(Seal(first - 1, NO_EVENT, digest))
    for event in events:
        digest = digest_after(digest, event)
    end = events[-1]
    assert end.number is not None
    added.append(Seal(end.number, end.id, digest))
    pairs = [argument for one in added for argument in (one.member, str(one.number))]
    answer = await store.run(SEAL, shard_keys(shard), "" if last is None else last.member, *pairs)
    return added[-1] if answer.word == "sealed" else await newest_seal(store, shard)


async def newest_seal(store: FenceStore, shard: str) -> Seal | None:
    found = await store.link.call("ZRANGE", seals(shard), -1, -1)
    assert isinstance(found, list)
    return read_seal(found[0]) if found else None


async def read_events(store: FenceStore, shard: str, begin: str, count: int) -> list[Raw]:
    """The oldest events from `begin` on, as the stream's range has it."""
    reply = await store.link.call("XRANGE", audit_trail(shard), begin, "+", "COUNT", count)
    assert isinstance(reply, list)
    return [_raw(entry) for entry in reply]


def read_seal(member: Reply) -> Seal | None:
    """A seal as it is stored; None for what no gateway has written."""
    words = text(member).split()
    if len(words) != 3 or not words[0].isdecimal() or not words[1].partition("-")[0].isdecimal():
        return None
    return Seal(int(words[0]), words[1], words[2])


def _raw(entry: Reply) -> Raw:
    assert isinstance(entry, list)
    id, fields = entry
    assert isinstance(fields, list)
    # The length before each: two fields must not pass for other two.
    spelled = b"".join(b"%d:%b" % (len(field), field) for field in fields if isinstance(field, bytes))
    return Raw(text(id), event_number(fields), spelled)
