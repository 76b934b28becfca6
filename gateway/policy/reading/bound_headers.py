"""What a header says of a name that a rule looks for in the query or a form, and does not find there.

Spring from 6.2 on fills objects from headers, too, where neither query nor form has a value: `Is-Purge: true` is
`?isPurge=true`.
"""

from functools import lru_cache

from gateway.core.decision import AMBIGUOUS_TARGET, OF_NAMES, Refused
from gateway.core.field_name import plain_name
from gateway.core.forwarded import CLAIMS, CLAIMS_PREFIXES
from gateway.core.kept_request import is_credential
from gateway.core.request import Headers
from gateway.policy.reading.lenient_name import folded, readings
from gateway.policy.reading.ordinary_headers import is_idle, is_needed

# With a rule that looks for `priority` in a query, each request of a browser would be in doubt, as it sends a header of
# this name unasked. Claims are dropped, or a trusted proxy's.
_ORDINARY = CLAIMS | {b"prefer", b"range"}
# Only older clients send it, and it is a usual name of a field.
_A_FIELD_TOO = b"request-id"
_ORDINARY_BEGINNINGS = (b"fencegate-", b"fencing-", b"sec-", *CLAIMS_PREFIXES)


def header_named(headers: Headers, name: str) -> Refused | None:
    """The refusal of a request with a header that some reader takes for `name`. None of credentials: where a policy
    closes `?api_key=`, the header is how the key is sent."""
    wanted = folded(name)
    for header in headers.names():
        if wanted in _readings(header):
            return _beside(name, header.decode("ascii", "replace"))
    return None


def _beside(name: str, header: str) -> Refused:
    detail = f"Nothing was forwarded: a rule looks for {name} in the query or a form, and some servers take the header"
    return Refused(AMBIGUOUS_TARGET, f"{detail} {header} for it. Send the request without that header.", OF_NAMES)


# Requests bring the same few again and again.
@lru_cache(maxsize=1024)
def _readings(header: bytes) -> tuple[str, ...]:
    """None of one that is sent for its own sake."""
    plain = plain_name(header)
    if plain in _ORDINARY or plain.startswith(_ORDINARY_BEGINNINGS) or is_credential(plain) or is_needed(plain):
        return ()
    if is_idle(plain) and plain != _A_FIELD_TOO:
        return ()
    return readings(header.decode("utf-8", "replace"))
