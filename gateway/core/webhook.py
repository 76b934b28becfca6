"""Webhooks: a notification as it is sent and signed, and what follows from an attempt to send it.

The form is that of Standard Webhooks 1.0.0 (standardwebhooks.com), and so is the schedule.
"""

import base64
import hashlib
import hmac
import json
import zlib
from dataclasses import dataclass

from gateway.core.notification import Notification
from gateway.core.problem import instant
from gateway.core.request import HeaderPairs

# Seconds from the end of a failed attempt to the next: of the specification, "Deliverability and reliability". With the
# first attempt ten, in some three days.
_DELAYS_S = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
# Of a delay, added by chance as the specification wants it: what failed together must not come together again.
_JITTER = 0.1
_GONE = 410


@dataclass(frozen=True, slots=True)
class Message:
    """A notification as it is sent: the same bytes are signed."""

    headers: HeaderPairs
    body: bytes


@dataclass(frozen=True, slots=True)
class Answered:
    """The receiver's answer: its status, and its `Retry-After` in seconds where it has one."""

    status: int
    retry_after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Unanswered:
    """No answer came, or none that is HTTP."""

    why: str


@dataclass(frozen=True, slots=True)
class Received:
    """The receiver has it."""


@dataclass(frozen=True, slots=True)
class Again:
    """It is tried again so many seconds from now."""

    after_s: float
    why: str


@dataclass(frozen=True, slots=True)
class Dead:
    """It is tried no more. `stops`: nor is any other at this endpoint, until the policies are read again."""

    why: str
    stops: bool = False


def message(notification: Notification, secrets: tuple[bytes, ...], now_s: int, link: str | None) -> Message:
    """`now_s`: the attempt's time, in seconds since 1970. `link`: where operators reach the admin listener; or None."""
    body = _body(notification, link)
    fields = (
        (b"Content-Type", b"application/json"),
        (b"User-Agent", b"fencegate"),
        (b"webhook-id", notification.id.encode("ascii")),
        (b"webhook-timestamp", b"%d" % now_s),
        (b"webhook-signature", sign(secrets, notification.id, now_s, body)),
    )
    return Message(fields, body)


def sign(secrets: tuple[bytes, ...], id: str, now_s: int, body: bytes) -> bytes:
    """A signature by each secret: while one is replaced by the other, receivers may know either."""
    content = f"{id}.{now_s}.".encode("ascii") + body
    digests = (hmac.digest(secret, content, hashlib.sha256) for secret in secrets)
    return b" ".join(b"v1," + base64.b64encode(digest) for digest in digests)


def judge(id: str, attempt: int, answer: Answered | Unanswered) -> Received | Again | Dead:
    """What follows the attempt of this number, from 1. Only a 2xx says that the receiver has it."""
    if isinstance(answer, Answered) and 200 <= answer.status < 300:
        return Received()
    why = f"it answered {answer.status}" if isinstance(answer, Answered) else answer.why
    if isinstance(answer, Answered) and answer.status == _GONE:
        return Dead(f"{why}: it wants no notifications", stops=True)
    if attempt > len(_DELAYS_S):
        return Dead(f"{why}, at the last of {attempt} attempts")
    delay_s = _DELAYS_S[attempt - 1] * (1 + _JITTER * _chance(id, attempt))
    asked_s = answer.retry_after_s if isinstance(answer, Answered) else 0.0
    return Again(max(delay_s, min(asked_s, _DELAYS_S[-1])), why)


def _chance(id: str, attempt: int) -> float:
    """From 0 to 1, as good as chance among many ids, and the same whoever asks."""
    return zlib.crc32(f"{id} {attempt}".encode()) / 0xFFFFFFFF


def _body(notification: Notification, link: str | None) -> bytes:
    data: dict[str, object] = {
        "intent": notification.intent,
        "state": notification.state,
        "upstream": notification.upstream,
        "rule": notification.rule,
        "resource": notification.resource,
        "epoch": str(notification.epoch),
        "holder": notification.holder or None,
        "reason": notification.reason,
    }
    if notification.digest:
        data["digest"] = notification.digest
    if link is not None:
        data["url"] = f"{link}/#/intents/{notification.intent}"
    told = {"type": notification.type, "timestamp": instant(notification.at_ms), "data": data}
    return json.dumps(told, separators=(",", ":")).encode("ascii")
