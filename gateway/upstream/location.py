"""Where an answer leads: an upstream names places as it knows them, and an agent reaches them at the gateway alone."""

import re
from urllib.parse import quote

from gateway.core.request import HeaderPairs
from gateway.core.rule import Upstream

NAMES = frozenset((b"location", b"content-location"))
_ABSOLUTE = re.compile(rb"(?:(https?):)?//([^/?#]*)", re.IGNORECASE)
_ENDS = (b"/", b"?", b"#")
# A path that leads elsewhere than it seems to. Two slashes begin another server's address: the URL standard takes a
# backslash for one, and cuts tabs and line ends out first. Dot segments lead out of what the gateway forwards to.
_ODD = re.compile(rb"//|[^?#]*[\x00- \x7f\\]|[^?#]*/(?:\.|%2e){1,2}(?:[/?#]|\Z)", re.IGNORECASE)
# RFC 3986, section 3.3: what a segment may have as it is.
_PLAIN = "!$&'()*+,;=:@~"


def as_agents_know(pairs: HeaderPairs, upstream: Upstream) -> HeaderPairs:
    """The fields of an answer, with places of the upstream as they are called at the gateway. Whoever follows one would
    else ask at a path that is none here, or go past the gateway, with its token.
    """
    if upstream.mount.locations == "opaque":
        return pairs
    return tuple((name, _mapped(value, upstream) if name.lower() in NAMES else value) for name, value in pairs)


def _mapped(value: bytes, upstream: Upstream) -> bytes:
    absolute, path = _ABSOLUTE.match(value), value
    if absolute is not None:
        scheme = absolute[1] or upstream.origin.scheme.encode()
        if (scheme.lower(), absolute[2].lower()) not in _own(upstream):
            return value
        path = value[absolute.end() :]
    elif not value.startswith(b"/"):
        # It is relative to the request's own.
        return value
    base = upstream.base_path.encode()
    behind = path[len(base) :]
    if not path.startswith(base) or not (behind == b"" or behind.startswith(_ENDS)):
        # It is beside all that the gateway forwards to.
        return value
    segments = upstream.mount.segments if upstream.mount.strip else ()
    here = "".join(f"/{quote(segment, safe=_PLAIN)}" for segment in segments).encode() + behind
    here = here if here.startswith(b"/") else b"/" + here
    return value if _ODD.match(here) else here


def _own(upstream: Upstream) -> tuple[tuple[bytes, bytes], ...]:
    """Its address, also with the port that need not be said."""
    origin = upstream.origin
    scheme, host = origin.scheme.encode(), f"[{origin.host}]" if ":" in origin.host else origin.host
    return (scheme, origin.authority.lower().encode()), (scheme, f"{host}:{origin.port}".lower().encode())
