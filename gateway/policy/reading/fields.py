"""One reading of a request's header, or a refusal: never the first of two values."""

import re

from gateway.core.caller import parse_idempotency_key
from gateway.core.decision import AMBIGUOUS_TARGET, HEADER_MALFORMED, OF_ANYTHING, RESOURCE_UNRESOLVED, Refused
from gateway.core.hop_by_hop import nominated
from gateway.core.request import Headers

# RFC 2047. CherryPy undoes it in every header.
_ENCODED_WORD, _ENDS = re.compile(rb"=\?[^?]*\?[A-Za-z]\?"), b"?="


def read_header(headers: Headers, name: str) -> str | Refused | None:
    """The text of the header `name` (lower case), None without it.

    Refused: two of them, one that `Connection` takes away before the upstream sees it, text that is not UTF-8, and an
    encoded word of mail. A name with underscores or dots counts as the one with dashes, because CGI and its heirs read
    them as one.
    """
    key = name.encode("ascii")
    if key in headers.respelled():
        return _ambiguous(f"header {name} is there in two spellings")
    value = headers.first(key)
    if value is None:
        return None
    if key in headers.repeated():
        return _ambiguous(f"header {name} is there {len(headers.all(key))} times")
    if key in nominated(headers.all(b"connection")):
        return _ambiguous(f"Connection names header {name}, which would not reach the upstream")
    # Up to where the last one ends: to look for each one's end takes time with the square of the length.
    if _ENCODED_WORD.search(value, 0, max(0, value.rfind(_ENDS))):
        return _ambiguous(f"header {name} has an encoded word (`=?…?=`), which some servers undo")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return unreadable(f"header {name}")


def read_idempotency_key(headers: Headers) -> str | Refused | None:
    """The key in `Idempotency-Key`, None without that header. Its quoted and its bare form are one key.

    Refused: two of them, what is no key, and another spelling of the name, which the upstream may read as this header.
    It is the gateway's to read whatever `Connection` says: it need not reach the upstream.
    """
    value = headers.first(b"idempotency-key")
    if b"idempotency-key" in headers.respelled():
        return Refused(HEADER_MALFORMED, "Nothing was forwarded: spell Idempotency-Key with a dash, and send it once.")
    if value is None:
        return None
    if b"idempotency-key" in headers.repeated():
        times = len(headers.all(b"idempotency-key"))
        return Refused(HEADER_MALFORMED, f"Idempotency-Key was sent {times} times; send it once.")
    key = parse_idempotency_key(value)
    if key is None:
        detail = "Nothing was forwarded: Idempotency-Key must be 1 to 255 visible ASCII characters, bare or in quotes."
        return Refused(HEADER_MALFORMED, f"{detail} Send such a key, the same one with each retry.")
    return key


def _ambiguous(why: str) -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {why}. Send one value, once.", OF_ANYTHING)


def unreadable(what: str) -> Refused:
    return Refused(RESOURCE_UNRESOLVED, f"Nothing was forwarded: {what} is not UTF-8. Send it as UTF-8.")
