"""Notifications that are to be sent: implements the `Outbox` of gateway.flow.notifying.

The scripts put them there, in the same step as what they tell of (scripts/parts/notification.lua).
"""

import asyncio
import itertools
from collections.abc import Collection, Iterator
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

# Of one shard in one page.
_PAGE = 100
# Beside the first page of each shard, at one look, of all shards together: where a shard has more than that, or many
# have, the next look goes on where this one stopped. A page costs this process a fifth of a millisecond.
_PAGES = 64
# Longer than an attempt may take, so that no other gateway makes it too; a dead gateway's is made this much later.
_CLAIM_MS = 60_000


class Outbox:
    """What waits to be sent from one store. Every call raises StoreUnavailable."""

    def __init__(self, store: FenceStore) -> None:
        self._store = store
        self._calls = itertools.count(1)
        # Of shards with more than a page, how much of what is due there was looked at.
        self._looked_at: dict[str, int] = {}

    async def due(self, upstreams: Collection[str]) -> list[Due]:
        """Some of what is due of these upstreams, what waited longest first.

        For all shards it costs the store half a millisecond. One that cannot be read keeps no other from it: pruning
        tells of it.
        """
        now_ms = self._store.expected_ms()
        asked = (self._page(shard, 0, now_ms) for shard in shards())
        found: list[Due] = []
        for shard, answer in zip(shards(), await asyncio.gather(*asked, return_exceptions=True), strict=True):
            page = self._read(answer, shard)
            found += _of(upstreams, page)
            if len(page) == _PAGE:
                self._looked_at.setdefault(shard, _PAGE)
            else:
                self._looked_at.pop(shard, None)
        for _ in range(_PAGES):
            if not self._looked_at:
                break
            # The shards take turns. What is behind the last page is looked at again from the first one.
            shard = next(iter(self._looked_at))
            at = self._looked_at.pop(shard)
            (answer,) = await asyncio.gather(self._page(shard, at, now_ms), return_exceptions=True)
            page = self._read(answer, shard)
            found += _of(upstreams, page)
            if len(page) == _PAGE:
                self._looked_at[shard] = at + _PAGE
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

    def _page(self, shard: str, at: int, now_ms: int) -> asyncio.Future[Reply]:
        key, asked = notifications(shard, "waiting"), ("BYSCORE", "LIMIT", at, _PAGE, "WITHSCORES")
        # A coroutine for each shard would take three times as long.
        return self._store.link.at(key).send(pack("ZRANGE", key, "-inf", now_ms, *asked))

    def _read(self, answer: Reply | BaseException, shard: str) -> list[Due | None]:
        """A page; None for a member that no gateway wrote."""
        if not isinstance(answer, BaseException):
            return [_read_due(member, score, shard) for member, score in pairs(answer)]
        if isinstance(answer, StoreUnavailable) and self._store.healthy:
            return []
        raise answer


def _of(upstreams: Collection[str], page: list[Due | None]) -> Iterator[Due]:
    return (due for due in page if due is not None and due.upstream in upstreams)


def _told(outcome: Received | Again | Dead) -> tuple[str, str, int]:
    match outcome:
        case Received():
            return "received", "", 0
        case Again(after_s, why):
            return "again", why, round(after_s * 1000)
        case Dead(why):
            return "dead", why, 0


def _read_due(member: Reply, score: Reply, shard: str) -> Due | None:
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
