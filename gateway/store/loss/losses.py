"""What operators see of a store that has lost acknowledged work, and how they end it.

Every call raises StoreUnavailable.
"""

import asyncio
from dataclasses import dataclass

from gateway.core.decision import STORE_REGRESSED, WRONG_STATE, WRONG_STORE_STATE, Facts, Refused
from gateway.core.faults import StoreUnavailable
from gateway.store.answer import Answer, number, pairs, text
from gateway.store.fence import FenceStore
from gateway.store.keys import marks, shard_keys, shards, store_record
from gateway.store.links.topology import places
from gateway.store.script import Script
from gateway.store.views.silence import Silent, heard, why

ACCEPT = Script("accept", ("epoch", "audit"))
ACCEPT_SHARD = Script("accept_shard")

# Of one shard at once: each costs the store some tens of microseconds, and writes wait meanwhile.
_INTENTS_AT_ONCE = 100
# Who was silent for longer is no longer at work, or cut off.
_SILENT_MS = 60_000
# An intent is kept for 366 days at most after its end (policy/schema.py); leases are dead after a day.
_FLOOR_MS = 367 * 86_400_000


@dataclass(frozen=True, slots=True)
class Mark:
    """The last sign of life of one process of a gateway. Instants in milliseconds of the store's clock since 1970."""

    process: str
    number: int
    made_at_ms: int


@dataclass(frozen=True, slots=True)
class Loss:
    """That the store has lost acknowledged work: since when, why, and who found it. `floor`: the epoch below which all
    leases have ended. `accepted_at_ms` is None while it is open.
    """

    since_ms: int
    why: str
    by: str
    floor: str
    accepted_at_ms: int | None
    accepted_by: str
    note: str


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server of the store. `incarnation` is None as long as no gateway has written there. `loss` is the last one;
    `marks` are of those that are at work. `away`: why it does not answer, and nothing else is known then.
    """

    shard: str
    incarnation: str | None
    began_at_ms: int | None
    loss: Loss | None
    marks: tuple[Mark, ...]
    away: str | None = None

    @property
    def is_regressed(self) -> bool:
        return self.loss is not None and self.loss.accepted_at_ms is None


async def states(store: FenceStore) -> tuple[ServerState, ...]:
    """What each server says of itself, as far as any of them answers."""
    silent: Silent = {}
    asked = places(store.link)
    found = await heard(((place, _state(store, place)) for place in asked), silent)
    if len(silent) == len(asked):
        raise next(iter(silent.values()))
    return tuple(
        state or ServerState(place, None, None, None, (), why(store.link, place, silent[place]))
        for place, state in zip(asked, found, strict=True)
    )


async def regressed(store: FenceStore) -> Loss | None:
    """A loss that nobody has accepted. Raises StoreUnavailable also where one may be at a server that is away."""
    found = await states(store)
    loss = next((state.loss for state in found if state.is_regressed), None)
    if loss is None:
        _all_answer(found)
    return loss


async def accept(store: FenceStore, *, note: str, by: str, looked_at: int | None = None) -> int | Refused | None:
    """Let writes go on; returns how many intents that waited are unknown now. None where nothing was to be accepted.

    Called again after a failure, it ends what is left. `looked_at`: the largest floor of those that were; refused with
    `wrong-state` where another loss was found since.
    """
    before = await states(store)
    _all_answer(before)
    floors = [state.loss.floor for state in before if state.loss is not None and state.is_regressed]
    if not floors:
        return None
    floor = max(floors, key=int)
    if looked_at is not None and int(floor) > looked_at:
        detail = f"Nothing was done: a loss was found since, with the floor {floor}. Look at it again."
        return Refused(WRONG_STORE_STATE, detail)
    counts = await asyncio.gather(*(_accept_shard(store, shard, floor, by) for shard in shards()))
    for state in before:
        if state.is_regressed and state.incarnation is not None:
            await store.run(ACCEPT, shard_keys(state.shard), state.incarnation, note, by)
    return sum(counts)


def not_before_accepted(facts: Facts) -> Refused:
    """What is said to an operator of what may have been sent before."""
    why = "the store has lost what it had acknowledged, and this may have been sent before"
    return Refused(STORE_REGRESSED, f"Nothing was done: {why}. First end the loss: `fencegate store accept`.", facts)


def from_before_a_loss(facts: Facts) -> Refused:
    """The same where that loss has been accepted."""
    why = "it is from before the store lost what it had acknowledged, and this may have been sent since"
    return Refused(WRONG_STATE, f"Nothing was done: {why}. Ask the API, and do there what is to be done.", facts)


def _all_answer(found: tuple[ServerState, ...]) -> None:
    """Raises StoreUnavailable."""
    if away := [state.away for state in found if state.away is not None]:
        raise StoreUnavailable("; ".join(away))


async def _accept_shard(store: FenceStore, shard: str, floor: str, by: str) -> int:
    count = 0
    while True:
        arguments = floor, str(_INTENTS_AT_ONCE), str(_FLOOR_MS), by
        answer: Answer = await store.run(ACCEPT_SHARD, shard_keys(shard), *arguments)
        count += number(answer.rest[0])
        if answer.word == "accepted":
            return count


async def _state(store: FenceStore, shard: str) -> ServerState:
    record, made = await asyncio.gather(
        store.link.call("HGETALL", store_record(shard)), store.link.call("HGETALL", marks(shard))
    )
    fields = {text(name): text(value) for name, value in pairs(record)}
    began = fields.get("began")
    found = [_mark(text(process), text(mark)) for process, mark in pairs(made)]
    heard_ms = store.expected_ms() - _SILENT_MS
    return ServerState(
        shard,
        fields.get("incarnation"),
        int(began) if began else None,
        _loss(fields),
        tuple(sorted((mark for mark in found if mark.made_at_ms >= heard_ms), key=lambda mark: mark.process)),
    )


def _loss(fields: dict[str, str]) -> Loss | None:
    if "since" not in fields:
        return None
    accepted = fields.get("accepted")
    return Loss(
        int(fields["since"]),
        fields["why"],
        fields["by"],
        fields["floor"],
        int(accepted) if accepted else None,
        fields.get("acceptor", ""),
        fields.get("note", ""),
    )


def _mark(process: str, mark: str) -> Mark:
    made, _, at = mark.partition(" ")
    return Mark(process, int(made), int(at))
