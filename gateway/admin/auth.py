"""Who may call the admin listener."""

import hmac
import ipaddress

from aiohttp import web

from gateway.core.decision import BAD_REQUEST, FORBIDDEN, UNAUTHENTICATED, Refused

# Asked by orchestrators, which have no token; they tell nothing but whether the gateway serves.
OPEN_PATHS = frozenset({"/healthz", "/readyz"})


def authenticate(request: web.BaseRequest, token: str | None) -> Refused | None:
    """Refuse a request without the admin token, where one is set."""
    if token is None or request.path in OPEN_PATHS:
        return None
    scheme, _, presented = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and hmac.compare_digest(presented.strip().encode(), token.encode()):
        return None
    return Refused(UNAUTHENTICATED, "This call needs the admin token: send it as `Authorization: Bearer TOKEN`.")


def check_browser(request: web.BaseRequest, *, on_loopback: bool) -> Refused | None:
    """Refuse what a page of another site can make an operator's browser send.

    A name that was rebound to 127.0.0.1 shows in `Host`. A form cannot send JSON, and a script that does is first asked
    about by the browser, which gets no permission here; so is whatever else is neither GET, HEAD nor POST.
    """
    if on_loopback and not _is_loopback_name(request.host):
        return Refused(
            FORBIDDEN, "The Host header names another machine: call this listener as localhost or 127.0.0.1."
        )
    if request.method == "POST" and request.content_type != "application/json":
        return Refused(BAD_REQUEST, "Nothing was done: send the call with `Content-Type: application/json`.")
    return None


def _is_loopback_name(host: str) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False
