"""Undo a body's content coding so that a rule can read it; never more of it than may be held."""

import zlib

from gateway.core.decision import BODY_TOO_LARGE, UNSUPPORTED_CODING, Refused
from gateway.core.rule import Rule

# Window bits of zlib: 16 + 15 reads gzip (RFC 1952), 15 reads zlib, which HTTP calls deflate (RFC 9110, 8.4.1.2).
_WINDOW = {b"gzip": 31, b"x-gzip": 31, b"deflate": 15}


def decoded(body: bytes, codings: list[bytes], limit: int) -> bytes | Refused:
    """The body without its coding. Several codings, unknown and broken ones are a 415; over the limit, a 413."""
    names = named_codings(codings)
    if not names:
        return body
    if len(names) > 1 or names[0] not in _WINDOW:
        shown = b", ".join(names).decode("latin-1")
        return Refused(UNSUPPORTED_CODING, f"Not forwarded: a rule has to read this body and cannot decode {shown!r}.")
    inflate = zlib.decompressobj(_WINDOW[names[0]])
    try:
        plain = inflate.decompress(body, limit + 1)
    except zlib.error:
        return Refused(UNSUPPORTED_CODING, "Not forwarded: the body's coding is broken.")
    if len(plain) > limit:
        return body_too_large(limit)
    if not inflate.eof or inflate.unused_data:
        return Refused(UNSUPPORTED_CODING, "Not forwarded: the body's coding ends too early, or bytes follow it.")
    return plain


def named_codings(codings: list[bytes]) -> list[bytes]:
    """The codings that these `Content-Encoding` fields name, in lower case; `identity` is none (RFC 9110, 8.4)."""
    names = [name.strip().lower() for line in codings for name in line.split(b",")]
    return [name for name in names if name not in (b"", b"identity")]


def body_limit(rule: Rule) -> int | None:
    """How many bytes a write's body may have: what is sent later has to be kept whole, anything else only flows."""
    limits = rule.upstream.limits
    return limits.stream if rule.parks is None else limits.body


def over_stream_limit(rule: Rule) -> Refused:
    """The refusal of a body that is larger than what the rule's upstream may be sent."""
    limit = body_limit(rule)
    assert limit is not None
    return body_too_large(limit)


def body_too_large(limit: int) -> Refused:
    return Refused(BODY_TOO_LARGE, f"Not forwarded: the body is larger than {limit} bytes, the limit here.")
