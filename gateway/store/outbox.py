"""Notifications that are to be sent: implements the `Outbox` of gateway.flow.notifying.

The scripts put them there, in the same step as what they tell of (scripts/parts/notification.lua).
"""

import asyncio
import itertools
from collections.abc import Collection
from typing import cast

from gateway.core.epoch import Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import IntentId
from gateway.core.notification import Claimed, Due, Notification
from gateway.core.rule import NotifyEvent
from gateway.core.webhook import Again, Dead, Received
from gateway.core.write import ResourceKey
from gateway.store.answer import fields, number, pairs, text
from gateway.store.fence import FenceStore
from gateway.store.keys import notifications, shard_keys, shard_of_id, shards
from gateway.store.links.link import Reply, pack
from gateway.store.script import SENDING_PARTS, Script

CLAIM = Script("claim", SENDING_PARTS)
REPORT = Script("report", SENDING_PARTS)

# Of one shard at one look; the rest at the next.
_AT_ONCE = 100
# Longer than an attempt may take, so that no other gateway makes it too; a dead gateway's is made this much later.
_CLAIM_MS = 60_000


class Outbox:
    """What waits to be sent from one store. Every call raises StoreUnavailable."""

    def __init__(self, store: FenceStore) -> None:
        self._store = store
        self._calls = itertools.count(1)

    async def due(self, upstreams: Collection[str]) -> list[Due]:
        """Some of what is due of these upstreams, what waited longest first.

        For all shards it costs the store half a millisecond. One that cannot be read keeps no other from it: pruning
        tells of it.
        """
        now_ms = self._store.expected_ms()
        asked = (self._waiting(shard, now_ms) for shard in shards())
        found: list[Due] = []
        for shard, answer in zip(shards(), await asyncio.gather(*asked, return_exceptions=True), strict=True):
            if not isinstance(answer, BaseException):
                found += (due for due in _read(answer, shard) if due.upstream in upstreams)
            elif not (isinstance(answer, StoreUnavailable) and self._store.healthy):
                raise answer
        return sorted(found, key=lambda due: due.at_ms)

    async def claim(self, due: Due) -> Claimed | None:
        """None where it is no longer to be sent, or another gateway was first."""
        call = f"{self._store.gateway}{next(self._calls):x}"
        answer = await self._store.run(CLAIM, _keys(due.id), due.id, due.upstream, str(_CLAIM_MS), call)
        if answer.word != "claimed":
            return None
        told = fields(answer.rest)
        return Claimed(notification_of(told), number(told["attempts"]), answer.now_ms)

    async def report(self, claimed: Claimed, outcome: Received | Again | Dead) -> None:
        """What became of the attempt. One that another attempt has followed counts only if it was received."""
        word, why, after_ms = _told(outcome)
        about = claimed.notification.id, claimed.notification.upstream
        arguments = (str(claimed.attempt), word, why, str(after_ms))
        await self._store.run(REPORT, _keys(claimed.notification.id), *about, *arguments)

    def _waiting(self, shard: str, now_ms: int) -> asyncio.Future[Reply]:
        key, asked = notifications(shard, "waiting"), ("BYSCORE", "LIMIT", 0, _AT_ONCE, "WITHSCORES")
        # A coroutine for each shard would take three times as long.
        return self._store.link.at(key).send(pack("ZRANGE", key, "-inf", now_ms, *asked))


def _read(reply: Reply, shard: str) -> list[Due]:
    return [due for member, score in pairs(reply) if (due := _read_due(member, score, shard)) is not None]


def _told(outcome: Received | Again | Dead) -> tuple[str, str, int]:
    match outcome:
        case Received():
            return "received", "", 0
        case Again(after_s, why):
            return "again", why, round(after_s * 1000)
        case Dead(why):
            return "dead", why, 0


def _read_due(member: Reply, score: Reply, shard: str) -> Due | None:
    """None for a member that no gateway wrote."""
    assert isinstance(member, bytes)
    id, _, upstream = member.decode("utf-8", "replace").partition(" ")
    return Due(id, upstream, int(float(text(score)))) if shard_of_id(id) == shard else None


def _keys(id: str) -> tuple[str, ...]:
    shard = shard_of_id(id)
    assert shard is not None
    return shard_keys(shard)


def notification_of(told: dict[str, Reply]) -> Notification:
    """The notification as the store has it."""
    return Notification(
        text(told["id"]),
        cast(NotifyEvent, text(told["event"])),
        text(told["incident"]),
        number(told["at"]),
        IntentId(text(told["intent"])),
        text(told["state"]),
        text(told["upstream"]),
        text(told["rule"]),
        ResourceKey(text(told["resource"])),
        Epoch(number(told["epoch"])),
        text(told["holder"]),
        text(told["reason"]),
        text(told.get("digest", b"")),
    )
