"""Rules whose events people are told of, receivers that check who told them, and what time does to notifications."""

import asyncio
import base64
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from standardwebhooks import Webhook

from gateway.core.notification import Due
from gateway.core.rule import Endpoint, NotifyEvent, Origin, Rule
from gateway.core.webhook import Again, Dead, Received
from gateway.core.write import Write
from gateway.store.fence import FenceStore
from gateway.store.keys import LetterState, notification, notifications, shards
from gateway.store.outbox import Outbox
from tests.recording import Seen
from tests.store.fences import HELD, bare, ended, keyed
from tests.until import until

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KEY = base64.b64decode(SECRET.removeprefix("whsec_"))
UPSTREAM = "reports"
_LONG_AGO_MS = 1000

EVENTS: tuple[NotifyEvent, ...] = ("awaiting_approval", "unknown", "incident")


def endpoint(port: int = 9, *events: NotifyEvent, target: str = "/hook") -> Endpoint:
    return Endpoint(Origin("http", "127.0.0.1", port), target, (KEY,), events or EVENTS)


def telling(of: Rule = HELD, *events: NotifyEvent) -> Rule:
    """The rule, with these events told; all of them where none is named."""
    return replace(of, upstream=replace(of.upstream, notify=endpoint(9, *events)))


TOLD = telling()
WRITE: Write = keyed(bare(42, of=TOLD))


async def unknown(store: FenceStore, write: Write = WRITE) -> str:
    """A write that ended unknown; returns its intent's id."""
    return (await ended(store, write, "unknown", reason="no answer within 30 s")).intent


def outbox_of(raw: Any, state: LetterState = "waiting") -> list[str]:
    """The ids of the notifications in a state, the next or oldest first."""
    asked = raw.pipeline(transaction=False)
    for shard in shards():
        asked.zrange(notifications(shard, state), 0, -1)
    return [member.decode().partition(" ")[0] for members in asked.execute() for member in members]


def fields_of(raw: Any, id: str) -> dict[str, str]:
    found = raw.hgetall(notification(id[:3], id))
    return {name.decode(): value.decode() for name, value in found.items()}


def make_due(raw: Any, *ids: str) -> None:
    """The next attempt's time has come; or a claim has run out."""
    for id in ids:
        raw.zadd(notifications(id[:3], "waiting"), {f"{id} {UPSTREAM}": _LONG_AGO_MS}, xx=True)


async def due_of(outbox: Outbox) -> list[Due]:
    """What is due, as soon as something is: what a gateway expects of the store's clock may be some ms behind it."""
    found: list[Due] = []

    async def is_due() -> bool:
        found[:] = await outbox.due({UPSTREAM})
        return bool(found)

    await until(is_due)
    return found


async def attempted(store: FenceStore, outcome: Received | Again | Dead) -> str:
    """An attempt at the one notification there is that ends like this; returns its id."""
    outbox = Outbox(store)
    (due,) = await due_of(outbox)
    claimed = await outbox.claim(due)
    assert claimed is not None
    await outbox.report(claimed, outcome)
    return due.id


@dataclass
class Receiver:
    """Answers of a RecordingUpstream: each of these statuses once, the last one from then on.

    `hold`: no answer while it is not set. What comes under a wrong signature fails the test.
    """

    statuses: list[str]
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    told: list[dict[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hold.set()

    async def answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        headers = {name: seen.values(name)[0] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
        self.told.append(Webhook(SECRET).verify(seen.body, headers))
        self.ids.append(headers["webhook-id"])
        await self.hold.wait()
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok".encode())


def types(told: Iterable[dict[str, Any]]) -> list[str]:
    return [one["type"] for one in told]


def intents_told(told: Iterable[dict[str, Any]]) -> list[str]:
    return [one["data"]["intent"] for one in told]
