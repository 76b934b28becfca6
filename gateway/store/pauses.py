"""Pauses that are wider than one resource: in one hash that every gateway reads again and again, by their ids.

Their events are in the audit trail of the hash's shard. One that is missing there, and that no operator has ended, was
lost by the store: whoever has read it before goes on enforcing it, and writes it back.
"""

import json
import secrets
from collections.abc import Sequence
from typing import get_args

from gateway.core.decision import BAD_REQUEST, Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.pause import Kind, PausesInForce, Scope, WidePause
from gateway.store.answer import pairs, text, unknown_word
from gateway.store.fence import FenceStore
from gateway.store.keys import PAUSES_SHARD, WIDE_PAUSES, shard_keys
from gateway.store.links.link import Reply
from gateway.store.script import Script

BEGIN_PAUSE = Script("begin_pause")
END_PAUSE = Script("end_pause")
RESTORE_PAUSES = Script("restore_pauses")

# Every worker reads all of them twice a second. Who needs more of them means something wider.
MOST = 1000
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
_FIELDS = ("kind", "name", "upstream", "reason", "by")
# 64 random bits.
_ID_BYTES = 8
_KEYS = shard_keys(PAUSES_SHARD)
# An instant that a list's cursor can name.
_LONG_AGO_MS = 1


class PauseRecords:
    """Implements `gateway.flow.ports.PauseStore`."""

    def __init__(self, store: FenceStore) -> None:
        self._store = store
        self._known: PausesInForce = {}

    async def in_force(self) -> PausesInForce:
        """As the store has them, with those that it has lost since they were read."""
        known = {pause.scope: pause for pause in await wide_pauses(self._store)}
        ids = {pause.id for pause in known.values()}
        missing = [pause for pause in self._known.values() if pause.id not in ids]
        if missing:
            known = {pause.scope: pause for pause in await self._not_ended(missing)} | known
        self._known = known
        return known

    async def _not_ended(self, missing: Sequence[WidePause]) -> Sequence[WidePause]:
        try:
            restored = await _restore(self._store, missing)
        except StoreUnavailable:
            # Nobody has said that they have ended; they are written back at the next look.
            return missing
        return [pause for pause in missing if pause.id in restored]


async def wide_pauses(store: FenceStore) -> list[WidePause]:
    """All that are in force. Raises StoreUnavailable, as all calls here do."""
    return [_read(text(id), packed) for id, packed in pairs(await store.link.call("HGETALL", WIDE_PAUSES))]


async def find_wide_pause(store: FenceStore, id: str) -> WidePause | None:
    packed = await store.link.call("HGET", WIDE_PAUSES, id)
    return None if packed is None else _read(id, packed)


async def begin_pause(store: FenceStore, scope: Scope, *, id: str, reason: str, by: str) -> WidePause | Refused:
    """Stop all writes in the scope, through every gateway; returns the pause that lasts already, if there is one.

    Refused: `bad-request`, where there are too many.
    """
    about = id, *_spelled(scope), reason, by, f"{scope}: {reason}", str(MOST)
    answer = await store.run_in_time(BEGIN_PAUSE, _KEYS, *about)
    match answer.word:
        case "paused":
            lasting, packed = answer.rest
            return _read(text(lasting), packed)
        case "full":
            detail = f'Nothing was done: {MOST} pauses are in force. End some, or stop everything: {{"all": true}}.'
            return Refused(BAD_REQUEST, detail)
        case _:
            raise unknown_word(answer)


async def end_pause(store: FenceStore, pause: WidePause, by: str) -> None:
    """Let the writes go on, unless another pause stops them too."""
    about = pause.id, *_spelled(pause.scope), f"{pause.scope}: {pause.reason}", by
    await store.run_in_time(END_PAUSE, _KEYS, *about)


async def _restore(store: FenceStore, lost: Sequence[WidePause]) -> set[str]:
    """The ids of those that are in force now: what has ended meanwhile stays so."""
    events = [f"restored, for the store lost it: {pause.scope}: {pause.reason}" for pause in lost]
    spelled = [word for pause, event in zip(lost, events, strict=True) for word in (_packed(pause), event)]
    answer = await store.run(RESTORE_PAUSES, _KEYS, store.gateway, *spelled)
    (ids,) = answer.rest
    assert isinstance(ids, list)
    return set(map(text, ids))


def new_pause_id() -> str:
    """The id of a wide pause that is about to begin; like that of a resource's it says in which shard it is found."""
    return f"{PAUSES_SHARD}{secrets.token_hex(_ID_BYTES)}"


def _spelled(scope: Scope) -> tuple[str, str, str]:
    return scope.kind, scope.name, scope.upstream or ""


def _packed(pause: WidePause) -> str:
    """As `begin_pause.lua` does."""
    values = (*_spelled(pause.scope), pause.reason, pause.by, str(pause.created_at_ms))
    return json.dumps({"id": pause.id, **dict(zip((*_FIELDS, "created_at"), values, strict=True))})


def _read(id: str, packed: Reply) -> WidePause:
    """What this gateway cannot read stops everything: whoever wrote it meant to stop something."""
    try:
        fields = json.loads(text(packed))
        kind, name, upstream, reason, by = map(str, map(fields.__getitem__, _FIELDS))
        return WidePause(id, Scope(_KINDS[kind], name, upstream or None), reason, by, int(fields["created_at"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        reason = "this gateway cannot read the pause, and so stops everything"
        return WidePause(id, Scope("all"), reason, "unknown", _LONG_AGO_MS)
