"""A request as it is kept: for a person to look at, or to be sent later. What its caller proved is not kept with it."""

from dataclasses import dataclass, field

from gateway.core.caller import is_control_header
from gateway.core.hop_by_hop import HOP_BY_HOP, nominated, plain_name
from gateway.core.request import HeaderPairs, Request
from gateway.core.rule import Upstream

# A field whose name has one of these words is what somebody shows to be let in, whatever API it belongs to.
_TELLING_WORDS = frozenset(
    (
        b"apikey",
        b"auth",
        b"authentication",
        b"authorization",
        b"cookie",
        b"cookie2",
        b"credential",
        b"credentials",
        b"dpop",
        b"jwt",
        b"key",
        b"passphrase",
        b"passwd",
        b"password",
        b"secret",
        b"signature",
        b"token",
    )
)
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
    """
    own = {plain_name(name) for name, _ in upstream.credentials}
    dropped = _OF_ONE_EXCHANGE | own | nominated(request.headers.all(b"connection"))
    kept = tuple(pair for pair in request.headers.pairs if _is_kept(plain_name(pair[0]), dropped))
    return KeptRequest(request.method, request.target.raw, kept, body)


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


def _is_kept(name: bytes, dropped: frozenset[bytes]) -> bool:
    if name in dropped or is_control_header(name):
        return False
    words = name.split(b"-")
    return _NAMES_AN_ACTION in words or _TELLING_WORDS.isdisjoint(words)
