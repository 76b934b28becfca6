"""What the metrics say of the whole store, counted without looking at all of it each time.

One command a shard (0.4 µs of the store's time) finds the shards in which anything waits or is in flight; only those
are counted, each by one script. What has ended is counted once a minute: it is long, and nobody has to act on it. In
12,288 commands, one for each list of each shard, the same takes a tenth of a second of this process.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

from gateway.core.budget import Fullest
from gateway.core.census import Census, Flown, Lasting, Letters
from gateway.core.intent import IntentId, State
from gateway.core.pause import Kind
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey, TicketId
from gateway.store.answer import number, pairs, text
from gateway.store.fence import FenceStore
from gateway.store.keys import deadlines, shard_keys, shard_of_id, shards
from gateway.store.links.link import Reply, pack
from gateway.store.loss import losses
from gateway.store.pauses import wide_pauses
from gateway.store.reply import record_of
from gateway.store.script import Script
from gateway.store.views.budget_views import fullest
from gateway.store.views.intent_views import GLANCE
from gateway.store.views.resource_views import read_ticket

CENSUS = Script("census", ())

# Several look at the metrics: scrapers, and consoles once a second.
_FRESH_S = 2.0
# The script takes the store 17 ms for all shards, in pieces of 17 µs.
_ENDED_FRESH_S = 60.0
# A call for each rule that has budgets. Nobody reacts faster to a window of minutes or days.
_BUDGETS_FRESH_S = 15.0
# Of one shard: of a thousand times as many in flight nobody asks for the last one.
_TICKETS_LOOKED_AT = 256

# Lists of a shard, by the end of their keys (`keys.py`).
_PENDING = (
    *("d", "s:unknown", "s:awaiting_approval", "s:queued", "s:failed", "s:compensating"),
    *("s:paused", "l:waiting", "l:dead"),
)
_ENDED = ("s:applied", "s:not_applied", "s:denied", "s:expired", "s:superseded", "s:compensated")
_LASTING: tuple[Lasting, ...] = ("unknown", "awaiting_approval")


@dataclass(frozen=True, slots=True)
class _Shard:
    """One shard's numbers, in the order of what was asked for."""

    now_ms: int
    counts: list[int]
    oldest_ms: list[int | None]
    queued: tuple[float, IntentId] | None
    """When the first of them was asked for, and which it is."""
    in_flight: list[Flown]


class Counting:
    """Counts, and remembers it for two seconds: what has ended for a minute. `now` tells the time in seconds."""

    def __init__(self, store: FenceStore, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        self._lock = asyncio.Lock()
        self._census: Census | None = None
        self._counted_at = 0.0
        self._ended: Counter[str] = Counter()
        self._ended_at: float | None = None
        self._budgets: tuple[Fullest, ...] = ()
        self._budgets_at: float | None = None

    async def census(self) -> Census:
        """Raises StoreUnavailable: a number from before would hide that nobody knows."""
        async with self._lock:
            if self._census is None or self._now() - self._counted_at >= _FRESH_S:
                self._census = None
                census = await self._count()
                self._census, self._counted_at = census, self._now()
            return self._census

    async def budgets(self, rules: Sequence[Rule]) -> tuple[Fullest, ...]:
        """What is used of the budgets of these rules, up to 15 seconds ago. Raises StoreUnavailable."""
        async with self._lock:
            if self._budgets_at is None or self._now() - self._budgets_at >= _BUDGETS_FRESH_S:
                self._budgets_at = None
                self._budgets = await fullest(self._store, rules)
                self._budgets_at = self._now()
            return self._budgets

    async def _count(self) -> Census:
        asked = (_read(self._store, shard, _PENDING, _LASTING) for shard in await _busy(self._store))
        busy = await asyncio.gather(*asked)
        pending = _sums(_PENDING, busy)
        ended = await self._count_ended()
        intents: dict[State, int] = {state: (pending + ended)[f"s:{state}"] for state in get_args(State)}
        kinds = Counter(pause.scope.kind for pause in await wide_pauses(self._store))
        return Census(
            intents=intents | {"in_flight": pending["d"]},
            oldest_s=await _oldest(self._store, busy),
            pauses={"resource": pending["s:paused"]} | {kind: kinds[kind] for kind in get_args(Kind)},
            letters={state: pending[f"l:{state}"] for state in get_args(Letters)},
            in_flight=tuple(flown for shard in busy for flown in shard.in_flight),
            regressed=await losses.regressed(self._store) is not None,
        )

    async def _count_ended(self) -> Counter[str]:
        if self._ended_at is None or self._now() - self._ended_at >= _ENDED_FRESH_S:
            found = await asyncio.gather(*(_read(self._store, shard, _ENDED, ()) for shard in shards()))
            self._ended, self._ended_at = _sums(_ENDED, found), self._now()
        return self._ended


async def _busy(store: FenceStore) -> list[str]:
    asked = (store.link.at(key).send(look) for key, look in _looks())
    return [shard for shard, count in zip(shards(), await asyncio.gather(*asked), strict=True) if count]


@lru_cache(maxsize=1)
def _looks() -> Sequence[tuple[str, bytes]]:
    """The same each time; to spell them takes as long as to ask."""
    return tuple(
        (deadlines(shard), pack("EXISTS", *(f"{shard_keys(shard)[-1]}{end}" for end in _PENDING))) for shard in shards()
    )


async def _read(store: FenceStore, shard: str, lists: Sequence[str], lasting: Sequence[Lasting]) -> _Shard:
    looked_at = _TICKETS_LOOKED_AT if "d" in lists else 0
    oldest = " ".join(f"s:{state}" for state in lasting)
    answer = await store.run(CENSUS, shard_keys(shard), " ".join(lists), oldest, str(looked_at))
    counts, since, queued, tickets = answer.rest
    assert isinstance(counts, list)
    assert isinstance(since, list)
    assert isinstance(queued, list)
    return _Shard(
        answer.now_ms,
        [number(count) for count in counts],
        [int(float(ms)) if (ms := text(one)) else None for one in since],
        _first(queued),
        [flown for entry, packed in pairs(tickets) if (flown := _flown(entry, packed)) is not None],
    )


def _first(queued: list[Reply]) -> tuple[float, IntentId] | None:
    if not queued:
        return None
    name, micros = queued
    assert isinstance(name, bytes)
    return float(text(micros)), IntentId(name.decode("ascii", "replace"))


def _flown(entry: Reply, packed: Reply) -> Flown | None:
    """None for what no gateway wrote: one damaged record must not hide all others."""
    try:
        id, _, resource = text(entry).partition(" ")
        ticket = read_ticket(TicketId(id), packed)
    except (ValueError, LookupError):
        return None
    return Flown(ticket.upstream, ticket.rule, ResourceKey(resource), ticket.epoch)


def _sums(lists: Sequence[str], found: Sequence[_Shard]) -> Counter[str]:
    return Counter({name: sum(shard.counts[at] for shard in found) for at, name in enumerate(lists)})


async def _oldest(store: FenceStore, busy: Sequence[_Shard]) -> dict[Lasting, float]:
    """In seconds: since when the oldest has been in its state; of those that are queued the one that was
    asked for first counts, since it was queued."""
    ages: dict[Lasting, float] = {
        state: max((_age_s(shard.now_ms, shard.oldest_ms[at]) for shard in busy), default=0.0)
        for at, state in enumerate(_LASTING)
    }
    first = min((shard.queued for shard in busy if shard.queued is not None), default=None)
    return {**ages, "queued": 0.0 if first is None else await _queued_for_s(store, first[1])}


async def _queued_for_s(store: FenceStore, id: IntentId) -> float:
    shard = shard_of_id(id)
    if shard is None:
        return 0.0
    answer = await store.run(GLANCE, shard_keys(shard), id)
    # It may have been delivered, and forgotten, a moment ago.
    parking = record_of(answer.rest).parking if answer.word == "recalled" else None
    return 0.0 if parking is None else _age_s(answer.now_ms, parking.since_ms)


def _age_s(now_ms: int, since_ms: int | None) -> float:
    return 0.0 if since_ms is None else max(0.0, (now_ms - since_ms) / 1000)
