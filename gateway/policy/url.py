"""Where an upstream listens, and the two paths of a policy that are no patterns: the base path and the mount's."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from gateway.core.rule import KeyUrl, Origin
from gateway.core.target import Ambiguous, read_target
from gateway.policy.finding import Wrong

# RFC 1035, section 2.3.4. For a longer label, or an empty one, no resolver is even asked.
_LABEL = "[a-z0-9_-]{1,63}"
_NAME = rf"(?=[a-z0-9]){_LABEL}(?:\.{_LABEL})*(?<=[a-z0-9])"
_HOST = re.compile(rf"{_NAME}|[0-9a-f]*:[0-9a-f:]*(?:\.[0-9.]+)?", re.ASCII | re.IGNORECASE)
# A host and its port, an address in brackets. Addresses of six groups have colons of their own.
_SITE = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*))(?::([0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Url:
    """An upstream's `url`. The base path has no slash at its end."""

    origin: Origin
    base_path: str


@dataclass(frozen=True, slots=True)
class Place:
    """One URL that is asked as it is. `target` is the path with its query."""

    origin: Origin
    target: str


def parse_url(text: str) -> Url | Wrong:
    example = "write such as `https://reports.internal:8443`"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return Wrong(f"this is not a URL; {example}")
    scheme: Literal["http", "https"]
    match parts.scheme:
        case "http":
            scheme = "http"
        case "https":
            scheme = "https"
        case _:
            return Wrong(f"the scheme must be http or https; {example}")
    if "@" in parts.netloc:
        return Wrong("a URL may hold no user or password; put them under `credentials:`")
    if "?" in text or "#" in text:
        return Wrong(f"a URL may hold no query and no fragment; {example}")
    host = parts.hostname
    if not host or not _HOST.fullmatch(host) or port == 0:
        return Wrong(f"the URL names no host that can be reached; {example}")
    base_path = parts.path.removesuffix("/")
    if base_path and (isinstance(read_target(base_path), Ambiguous) or base_path.endswith("/")):
        return Wrong("the URL's path can be read in two ways; write it without dots, empty segments and backslashes")
    return Url(Origin(scheme, host, port or {"http": 80, "https": 443}[scheme]), base_path)


def parse_keys_url(text: str) -> KeyUrl | Wrong:
    """Where a JWKS is: https, or http on this machine alone, because whoever answers there decides who may write."""
    place = _parse_place(text, "public keys need none")
    if isinstance(place, Wrong):
        return place
    if place.origin.scheme == "http" and not _is_loopback(place.origin.host):
        return Wrong("keys that come over plain http could be anybody's; write https")
    return KeyUrl(place.origin, place.target)


def parse_endpoint_url(text: str) -> Place | Wrong:
    """Where notifications are sent. What is wrong with it is told without showing it: its path may be a secret."""
    return _parse_place(text, "receivers know the sender by its signature")


def _parse_place(text: str, why_no_user: str) -> Place | Wrong:
    place, mark, query = text.partition("?")
    if "@" in place.partition("//")[2].partition("/")[0]:
        return Wrong(f"a URL may hold no user or password; {why_no_user}")
    url = parse_url(place)
    if isinstance(url, Wrong):
        return url
    target = (urlsplit(place).path or "/") + mark + query
    if isinstance(read_target(target), Ambiguous):
        return Wrong("the URL can be read in two ways; write it without dots, empty segments, backslashes and `#`")
    return Place(url.origin, target)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def parse_mount_path(text: str) -> tuple[str, ...] | Wrong:
    """The decoded segments of a mount's path; none for `/`."""
    if text == "/":
        return ()
    target = read_target(text)
    if isinstance(target, Ambiguous) or target.query is not None:
        return Wrong(f"`{text}` is not a path; write such as `/reports`")
    if not target.segments[-1]:
        return Wrong(f"a mount takes whole segments; write `{text.rstrip('/') or '/'}` without the slash at its end")
    if target.segments[:2] == ("-", "fence"):
        return Wrong("`/-/fence` is the gateway's own; mount the upstream elsewhere")
    return target.segments


def parse_host(text: str) -> tuple[str, int | None] | Wrong:
    """A mount's host in lower case, without brackets, and the port that stands behind it."""
    found = _SITE.fullmatch(text.lower())
    host, port = (found[1] or found[2], found[3]) if found else (text.lower(), None)
    if not _HOST.fullmatch(host) or (":" in host and host.count(":") < 2) or not _is_port(port):
        return Wrong(f"`{text}` is not a host name; write it without scheme and path, such as `api.example.com`")
    return host, None if port is None else int(port)


def _is_port(text: str | None) -> bool:
    return text is None or (not text.startswith("0") and int(text) < 1 << 16)
