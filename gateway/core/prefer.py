"""`Prefer` (RFC 7240): how long a caller would rather wait than be told that its write was taken. And what fields like
it ask for that a fenced write cannot have.
"""

import re

from gateway.core.request import Headers

# Below the minute after which proxies on the way give a silent connection up.
LONGEST_WAIT_S = 55
# An API that acts after it has answered would do so beside the writes of a newer epoch, which the answer lets in.
_LATER = b"respond-async"
# Fields that ask for the same in other words: ArangoDB makes a job of it, AWS Lambda an event.
_ARANGO, _AMAZON = b"x-arango-async", b"x-amz-invocation-type"
# A part of the answer. They are defined for GET alone (RFC 9110, section 14.2); servers of files that look at them
# whatever the method refuse what they cannot read or meet (400, 416), and a handler that has acted answers with that.
_RANGES = frozenset((b"range", b"if-range"))
# An answer before the work is done, or after a time that the agent sets: a gateway of gRPC or Connect gives up then,
# while what it asked goes on; graphql-sse answers on another stream, Nuxeo with a place to look.
_ELSEWHERE = frozenset((b"grpc-timeout", b"connect-timeout-ms", b"x-graphql-event-stream-token", b"nuxeo-async"))
_NEVER = _RANGES | _ELSEWHERE | {_ARANGO}
ASKING = frozenset((b"prefer", _AMAZON)) | _NEVER
_WAIT = re.compile(rb'\s*wait\s*=\s*"?([0-9]{1,9})"?\s*(?:;.*)?', re.IGNORECASE)


def preferred_wait_s(headers: Headers) -> int | None:
    """Whole seconds, at most 55; None where nothing is preferred. A preference that cannot be read is none.

    Where it stands twice, the first counts (section 2).
    """
    for value in headers.all(b"prefer"):
        for preference in value.split(b","):
            wait = _WAIT.fullmatch(preference)
            if wait is not None:
                return min(int(wait[1]), LONGEST_WAIT_S)
    return None


def asks_for_later(value: bytes) -> bool:
    """Whether it says anywhere that the answer may come before the work (section 4.1)."""
    return _LATER in value.lower()


def without_asking(plain: bytes, value: bytes) -> bytes | None:
    """What is left of one of `ASKING` beside a fenced write; None: nothing."""
    if plain == b"prefer":
        return without_later(value)
    # Lambda's `DryRun` acts neither now nor later.
    return None if plain in _NEVER or value.strip().lower() == b"event" else value


def without_later(value: bytes) -> bytes | None:
    """What is left of a value without `respond-async`; None: nothing. Whoever is asked may ignore any preference.

    Where something is quoted, readers differ in where a preference ends: all of it goes.
    """
    if not asks_for_later(value):
        return value
    if b'"' in value:
        return None
    kept = [one.strip() for one in value.split(b",") if one.strip() and not asks_for_later(one)]
    return b", ".join(kept) or None
