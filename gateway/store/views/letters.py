"""What operators see of notifications: those that wait to be sent, and the dead letters, which can be sent again."""

from dataclasses import dataclass

from gateway.core.notification import Notification
from gateway.store.answer import fields, number, text
from gateway.store.fence import FenceStore
from gateway.store.keys import LetterState, notification, notifications, shard_keys, shard_of_id
from gateway.store.links.link import Reply
from gateway.store.outbox import notification_of
from gateway.store.script import SENDING_PARTS, Script
from gateway.store.views.newest import Entry, members, newest_page
from gateway.store.views.page import Page, Position

RESEND = Script("resend", SENDING_PARTS)


@dataclass(frozen=True, slots=True)
class Letter:
    """A notification that its receiver does not have yet: how often it was tried, and why the last attempt failed.

    `at_ms`: when the next attempt is due, or when it died; of the store's clock.
    """

    notification: Notification
    attempts: int
    failure: str
    at_ms: int


async def letters(store: FenceStore, state: LetterState, cursor: str | None) -> Page[Letter]:
    """Notifications of a state: first what died last, or whose next attempt is furthest away. Raises BadCursor."""

    async def read(shard: str, after: Position | None, count: int) -> list[Entry]:
        return await members(store, notifications(shard, state), after, count)

    async def look(entry: Entry) -> Letter | None:
        id, at_ms = entry.position.name.partition(" ")[0], entry.position.ms
        shard = shard_of_id(id)
        # A member that no gateway wrote, a notification that was received a moment ago, or one whose time is over.
        told = {} if shard is None else fields(await store.link.call("HGETALL", notification(shard, id)))
        return _letter(told | {"id": id.encode()}, at_ms) if told else None

    return await newest_page(store.link, read, look, cursor)


async def resend(store: FenceStore, id: str) -> Letter | None:
    """Have it sent now, and its attempts counted anew; None where it is gone: received, or its time is over."""
    shard = shard_of_id(id)
    if shard is None:
        return None
    answer = await store.run(RESEND, shard_keys(shard), id)
    return _letter(fields(answer.rest), answer.now_ms) if answer.word == "resent" else None


def _letter(told: dict[str, Reply], at_ms: int) -> Letter:
    return Letter(notification_of(told), number(told["attempts"]), text(told["failure"]), at_ms)
