"""The listener of a process that only delivers, for machines that watch it: it takes no orders."""

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from gateway.admin.answer import refusal
from gateway.admin.auth import authenticate
from gateway.admin.browser import check_browser, protect
from gateway.admin.call import Handler
from gateway.admin.health import healthz, readiness, reasons_of_store, store_is_up
from gateway.core.decision import METHOD_NOT_ALLOWED, NOT_FOUND, Refused
from gateway.metrics.deliverer import DelivererMetrics
from gateway.metrics.parent import CONTENT_TYPE
from gateway.store.fence import FenceStore


@dataclass(frozen=True, slots=True)
class Delivering:
    """What is watched: its store, whether it was told to end, and what it has counted."""

    store: FenceStore
    is_stopping: Callable[[], bool]
    metrics: DelivererMetrics


_DELIVERING: web.AppKey[Delivering] = web.AppKey("delivering")


def build_watching(delivering: Delivering, *, token: str | None, on_loopback: bool) -> web.Application:
    """The application; `token` and `on_loopback` as at the admin listener."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = check_browser(request, on_loopback=on_loopback) or authenticate(request, token)
        response = refusal(refused) if refused is not None else await _answer(request, handler)
        protect(response)
        return response

    app = web.Application(middlewares=[guard])
    app[_DELIVERING] = delivering
    app.add_routes([web.get("/healthz", healthz), web.get("/readyz", _readyz), web.get("/metrics", _metrics)])
    return app


async def _answer(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPNotFound:
        return refusal(Refused(NOT_FOUND, "Nothing is here but /healthz, /readyz and /metrics: ask a gateway."))
    except web.HTTPMethodNotAllowed:
        return refusal(Refused(METHOD_NOT_ALLOWED, "Nothing was done: this path takes GET."))


async def _readyz(request: web.Request) -> web.Response:
    """Whether it delivers now: 200, or 503 with every reason why not."""
    delivering = request.app[_DELIVERING]
    reasons = ["the process is stopping"] if delivering.is_stopping() else []
    return readiness(reasons + await reasons_of_store(delivering.store))


async def _metrics(request: web.Request) -> web.Response:
    delivering = request.app[_DELIVERING]
    exposition = delivering.metrics.exposition(store_up=await store_is_up(delivering.store))
    return web.Response(body=exposition, headers={"Content-Type": CONTENT_TYPE})
