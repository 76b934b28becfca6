"""Whether the audit trail is as it was sealed (audit_seals.py): each event in its place, and none changed."""

import asyncio
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gateway.core.epoch import parse_u64
from gateway.store.answer import number
from gateway.store.audit_seals import (
    BEGINNING,
    NO_EVENT,
    STEP,
    Raw,
    Seal,
    digest_after,
    read_events,
    read_seal,
    seal_shard,
)
from gateway.store.fence import FenceStore
from gateway.store.keys import seals, shard_keys, shards
from gateway.store.views.page import BadCursor

# A call looks at no more than about so many events and shards: it is answered within a second or two.
_EVENTS = 20_000
SHARDS_AT_ONCE = 256
_SEALED_AT_ONCE = 64

Kind = Literal["changed", "missing", "strange", "gone"]


@dataclass(frozen=True, slots=True)
class Head:
    """What a checkpoint has of a shard: the digest of its trail up to the event of this number."""

    shard: str
    number: int
    digest: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a shard's trail, and where: from the event of number `first` to that of number `last`.

    `changed`: they are not what was sealed, or what the checkpoint has. `missing`: they are not there. `strange`: what
    is there is no event, or stands where another should. `gone`: the trail no longer reaches back to the checkpoint.
    """

    shard: str
    kind: Kind
    first: int
    last: int
    what: str


@dataclass(frozen=True, slots=True)
class Walk:
    """How far a shard has been gone through: the last event, and the digest up to it; None where that cannot be known.

    `sealed` is the number of the last event that was sealed.
    """

    shard: str
    id: str = ""
    number: int = 0
    digest: str | None = None
    sealed: int = 0

    @property
    def cursor(self) -> str:
        return f"{self.shard}.{self.id}.{self.number}.{self.digest or ''}.{self.sealed}"


@dataclass(frozen=True, slots=True)
class Verified:
    """Some of the shards. `events` have been looked at; `next` is where it goes on, None at the end."""

    events: int
    findings: tuple[Finding, ...]
    next: str | None


async def checkpoint(store: FenceStore) -> tuple[Head, ...]:
    """The heads of all shards that have events: those are sealed first. Raises StoreUnavailable."""
    every, heads = shards(), []
    for first in range(0, len(every), _SEALED_AT_ONCE):
        some = every[first : first + _SEALED_AT_ONCE]
        for shard, seal in zip(some, await asyncio.gather(*(seal_shard(store, one) for one in some)), strict=True):
            if seal is not None:
                heads.append(Head(shard, seal.number, seal.digest))
    return tuple(heads)


async def verify(store: FenceStore, heads: Mapping[str, Head], cursor: str | None, retain_s: float) -> Verified:
    """Go through some more of the trail. `heads`: of a checkpoint, by shard. `retain_s`: how long events are kept.

    Raises BadCursor and StoreUnavailable.
    """
    walk = _walk(cursor)
    findings: list[Finding] = []
    events = 0
    every = shards()
    begin = every.index(walk.shard)
    kept_ms = store.expected_ms() - round(retain_s * 1000)
    for at, shard in enumerate(every[begin : begin + SHARDS_AT_ONCE]):
        checked = _Checked(store, heads.get(shard), walk if at == 0 else Walk(shard), kept_ms)
        more = await checked.go_on(_EVENTS - events)
        findings += checked.findings
        events += checked.events
        if more:
            return Verified(events, tuple(findings), checked.walk.cursor)
        if events >= _EVENTS:
            break
    following = begin + at + 1
    return Verified(events, tuple(findings), Walk(every[following]).cursor if following < len(every) else None)


class _Checked:
    """One shard, as it is gone through."""

    def __init__(self, store: FenceStore, head: Head | None, walk: Walk, kept_ms: int) -> None:
        self.findings: list[Finding] = []
        self.events = 0
        self.walk = walk
        self._store = store
        self._shard = walk.shard
        self._head = head
        self._kept_ms = kept_ms
        self._seals: dict[int, Seal] = {}

    async def go_on(self, most: int) -> bool:
        """Whether there is more after `most` events."""
        # Before the events: those that come meanwhile are no fault.
        count = await self._store.link.call("GET", f"{shard_keys(self._shard)[6]}n")
        self._seals = await self._read_seals()
        while True:
            begin = f"({self.walk.id}" if self.walk.id else "-"
            found = await read_events(self._store, self._shard, begin, STEP)
            if found and (not self.walk.id or await self._was_cut(found[0])):
                self._begin(found[0])
            for event in found:
                self._look_at(event)
            self.events += len(found)
            if len(found) < STEP:
                self._end(number(count or 0))
                return False
            if self.events >= most:
                return True

    async def _was_cut(self, next: Raw) -> bool:
        """Whether what should come before this event was cut while the trail is gone through."""
        if next.number is None or next.number <= self.walk.number + 1:
            return False
        self._seals = await self._read_seals()
        return min(self._seals, default=0) == next.number - 1

    async def _read_seals(self) -> dict[int, Seal]:
        reply = await self._store.link.call("ZRANGE", seals(self._shard), 0, -1)
        assert isinstance(reply, list)
        found = filter(None, map(read_seal, reply))
        return {seal.number: seal for seal in found}

    def _begin(self, oldest: Raw) -> None:
        """What the oldest event follows on: nothing, or the seal behind which the trail was cut."""
        first = oldest.number or 1
        before = self._seals.get(first - 1)
        if first > 1 and before is None and self._seals:
            what = "the trail begins behind no seal: it was cut for want of room before it was sealed, or by somebody"
            self._tell("missing", *_between(sorted(self._seals), first), what)
        digest = before.digest if before is not None else BEGINNING if first == 1 else None
        self.walk = Walk(self._shard, NO_EVENT, first - 1, digest, first - 1)
        self._reaches_back(first - 1)
        self._compare_with_head()

    def _reaches_back(self, begin: int) -> None:
        head = self._head
        if head is not None and head.number < begin:
            what = "the trail was cut since the checkpoint: it is older than what is kept, or somebody cut it"
            self._tell("gone", head.number + 1, begin, what)

    def _look_at(self, event: Raw) -> None:
        walk, expected = self.walk, self.walk.number + 1
        if event.number is None or event.number <= walk.number:
            self._tell("strange", expected, expected, f"entry {event.id} is no event that belongs there")
            self.walk = replace(walk, id=event.id)
            return
        digest = walk.digest
        if event.number > expected:
            self._tell("missing", expected, event.number - 1, f"none is between {walk.id} and {event.id}")
            # What follows on a gap was perhaps sealed behind it.
            behind = self._seals.get(event.number - 1)
            digest = None if behind is None else behind.digest
        digest = None if digest is None else digest_after(digest, event)
        self.walk = self._sealed(Walk(self._shard, event.id, event.number, digest, walk.sealed))
        self._compare_with_head()

    def _sealed(self, walk: Walk) -> Walk:
        """From each seal on, what follows is judged anew."""
        seal = self._seals.get(walk.number)
        if seal is None:
            return walk
        if seal.id != walk.id or walk.digest not in (None, seal.digest):
            self._tell("changed", walk.sealed + 1, walk.number, f"not what was sealed as {seal.digest[:12]}…")
        return replace(walk, digest=seal.digest, sealed=walk.number)

    def _compare_with_head(self) -> None:
        head, walk = self._head, self.walk
        if head is None or head.number != walk.number or walk.digest == head.digest:
            return
        if walk.digest is None and self.findings:
            # Behind a gap that has been told.
            return
        self._tell("changed", min(self._seals, default=1), head.number, "not what the checkpoint has")

    def _end(self, count: int) -> None:
        walk, head = self.walk, self._head
        last = max(count, max(self._seals, default=0), head.number if head is not None else 0)
        if not walk.id:
            cut = max(self._seals, default=0)
            # Everything may have been cut behind the newest seal, once it was too old.
            is_young = cut > 0 and self._seals[cut].ms >= self._kept_ms
            if last > cut or is_young:
                self._tell("missing", cut if is_young else cut + 1, last, "the trail is empty")
            self._reaches_back(cut)
        elif walk.number < last:
            self._tell("missing", walk.number + 1, last, f"the trail ends at {walk.id}")

    def _tell(self, kind: Kind, first: int, last: int, what: str) -> None:
        self.findings.append(Finding(self._shard, kind, first, last, what))


def _between(numbers: Sequence[int], first: int) -> tuple[int, int]:
    """The events that are missing before `first`, from the last seal before them on."""
    at = bisect_right(numbers, first - 1)
    return (numbers[at - 1] + 1 if at else 1), first - 1


def _walk(cursor: str | None) -> Walk:
    if not cursor:
        return Walk(shards()[0])
    words = cursor.split(".")
    if len(words) != 5 or words[0] not in shards():
        raise BadCursor
    shard, id, digest = words[0], words[1], words[3]
    at, sealed = parse_u64(words[2]), parse_u64(words[4])
    ms, _, within = id.partition("-")
    if at is None or sealed is None or (id and None in (parse_u64(ms), parse_u64(within))):
        raise BadCursor
    return Walk(shard, id, at, digest or None, sealed)
