"""The admin listener: its routes, and everything that goes wrong as a problem."""

from collections.abc import Callable
from functools import cache, partial

from aiohttp import web

from gateway.admin import document, index, openapi
from gateway.admin.answer import refusal
from gateway.admin.approver import let_in
from gateway.admin.auth import authenticate
from gateway.admin.browser import check_browser, protect
from gateway.admin.call import Handler
from gateway.admin.calls import CALLS
from gateway.admin.console import asset, serving
from gateway.admin.detour import refuse_forwarded
from gateway.admin.running import RUNNING, Running
from gateway.core.decision import (
    BAD_REQUEST,
    INTERNAL,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    STORE_UNAVAILABLE,
    UNAUTHENTICATED,
    Facts,
    Refused,
)
from gateway.core.faults import StoreUnavailable
from gateway.store.views.page import BadCursor

# What needs no admin token where an approver's key is shown: each judges it again.
_FOR_APPROVERS = frozenset(call.handler for call in CALLS if call.for_approvers)
# A HEAD is answered where a GET is.
_ROUTES = {"GET": web.get, "POST": web.post, "DELETE": web.delete}


def build_admin(
    running: Running, *, token: str | None, on_loopback: bool, known_as: str | None = None
) -> web.Application:
    """The application. `token`: what callers have to present, if anything. `on_loopback`: whether only this machine
    reaches the listener, so that a caller who names another is a browser that was deceived. `known_as`: the host and
    port that operators call it by all the same.
    """

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = check_browser(request, on_loopback=on_loopback, known_as=known_as)
        refused = refused or refuse_forwarded(request, running.rules()) or authenticate(request, token)
        if refused is not None and refused.decision is UNAUTHENTICATED and request.match_info.handler in _FOR_APPROVERS:
            refused = None if let_in(request) else refused
        response = refusal(refused) if refused is not None else await _answer(request, handler)
        if "Transfer-Encoding" in request.headers:
            # aiohttp's compiled parser keeps the last field of a trailer and gives it to the connection's next request:
            # its `Authorization` even, to a caller without one behind the same proxy.
            response.force_close()
        protect(response)
        return response

    app = web.Application(middlewares=[guard], client_max_size=document.LIMIT)
    app[RUNNING] = running
    described: Callable[[], bytes] = cache(partial(openapi.render, CALLS))
    app[index.PAGE], app[openapi.DOCUMENT] = index.render(CALLS), described
    app[serving.ASSETS] = asset.load_assets()
    app.add_routes([_ROUTES[call.method](call.route, call.handler) for call in CALLS])
    return app


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPNotFound:
        return refusal(Refused(NOT_FOUND, "Nothing is here; `/api/v1` lists what there is."))
    except web.HTTPMethodNotAllowed as error:
        allowed = ", ".join(sorted(error.allowed_methods))
        response = refusal(Refused(METHOD_NOT_ALLOWED, f"Nothing was done: this path takes {allowed}."))
        response.headers["Allow"] = allowed
        return response
    except BadCursor:
        return refusal(Refused(BAD_REQUEST, "The cursor is not one that was handed out: begin again without one."))
    except StoreUnavailable as away:
        detail = f"The store did not answer ({away}). Call again: a call that is repeated does no harm."
        return refusal(Refused(STORE_UNAVAILABLE, detail, Facts(retry_after_s=1)))
    except Exception as error:  # noqa: BLE001 - the listener outlives any bug, and says where it is
        request.app[RUNNING].log.error("the admin listener failed", path=request.path, error=repr(error))
        return refusal(Refused(INTERNAL, "The gateway failed; its log has the error."))
