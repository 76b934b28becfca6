"""Who may call the admin listener."""

import hmac

from aiohttp import web

from gateway.admin.console import serving
from gateway.core.decision import UNAUTHENTICATED, Refused

# Asked by orchestrators, which have no token, and by browsers that do not have it yet. They tell nothing but whether
# the gateway serves; the console is the same in every gateway of a release.
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/", serving.PATH})


def authenticate(request: web.Request, token: str | None) -> Refused | None:
    """Refuse a request without the admin token, where one is set."""
    if token is None or _path(request) in OPEN_PATHS:
        return None
    scheme, _, presented = request.headers.get("Authorization", "").partition(" ")
    # Any byte may stand in a header; aiohttp keeps those that are no UTF-8 as surrogates.
    shown = presented.strip().encode(errors="surrogateescape")
    if scheme.lower() == "bearer" and hmac.compare_digest(shown, token.encode()):
        return None
    why = "This call needs the admin token" if not presented else "This is not the admin token of this gateway"
    return Refused(UNAUTHENTICATED, f"{why}: send it as `Authorization: Bearer TOKEN`.")


def _path(request: web.Request) -> str | None:
    """As the table of calls has it: whatever a path's parameters are."""
    resource = request.match_info.route.resource
    return None if resource is None else resource.canonical
