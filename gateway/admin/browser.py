"""What a page of another site can make an operator's browser do: nothing here."""

from urllib.parse import urlsplit

from aiohttp import web

from gateway.core.browser import is_loopback_name
from gateway.core.decision import BAD_REQUEST, FORBIDDEN, Refused

_READS = frozenset({"GET", "HEAD", "OPTIONS"})
# As browsers say it (Fetch Metadata): a page of this very origin, or a person who typed the address.
_OWN_SITES = frozenset({"same-origin", "none"})
# A browser leaves them out.
_USUAL_PORTS = {"http": ":80", "https": ":443"}
# For each answer that does not say otherwise: the console's files do.
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    # For browsers that do not know `frame-ancestors`.
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def check_browser(request: web.BaseRequest, *, on_loopback: bool, known_as: str | None = None) -> Refused | None:
    """Refuse what was sent for a page of another site. `known_as`: host and port under which operators come, if told.

    A name that was rebound to 127.0.0.1 shows in `Host`. A form cannot send JSON, and a script that does is first asked
    about by the browser, which gets no permission here; so is whatever else is neither GET, HEAD nor POST. Where a
    browser says for whom it asks (`Sec-Fetch-Site`, `Origin`), that counts too.
    """
    if on_loopback and request.host != known_as and not is_loopback_name(request.host):
        return Refused(
            FORBIDDEN, "The Host header names another machine: call this listener as localhost or 127.0.0.1."
        )
    if request.method not in _READS and not _is_of_own_site(request, known_as):
        return Refused(FORBIDDEN, "Nothing was done: a page of another site has asked for it.")
    if request.method == "POST" and request.content_type != "application/json":
        return Refused(BAD_REQUEST, "Nothing was done: send the call with `Content-Type: application/json`.")
    return None


def protect(response: web.StreamResponse) -> None:
    """Tell a browser to take the answer for what it says it is, to keep none of it, and to show it in no frame."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    policy = response.headers["Content-Security-Policy"]
    if "frame-ancestors" not in policy:
        # It does not follow from `default-src`.
        response.headers["Content-Security-Policy"] = f"{policy}; frame-ancestors 'none'"


def own_name(admin_url: str | None) -> str | None:
    """Host and port of the URL under which operators reach the listener, as browsers spell them."""
    if admin_url is None:
        return None
    parts = urlsplit(admin_url)
    return parts.netloc.lower().removesuffix(_USUAL_PORTS[parts.scheme])


def _is_of_own_site(request: web.BaseRequest, known_as: str | None) -> bool:
    if request.headers.get("Sec-Fetch-Site", "none") not in _OWN_SITES:
        return False
    origin = request.headers.get("Origin")
    return origin is None or origin.partition("://")[2] in (request.host, known_as)
