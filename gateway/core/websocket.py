"""RFC 6455 as far as a gateway needs it: the form of a handshake, the proof of its answer, where frames end.

Frames are passed on as they come. Only the one that ends a session is made here.
"""

import base64
import hashlib
import re
from typing import Literal

from gateway.core.request import Headers

# Section 5.5: a control frame's payload; the code takes two bytes of it.
_REASON_LENGTH = 123
_CLOSE = 0x88
# Section 1.3: what a server adds to the key before it digests it.
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
# Sixteen bytes in base64: the last character before the padding has four bits of nothing.
_KEY = re.compile(rb"[A-Za-z0-9+/]{21}[AQgw]==")

# Section 7.4.1, and 1013 of IANA's registry.
CloseCode = Literal[1001, 1008, 1013]
GOING_AWAY: CloseCode = 1001
POLICY_VIOLATION: CloseCode = 1008
TRY_AGAIN_LATER: CloseCode = 1013


def asks_for_upgrade(headers: Headers) -> bool:
    """Whether the request wants another protocol, whichever; not if it only offers HTTP/2."""
    return headers.first(b"upgrade") is not None and not offers_http2(headers)


def offers_http2(headers: Headers) -> bool:
    """Whether a client would go on in HTTP/2, as Java's and `curl --http2` offer (RFC 7540, 3.2). It is answered
    in HTTP/1.1, and the offer goes no further (RFC 9110, section 7.8)."""
    if [value.strip().lower() for value in headers.all(b"upgrade")] != [b"h2c"]:
        return False
    return len(headers.all(b"http2-settings")) == 1 and _options(headers) >= {b"upgrade", b"http2-settings"}


def handshake_fault(method: str, headers: Headers) -> str | None:
    """What keeps a request with `Upgrade` from being the handshake of section 4.1; None if it is one.

    Stricter than the RFC in one thing: a field that tells something may stand there once, since two readers could take
    two of them for one or the other.
    """
    if [value.strip().lower() for value in headers.all(b"upgrade")] != [b"websocket"]:
        return "no protocol is switched to here but WebSocket: send it without Upgrade"
    if method != "GET":
        return "a WebSocket handshake is a GET"
    if b"upgrade" not in _options(headers):
        return "Connection does not name Upgrade, as a WebSocket handshake must"
    if headers.all(b"sec-websocket-version") != [b"13"]:
        return "Sec-WebSocket-Version must be 13, once"
    keys = headers.all(b"sec-websocket-key")
    if len(keys) != 1 or not _KEY.fullmatch(keys[0]):
        return "Sec-WebSocket-Key must be 16 bytes in base64, once"
    return None


def switch_fault(asked: Headers, answered: Headers) -> str | None:
    """What keeps a 101 from being the answer to this handshake (section 4.1); None if it is.

    Subprotocol and extensions are between the two ends.
    """
    if [value.strip().lower() for value in answered.all(b"upgrade")] != [b"websocket"]:
        return "its 101 does not switch to WebSocket"
    if b"upgrade" not in _options(answered):
        return "its 101 has no `Connection: Upgrade`"
    if answered.all(b"sec-websocket-accept") != [accept_of(asked.first(b"sec-websocket-key") or b"")]:
        return "the Sec-WebSocket-Accept of its 101 is not this handshake's"
    return None


def accept_of(key: bytes) -> bytes:
    """The value of `Sec-WebSocket-Accept` that proves that the handshake with this key was read (section 4.2.2)."""
    # SHA-1 is the RFC's; nothing is protected by it.
    return base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest())


def close_frame(code: CloseCode, reason: str) -> bytes:
    """A server's close frame (section 5.5.1)."""
    payload = code.to_bytes(2, "big") + reason.encode("ascii")[:_REASON_LENGTH]
    return bytes((_CLOSE, len(payload))) + payload


class Frames:
    """Where the frames of one direction end (section 5.2). Nothing else of them is looked at."""

    __slots__ = ("_head", "_left")

    def __init__(self) -> None:
        self._head = b""
        self._left = 0

    @property
    def at_end(self) -> bool:
        """Whether what was fed ends with a whole frame, so that another one may follow."""
        return not self._head and not self._left

    def feed(self, data: bytes) -> None:
        at, end = 0, len(data)
        while at < end:
            if self._left:
                step = min(self._left, end - at)
                self._left -= step
                at += step
                continue
            missing = _head_size(self._head) - len(self._head)
            self._head += data[at : at + missing]
            at += missing
            if len(self._head) == _head_size(self._head):
                self._left = _payload_size(self._head)
                self._head = b""


def _head_size(head: bytes) -> int:
    """The bytes of a frame's head, as far as its beginning tells."""
    if len(head) < 2:
        return 2
    length = head[1] & 0x7F
    return 2 + {126: 2, 127: 8}.get(length, 0) + (4 if head[1] & 0x80 else 0)


def _payload_size(head: bytes) -> int:
    length = head[1] & 0x7F
    if length < 126:
        return length
    return int.from_bytes(head[2:4] if length == 126 else head[2:10], "big")


def _options(headers: Headers) -> frozenset[bytes]:
    """What `Connection` names, in lower case."""
    return frozenset(option.strip().lower() for line in headers.all(b"connection") for option in line.split(b","))
