"""Notifications: events that people are told of, by a webhook of the upstream's."""

from dataclasses import dataclass

from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.rule import NotifyEvent
from gateway.core.write import ResourceKey


@dataclass(frozen=True, slots=True)
class Due:
    """A notification whose next attempt is due; `at_ms` says since when, by the store's clock."""

    id: str
    upstream: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Notification:
    """An event that people are told of. `id` stays the same whenever it is sent; `at_ms` is of the store's clock.

    `state` is the intent's; `incident` the kind of one, empty for any other event. `reason` says why it came to that.
    `digest` names the request that was parked, empty where none was.
    """

    id: str
    event: NotifyEvent
    incident: str
    at_ms: int
    intent: IntentId
    state: str
    upstream: str
    rule: str
    resource: ResourceKey
    epoch: Epoch
    holder: str
    reason: str
    digest: str = ""

    @property
    def type(self) -> str:
        """`intent.unknown`, `incident.late_write`: the specification's form of a name."""
        if self.event == "incident":
            return f"incident.{self.incident.replace('-', '_')}"
        return f"intent.{self.event}"


@dataclass(frozen=True, slots=True)
class Claimed:
    """The right to make one attempt, counted from 1. `now_ms` is the store's clock. Only the store makes one."""

    notification: Notification
    attempt: int
    now_ms: int
