"""A request as it is kept: for a person to look at, or to be sent later. What its caller proved is not kept with it."""

from dataclasses import dataclass, field

from gateway.core.caller import is_control_header
from gateway.core.field_name import plain_name
from gateway.core.hop_by_hop import HOP_BY_HOP, nominated
from gateway.core.request import HeaderPairs, Request
from gateway.core.rule import Upstream
from gateway.core.trace_context import without_trace

# A field whose name has one of these words is what somebody shows to be let in, whatever API it belongs to.
_TELLING_WORDS = frozenset(
    (
        b"apikey",
        b"auth",
        b"authentication",
        b"authorization",
        b"bearer",
        b"cookie",
        b"cookie2",
        b"credential",
        b"credentials",
        b"csrf",
        b"dpop",
        b"jwt",
        b"key",
        b"otp",
        b"pass",
        b"passphrase",
        b"passwd",
        b"password",
        b"secret",
        b"session",
        b"sid",
        b"sig",
        b"signature",
        b"token",
        b"totp",
        b"xsrf",
    )
)
# Words run together, as in `X-AccessToken`. Only what begins or ends no ordinary word: `author`, `keyword`, `tokens`.
_TELLING_BEGINNINGS = (b"accesskey", b"accesstoken", b"apikey", b"authtoken", b"bearer", b"csrf", b"passw", b"xsrf")
_TELLING_ENDS = (
    b"accesskey",
    b"apikey",
    b"appkey",
    b"authkey",
    b"authorization",
    b"clientkey",
    b"cookie",
    b"credential",
    b"credentials",
    b"jwt",
    b"oauth",
    b"passphrase",
    b"passwd",
    b"password",
    b"privatekey",
    b"secret",
    b"secretkey",
    b"sessid",
    b"sessionid",
    b"sessionkey",
    b"signature",
    b"signingkey",
    b"token",
    b"userkey",
    b"usersig",
)
# MCP, transports: "servers MUST NOT use sessions for authentication", and without it a call belongs to no session.
_OPENS_NOTHING = frozenset((b"mcp-session-id",))
# The one kind of key that opens nothing: it names an action.
_NAMES_AN_ACTION = b"idempotency"
# The first says nothing of a request that lies still, the second is counted anew.
_OF_ONE_EXCHANGE = HOP_BY_HOP | {b"expect", b"content-length"}

# Before everything else, so that a later version can tell one form from another.
_VERSION = b"1"
_WHOLE, _HEAD_ONLY = b"whole", b"head"
_HEAD_ENDS = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """A request as it came: target and body byte for byte, fields in their order.

    `body` is None where only the head was kept: it was too large, or its caller left before it was whole.
    """

    method: str
    target: str
    headers: HeaderPairs
    body: bytes | None = field(repr=False)

    def pack(self) -> bytes:
        """One string of bytes: how much of it there is, the request line, the fields, an empty line, the body."""
        extent = _HEAD_ONLY if self.body is None else _WHOLE
        line = f"{self.method} {self.target}".encode("utf-8", "surrogateescape")
        fields = (name + b": " + value for name, value in self.headers)
        return b"\r\n".join((_VERSION + b" " + extent, line, *fields)) + _HEAD_ENDS + (self.body or b"")


def keep_request(request: Request, body: bytes | None, upstream: Upstream) -> KeptRequest:
    """The request without what proves who sent it, and without what belonged to its connection.

    Fields that `upstream` is sent by the gateway itself are not kept either: they are the agent's own credentials.
    Where it is traced, the fields of its trace are those that the upstream would be told.
    """
    dropped = _dropped(upstream) | nominated(request.headers.all(b"connection"))
    kept = tuple(pair for pair in request.headers.pairs if _is_kept(plain_name(pair[0]), dropped))
    if request.trace is not None:
        kept = without_trace(kept) + request.trace.passed.fields
    return KeptRequest(request.method, request.target.raw, kept, body)


def is_kept(name: bytes, upstream: Upstream) -> bool:
    """Whether a field of this name is kept, unless a `Connection` line names it."""
    return _is_kept(plain_name(name), _dropped(upstream))


def unpack_request(packed: bytes) -> KeptRequest:
    """The inverse of `KeptRequest.pack`. Raises ValueError for the form of another version."""
    head, _, body = packed.partition(_HEAD_ENDS)
    first, line, *fields = head.split(b"\r\n")
    version, _, extent = first.partition(b" ")
    if version != _VERSION:
        raise ValueError("the request was kept by another version of the gateway")
    method, _, target = line.decode("utf-8", "surrogateescape").partition(" ")
    pairs = (field.partition(b": ") for field in fields)
    headers = tuple((name, value) for name, _, value in pairs)
    return KeptRequest(method, target, headers, body if extent == _WHOLE else None)


def _dropped(upstream: Upstream) -> frozenset[bytes]:
    return _OF_ONE_EXCHANGE | {plain_name(name) for name, _ in upstream.credentials}


def _is_kept(name: bytes, dropped: frozenset[bytes]) -> bool:
    return not (name in dropped or is_control_header(name) or is_credential(name))


def is_credential(name: bytes) -> bool:
    """Whether a field (as `plain_name` spells it) is by its name what somebody shows to be let in."""
    words = name.split(b"-")
    return _NAMES_AN_ACTION not in words and name not in _OPENS_NOTHING and any(map(_is_telling, words))


def _is_telling(word: bytes) -> bool:
    return word in _TELLING_WORDS or word.startswith(_TELLING_BEGINNINGS) or word.endswith(_TELLING_ENDS)
