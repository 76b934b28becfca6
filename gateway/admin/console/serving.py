"""The console's page and its files over HTTP."""

from collections.abc import Mapping

from aiohttp import web
from aiohttp.helpers import ETag

from gateway.admin.answer import refusal
from gateway.admin.console.asset import PAGE, Asset
from gateway.core.decision import NOT_FOUND, Refused

PATH = "/console/{file}"
ASSETS: web.AppKey[Mapping[str, Asset]] = web.AppKey("console", Mapping[str, Asset])

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
# Beside what every answer of the listener has (browser.py).
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    # Names stay the same across releases: asked for again each time, and mostly answered with 304.
    "Cache-Control": "no-cache",
}


async def show_console(request: web.Request) -> web.Response:
    """The page."""
    return _serve(request, request.app[ASSETS][PAGE])


async def show_asset(request: web.Request) -> web.Response:
    """One of the files that the page loads."""
    asset = request.app[ASSETS].get(request.match_info["file"])
    if asset is None:
        return refusal(Refused(NOT_FOUND, "The console has no such file. `/` is its page."))
    return _serve(request, asset)


def _serve(request: web.Request, asset: Asset) -> web.Response:
    known = {tag.value for tag in request.if_none_match or ()}
    response = web.Response(headers=_HEADERS)
    if known & {asset.tag, "*"}:
        response.set_status(304)
    else:
        response.body, response.content_type, response.charset = asset.body, asset.media, "utf-8"
    response.etag = ETag(asset.tag)
    return response
