"""Which header names a policy may read, list, put on a forwarded request, and replay."""

import re

from gateway.core.caller import is_control_header
from gateway.core.field_name import plain_name
from gateway.core.rule import Upstream
from gateway.core.withheld import withheld
from gateway.policy.finding import Wrong

_TOKEN = re.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# RFC 9110, section 7.6.1, and the fields that frame a message or name its server: they are each connection's own.
_CONNECTION = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_SECRET = frozenset({"authorization", "cookie"})
# A session that is handed to whoever repeats the key, and an instant that is over.
_NEVER_REPLAYED = frozenset({"date", "set-cookie", "set-cookie2"})


def header_to_read(name: str) -> str | Wrong:
    """A header of the agent's that a condition or a resource reads, in lower case.

    Refused besides what is no name: the gateway's own headers, those of one connection, and credentials, which must
    not become part of a resource's name.
    """
    lower = name.lower()
    # What has another character has another name to some servers.
    if not _TOKEN.fullmatch(name) or plain_name(lower.encode()) != lower.encode():
        return Wrong(f"`{name}` is not a header name; write letters, digits and dashes")
    if is_control_header(lower.encode()) or lower in _CONNECTION | _SECRET:
        return Wrong(f"header `{name}` cannot be read by a rule; use one that says what is written")
    return lower


def header_to_list(name: str) -> bytes | Wrong:
    """A header that agents may send, as `only` lists it, in lower case."""
    if not _TOKEN.fullmatch(name):
        return Wrong(f"`{name}` is not a header name; write such as `X-Trace`")
    return name.lower().encode("ascii")


def header_that_arrives(name: str, upstream: Upstream) -> str | Wrong:
    """As `header_to_read`, of a header by which requests are judged: refused also if `upstream` gets none or another.

    `X-Forwarded-*` and its kin pass only from trusted proxies, of which a policy knows nothing.
    """
    lower = header_to_read(name)
    if isinstance(lower, Wrong):
        return lower
    plain = lower.encode("ascii")
    if withheld(upstream, believed=False).covers(plain) or (upstream.via is not None and plain == b"via"):
        return Wrong(
            f"header `{name}` does not reach the upstream as its sender has it: the gateway drops it, or sets its own; "
            "use one that arrives"
        )
    return lower


def header_to_send(name: str) -> bytes | Wrong:
    """A header that the gateway puts on every forwarded request, as spelled."""
    lower = name.lower()
    if not _TOKEN.fullmatch(name):
        return Wrong(f"`{name}` is not a header name; write such as `X-Api-Key`")
    if lower in _CONNECTION:
        return Wrong(f"header `{name}` belongs to the connection and cannot be set; remove it")
    if is_control_header(lower.encode()):
        return Wrong(f"header `{name}` never reaches an upstream; write another name, such as `X-{name}`")
    return name.encode()


def header_to_replay(name: str) -> bytes | Wrong:
    """A header of an upstream's answer that is kept and sent again with a replay, in lower case."""
    lower = name.lower()
    if not _TOKEN.fullmatch(name):
        return Wrong(f"`{name}` is not a header name; write such as `X-Total-Count`")
    if lower in _CONNECTION:
        return Wrong(f"header `{name}` belongs to the connection and cannot be replayed; remove it")
    if lower in _NEVER_REPLAYED:
        return Wrong(f"header `{name}` belongs to the first answer alone and is never replayed; remove it")
    if is_control_header(lower.encode()) or plain_name(lower.encode()) == b"idempotent-replayed":
        return Wrong(f"header `{name}` is the gateway's own; remove it")
    return lower.encode()
