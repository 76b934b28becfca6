"""A page of another site, and how it shows that a browser asks for one.

What a page sends without the browser asking first (a form, an image, a script's simple request, a WebSocket) arrives
from the machine of whoever looks at the page; of a name that was rebound to that machine, the page reads the answers
too. Clients that are no browsers send neither `Origin` nor `Sec-Fetch-Site`.
"""

from functools import lru_cache
from ipaddress import ip_address

from gateway.core.request import Headers

# As browsers say it (Fetch Metadata): a page of this very origin, or a person who typed the address.
_OWN_SITES = frozenset((b"same-origin", b"none"))
_BROWSERS_ONLY = (b"origin", b"sec-fetch-site", b"referer")
# Names come from callers, and there is no end of them.
_NAMES_REMEMBERED = 256


def is_of_browser(headers: Headers) -> bool:
    """Whether a browser sends it, by what a page cannot leave out.

    A write has `Origin`. A page that reads its own site may name itself as it likes, but no script takes
    `Accept-Language` away: where it sets none, the browser does (Fetch, section 4.1). `fetch` outside of browsers sends
    it too, and `Sec-Fetch-Mode` without `Sec-Fetch-Site` beside it, which no page can (forbidden request-headers).
    """
    if any(headers.first(name) is not None for name in _BROWSERS_ONLY):
        return True
    if (headers.first(b"user-agent") or b"").startswith(b"Mozilla/"):
        return True
    return headers.first(b"accept-language") is not None and headers.first(b"sec-fetch-mode") is None


def is_of_other_site(headers: Headers) -> bool:
    """Whether a browser says that it asks for a page of another origin than the one that is asked."""
    site, origin = headers.first(b"sec-fetch-site"), headers.first(b"origin")
    if site is None and origin is None:
        return False
    if site is not None and site not in _OWN_SITES:
        return True
    # Behind a proxy that writes `Host` anew only the browser itself knows whether both are one.
    if origin is None or site == b"same-origin":
        return False
    return origin.partition(b"://")[2].lower() != (headers.first(b"host") or b"").lower()


@lru_cache(_NAMES_REMEMBERED)
def names_machine(host: bytes) -> bool:
    """As `is_loopback_name`, of the field as it came. Asked on each request."""
    return is_loopback_name(host.decode("latin-1"))


def is_loopback_name(host: str) -> bool:
    """Whether a `Host`, with or without its port, names the machine itself."""
    name = _without_port(host)
    if name == "localhost":
        return True
    try:
        return ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def _without_port(host: str) -> str:
    return (host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host).lower()
