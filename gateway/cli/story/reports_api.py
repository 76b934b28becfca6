"""The sample reports API: one that checks no epoch, as most APIs do, and logs what it executed.

`?slow_s=N` on a write makes it take N seconds (10 at most), so that a write in flight can be watched; `?hang_up=1`
executes it and breaks the connection off without an answer.
"""

import asyncio
from dataclasses import dataclass, field

from aiohttp import web

_SLOWEST_S = 10.0


@dataclass
class Reports:
    """What the API holds: reports by id, and each executed write in order of its end."""

    reports: dict[str, dict[str, object]] = field(default_factory=dict)
    executed: list[dict[str, object]] = field(default_factory=list)


REPORTS = web.AppKey("reports", Reports)


async def _read(request: web.Request) -> web.Response:
    report = request.app[REPORTS].reports.get(request.match_info["id"])
    return (
        web.json_response(report) if report is not None else web.json_response({"error": "no such report"}, status=404)
    )


async def _write(request: web.Request) -> web.Response:
    held = request.app[REPORTS]
    name = request.match_info["id"]
    body = await request.json() if request.can_read_body else {}
    await asyncio.sleep(min(float(request.query.get("slow_s", "0")), _SLOWEST_S))
    if request.method == "DELETE":
        held.reports.pop(name, None)
    elif request.method == "POST":
        comments = held.reports.setdefault(name, {}).setdefault("comments", [])
        assert isinstance(comments, list)
        comments.append(body)
    else:
        known = held.reports.get(name, {}) if request.method == "PATCH" else {}
        held.reports[name] = {**known, **body}
    held.executed.append({"method": request.method, "report": name, "body": body})
    if "hang_up" in request.query and request.transport is not None:
        request.transport.abort()
    return web.json_response(held.reports.get(name, {}))


async def _search(request: web.Request) -> web.Response:
    return web.json_response(sorted(request.app[REPORTS].reports))


async def _log(request: web.Request) -> web.Response:
    return web.json_response(request.app[REPORTS].executed)


def add_reports(app: web.Application) -> None:
    """Let the sample upstream have reports; `/log` is its own list of executed writes."""
    app[REPORTS] = Reports()
    app.router.add_get("/log", _log)
    app.router.add_post("/reports/search", _search)
    app.router.add_get("/reports/{id}", _read)
    app.router.add_post("/reports/{id}/comments", _write)
    for method in ("PUT", "PATCH", "DELETE"):
        app.router.add_route(method, "/reports/{id}", _write)
