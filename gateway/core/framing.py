"""What makes a request's head unsafe to pass on although a parser lets it through."""

import re

from gateway.core.field_name import plain_name
from gateway.core.host import is_host
from gateway.core.request import Headers
from gateway.core.websocket import asks_for_upgrade, handshake_fault

# Nineteen digits stay below 2^63: more is no length but an attempt to make a counter overflow somewhere.
_LENGTH = re.compile(rb"[0-9]{1,19}")

# RFC 9110, section 9.3.1: a body has no defined meaning there, and may be taken for an attempt at request smuggling.
_BODILESS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))


# Fields that say what a request is. RFC 9110, section 7.6.1, forbids to name in Connection what is for all recipients.
_TELLING = (b"content-", b"host", b"if-", b"mcp-")


def _taken_away(headers: Headers) -> str | None:
    """A field that the request's own Connection line would take from between its judge and its reader."""
    for line in headers.all(b"connection"):
        for option in line.split(b","):
            name = plain_name(option.strip())
            if name.startswith(_TELLING):
                return name.decode("latin-1").title()
    return None


def head_fault(method: str, headers: Headers, *, is_http_10: bool = False) -> str | None:
    """What is wrong with the head, or None. Such a request is refused, and its connection closed behind it."""
    if method == "CONNECT":
        return "this is no tunnel, and takes no CONNECT"
    if method == "TRACE":
        # RFC 9110, section 9.3.8: the answer is the request as it arrived.
        return "the answer to TRACE would show the credentials that the gateway adds"
    if asks_for_upgrade(headers):
        # RFC 9110, section 7.8, lets a server ignore it, as an offer of HTTP/2 is here. But behind it are writes no
        # rule would see, and a parser on the way may take what follows for another protocol's. A rule may take a
        # WebSocket's handshake.
        fault = handshake_fault(method, headers)
        if fault is not None or is_http_10:
            return fault or "a WebSocket handshake is HTTP/1.1"
    taken = _taken_away(headers)
    if taken is not None:
        return f"Connection names {taken}, by which the request is judged, and which would not reach the upstream"
    codings = headers.all(b"transfer-encoding")
    # RFC 9112, section 6.1: an HTTP/1.0 message with a transfer coding has faulty framing.
    if codings and is_http_10:
        return "HTTP/1.0 knows no Transfer-Encoding"
    # A coding below `chunked` would be lost on the way: the framing is made anew for the upstream.
    if codings and [coding.strip().lower() for coding in codings] != [b"chunked"]:
        return "the only transfer coding taken is chunked"
    lengths = headers.all(b"content-length")
    if len(lengths) + len(codings) > 1:
        return "the body's length is told twice"
    announced = bool(codings)
    for length in lengths:
        if not _LENGTH.fullmatch(length):
            return "Content-Length is not a length"
        announced = announced or length.strip(b"0") != b""
    if announced and method in _BODILESS:
        return f"{method} has no body here: an upstream that does not read it takes it for another request"
    hosts = headers.all(b"host")
    if len(hosts) > 1:
        return "Host was sent twice"
    for host in hosts:
        if not is_host(host):
            return "Host is neither a name nor an IP address, with a port or without"
    return None
