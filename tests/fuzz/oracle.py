"""What an upstream behind the gateway may see of what a caller sent: judged here from the caller's bytes alone."""

import json
import re
from collections import Counter, deque
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from tests.fuzz.leases import Leases
from tests.fuzz.reader import Message

READS = (b"GET", b"HEAD", b"OPTIONS")
WRITES = (b"PUT", b"POST", b"PATCH", b"DELETE")
_PATH = re.compile(rb"/(?:[A-Za-z0-9._~!$&'()*+,=:@\[\]/-]|%[0-9A-Fa-f]{2})*")
# Wherever it stands in the value.
_LEASE_TOKEN = re.compile(rb"(?<![\w.-])(?:0|[1-9][0-9]{0,19})\.[0-9A-Za-z_-]{22,128}(?![\w-]|[.][\w-])")
_HOP_BY_HOP = frozenset(
    (
        *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization", b"te"),
        *(b"trailer", b"transfer-encoding", b"upgrade", b"http2-settings", b"host", b"content-length", b"expect"),
        *(b"fencegate-key", b"x-fencing-token"),
    )
)
_ONCE = (b"fencing-token", b"fencing-holder", b"fencing-sequence", b"idempotency-key", b"fencegate-key")
_OVERRIDES = frozenset((b"x-http-method-override", b"x-http-method", b"x-method-override"))
# A request that was accepted may be forwarded after its caller has left; so many conversations later it is not.
_REMEMBERED = 4_000


@dataclass(frozen=True)
class Seen:
    """A request as an upstream acts on it: what is between two hops only is left out."""

    method: bytes
    target: bytes
    fields: tuple[tuple[bytes, bytes], ...]
    body: bytes


@dataclass
class Oracle:
    """Counts every request that may be seen, once."""

    leases: Leases
    seen: int = 0
    writes: int = 0
    found: list[str] = field(default_factory=list)
    _allowed: Counter[Seen] = field(default_factory=Counter)
    _sent: deque[list[Seen]] = field(default_factory=deque)
    _intents: set[tuple[bytes, bytes, bytes]] = field(default_factory=set)
    _epochs: dict[bytes, int] = field(default_factory=dict)

    def sending(self, messages: list[Message]) -> None:
        """These are about to leave, as a strict reader finds them in the bytes."""
        allowed = [seen for message in messages if (seen := self._allow(message)) is not None]
        self._allowed.update(allowed)
        self._sent.append(allowed)
        if len(self._sent) > _REMEMBERED:
            for old in self._sent.popleft():
                if self._allowed[old] <= 1:
                    del self._allowed[old]
                else:
                    self._allowed[old] -= 1

    def saw(self, message: Message) -> None:
        """The upstream has this request whole, and acts on it."""
        self.seen += 1
        seen = _stripped(message, message.values(b"x-fencing-token"))
        if self._allowed[seen] <= 0:
            self.found.append(f"the upstream saw what nobody may send: {seen}")
            return
        self._allowed[seen] -= 1
        if message.method not in READS:
            self.writes += 1
            self._ordered(message)

    def _ordered(self, message: Message) -> None:
        (epoch,) = message.values(b"x-fencing-token")
        path = unquote_to_bytes(message.target.partition(b"?")[0])
        if int(epoch) < self._epochs.get(path, 0):
            self.found.append(f"epoch {epoch!r} was forwarded to {path!r} after {self._epochs[path]}")
        if path != b"/tasks":
            self._epochs[path] = int(epoch)
        for key in message.values(b"idempotency-key"):
            intent = (message.method, message.target, key.strip(b'"'))
            if path.startswith(b"/reports/") and intent in self._intents:
                self.found.append(f"an intent ran twice: {intent}")
            self._intents.add(intent)

    def _allow(self, message: Message) -> Seen | None:
        if not _has_one_reading(message):
            return None
        if message.method in READS:
            return _stripped(message, [])
        if message.method not in WRITES:
            return None
        token = b"".join(message.values(b"fencing-token"))
        path = unquote_to_bytes(message.target.partition(b"?")[0])
        if path.startswith(b"/jobs/"):
            return _stripped(message, [token]) if token.isdigit() and message.values(b"fencing-holder") else None
        resource = _task(message) if path == b"/tasks" else b"report/" + path.removeprefix(b"/reports/")
        if not path.startswith((b"/reports/", b"/tasks")) or self.leases.resource_of(token) != resource:
            return None
        return _stripped(message, [token.partition(b".")[0]])


def _has_one_reading(message: Message) -> bool:
    path = message.target.partition(b"?")[0]
    plain = unquote_to_bytes(path)
    if not _PATH.fullmatch(path) or b"//" in path:
        return False
    # An encoded slash cannot get around a fence that a read does not pass.
    if message.method not in READS and plain.count(b"/") != path.count(b"/"):
        return False
    if any(part in (b".", b"..") for part in plain.split(b"/")) or re.search(rb"[\x00-\x1f\x7f;\\]", plain):
        return False
    names = Counter(name.lower() for name, _ in message.fields)
    if any(names[name] > 1 for name in _ONCE):
        return False
    return not any(_plain(name) in _OVERRIDES for name in names)


def _plain(name: bytes) -> bytes:
    return re.sub(rb"[^a-z0-9]", b"-", name.lower())


def _stripped(message: Message, epoch: list[bytes]) -> Seen:
    named = {option.strip().lower() for value in message.values(b"connection") for option in value.split(b",")}
    dropped = _HOP_BY_HOP | {_plain(name) for name in named}
    kept = []
    for name, value in message.fields:
        plain = _plain(name)
        if plain == b"authorization" and _LEASE_TOKEN.search(value):
            continue
        if plain not in dropped and not plain.startswith(b"fencing-"):
            kept.append((name, value))
    return Seen(
        message.method, message.target, (*kept, *((b"X-Fencing-Token", value) for value in epoch)), message.body
    )


def _task(message: Message) -> bytes | None:
    """The resource that a task's body names for every reader of JSON alike."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len({name.casefold() for name, _ in pairs}) != len(pairs):
            raise ValueError
        return dict(pairs)

    def refused(_: str) -> object:
        raise ValueError

    try:
        body = json.loads(message.body.decode("utf-8"), object_pairs_hook=once, parse_constant=refused)
    except (ValueError, RecursionError):
        return None
    named = body.get("id") if isinstance(body, dict) else None
    return f"task/{named}".encode("utf-8", "replace") if isinstance(named, str) else None
