"""What an upstream may see of one request, by its caller's bytes alone."""

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from tests.fuzz.claims import epoch_of
from tests.fuzz.closed import IDLE, board_of, card_of
from tests.fuzz.leases import Leases
from tests.fuzz.named import by_field, form_of, note_of, task_of
from tests.fuzz.reader import Message

READS = (b"GET", b"HEAD", b"OPTIONS")
WRITES = (b"PUT", b"POST", b"PATCH", b"DELETE")
_MCP = (b"/mcp", b"/mcp/")
_PATH = re.compile(rb"/(?:[A-Za-z0-9._~!$&'()*+,=:@\[\]/-]|%[0-9A-Fa-f]{2})*")
# Wherever it stands in the value.
_LEASE_TOKEN = re.compile(rb"(?<![\w.-])(?:0|[1-9][0-9]{0,19})\.[0-9A-Za-z_-]{22,128}(?![\w-]|[.][\w-])")
_BEARER = re.compile(rb"(?i:bearer) +([^ ]+)")
_HOP_BY_HOP = frozenset(
    (
        *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization", b"te"),
        *(b"trailer", b"transfer-encoding", b"upgrade", b"http2-settings", b"host", b"content-length", b"expect"),
        *(b"fencegate-key", b"x-fencing-token", b"forwarded", b"x-real-ip"),
    )
)
# A field whose name has one of these shows the API who asks, a misspelled `Fe1ncing-Token` too.
_CREDENTIALS = frozenset((b"authorization", b"cookie", b"key", b"token"))
_ONCE = (b"fencing-token", b"fencing-holder", b"fencing-sequence", b"idempotency-key", b"fencegate-key")
_OVERRIDES = frozenset((b"x-http-method-override", b"x-http-method", b"x-method-override", b"x-original-url"))
_SHORTEST_SECRET = 22
_ID = re.compile(rb'^(\{"jsonrpc":"2.0","id":)(?:[0-9]+|"fencegate-[^"]*")')


@dataclass(frozen=True)
class Seen:
    """A request as an upstream acts on it: what is between two hops only is left out."""

    method: bytes
    target: bytes
    fields: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @property
    def number(self) -> bytes | None:
        """By which its answer is told from others'."""
        return next((value for name, value in self.fields if name.lower() == b"x-n"), None)


def allow(message: Message, leases: Leases) -> Seen | None:
    """The request as it may be seen; None where it may not."""
    if not _has_one_reading(message) or _shows_token(message):
        return None
    if message.method in READS:
        return stripped(message, [])
    if message.method not in WRITES:
        return None
    path = unquote_to_bytes(message.target.partition(b"?")[0])
    token = b"".join(message.values(b"fencing-token"))
    if path.startswith(b"/jobs/"):
        return stripped(message, [token]) if token.isdigit() and message.values(b"fencing-holder") else None
    if path.startswith(b"/claims/"):
        epoch = epoch_of(token, path[1:].replace(b"claims/", b"claim/", 1)) if message.method == b"PUT" else None
        return None if epoch is None else stripped(message, [epoch])
    if (path in _MCP and _is_harmless(message)) or _closed(message, path) == b"":
        return stripped(message, [])
    if path.startswith(b"/keys/") and not message.values(b"fencing-token"):
        token = _borne(message)
    if leases.resource_of(token) != (_resource(message, path) or b"none"):
        return None
    return stripped(message, [token.partition(b".")[0]])


def stripped(message: Message, epoch: list[bytes]) -> Seen:
    """As it is forwarded under an epoch."""
    named = {option.strip().lower() for value in message.values(b"connection") for option in value.split(b",")}
    dropped = _HOP_BY_HOP | {_plain(name) for name in named}
    if message.target.startswith(b"/mcp") or message.method in WRITES:
        # A call's answer has to be read here, and an intent's is kept for others: no coding of it is asked for. Nor is
        # its key shown; in what the upstream has, nothing tells an intent from another write.
        dropped |= {b"accept-encoding", b"idempotency-key", b"x-idempotency-key"}
    if message.target.startswith(b"/boards") and message.method in WRITES:
        # And of a write `Accept` may be another one.
        dropped |= IDLE | ({b"accept", b"referer"} if epoch else frozenset())
    if epoch:
        dropped |= {b"range", b"if-range", b"grpc-timeout", b"connect-timeout-ms", b"nuxeo-async"}
    kept = []
    for name, value in message.fields:
        plain = _plain(name)
        if _is_credential(plain) and _is_token(plain, value, message):
            continue
        if plain not in dropped and not plain.startswith((b"fencing-", b"x-forwarded")):
            kept.append((name, value))
    added = ((b"X-Fencing-Token", value) for value in epoch)
    # The write's own id, which nobody else knows, takes the place of its caller's.
    is_call = bool(epoch) and unquote_to_bytes(message.target.partition(b"?")[0]) in _MCP
    body = _ID.sub(rb"\1?", message.body, count=1) if is_call else message.body
    return Seen(message.method, message.target, (*kept, *added), body)


def _resource(message: Message, path: bytes) -> bytes | None:
    kind, _, rest = path[1:].partition(b"/")
    named: bytes | None = rest
    match kind:
        case b"tasks" if path == b"/tasks":
            named = task_of(message)
        case b"forms" if path == b"/forms" and message.method == b"POST":
            named = form_of(message)
        case b"forms" if path == b"/forms" and message.method == b"PUT":
            named = by_field(message.target.partition(b"?")[2])
        case b"mcp" if path in _MCP and message.method == b"POST":
            kind, named = b"notes", note_of(message)
        case b"boards" | b"cards":
            named = _closed(message, path)
        case b"keys" if message.method != b"PUT":
            return None
        case b"reports" | b"keys":
            pass
        case _:
            return None
    return kind[:-1] + b"/" + named if named else None


def _closed(message: Message, path: bytes) -> bytes | None:
    """What is written where the policy is closed; empty for a read of it."""
    if path.startswith(b"/boards"):
        return board_of(message, path, stripped(message, []).fields)
    return card_of(message, path) if path.startswith(b"/cards") else None


def _is_harmless(message: Message) -> bool:
    if message.method == b"DELETE":
        return bool(message.values(b"mcp-session-id"))
    return message.method == b"POST" and note_of(message) == b""


def _borne(message: Message) -> bytes:
    values = message.values(b"authorization")
    found = _BEARER.fullmatch(values[0]) if len(values) == 1 else None
    return b"" if found is None else found[1]


def _is_credential(name: bytes) -> bool:
    words = name.split(b"-")
    return b"idempotency" not in words and not _CREDENTIALS.isdisjoint(words)


def _is_token(name: bytes, value: bytes, message: Message) -> bool:
    presented = b"".join(message.values(b"fencing-token")).partition(b".")[2]
    if len(presented) >= _SHORTEST_SECRET and presented in value:
        return True
    if name != b"authorization":
        return False
    found = _BEARER.fullmatch(value) if message.target.startswith(b"/keys") else None
    return (
        _LEASE_TOKEN.search(value) is not None
        or _LEASE_TOKEN.search(unquote_to_bytes(value)) is not None
        or (found is not None and found[1].isdigit())
    )


def _shows_token(message: Message) -> bool:
    presented = b"".join(message.values(b"fencing-token"))
    return len(presented) > _SHORTEST_SECRET and presented in message.target


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
