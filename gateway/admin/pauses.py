"""Pauses: an operator stops all writes of a resource, and lets them go on."""

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.document import Document, read_document, read_text
from gateway.admin.name import check_name
from gateway.admin.query import read_query
from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.decision import BAD_REQUEST, NO_SUCH_PAUSE, Refused
from gateway.core.problem import instant
from gateway.core.write import ResourceKey
from gateway.store import intents, pause_views
from gateway.store.intents import Pause

# Enough for what happened, who was asked and where it is written down.
_LONGEST_REASON = 500
_SELECTORS = ("upstream", "rule", "tenant", "holder")
_KNOWN = frozenset({"resource", "reason", *_SELECTORS})


async def list_pauses(request: web.Request) -> web.Response:
    """A page of the pauses in force, the newest first; with `resource`, that one's."""
    query = read_query(request, "resource", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    store = request.app[RUNNING].store
    if "resource" in query:
        pause = await pause_views.pause_of(store, ResourceKey(query["resource"]))
        return page([] if pause is None else [pause_members(pause)])
    found = await pause_views.pauses(store, query.get("cursor"))
    return page([pause_members(pause) for pause in found.items], found.next)


async def begin_pause(request: web.Request) -> web.Response:
    """Stop all writes of a resource: 201, or 200 with the pause that is in force already."""
    asked = _read_pause(await read_document(request, _KNOWN))
    if isinstance(asked, Refused):
        return refusal(asked)
    resource, reason = asked
    running = request.app[RUNNING]
    unknown = await check_name(running, resource)
    if unknown is not None:
        return refusal(unknown)
    id = pause_views.new_id(resource)
    pause = await intents.pause(running.store, resource, id=id, reason=reason, by=OPERATOR)
    if pause.id == id:
        running.log.warning("an operator paused a resource", resource=resource, pause=id, reason=reason)
    return web.json_response(pause_members(pause), status=201 if pause.id == id else 200)


async def end_pause(request: web.Request) -> web.Response:
    """Let the writes of a paused resource go on; answers the pause that has ended."""
    running = request.app[RUNNING]
    id = request.match_info["id"]
    pause = await pause_views.find_pause(running.store, id)
    if pause is None:
        detail = "No pause in force has this id: it has ended, or the id has a slip. `GET /api/v1/pauses` lists them."
        return refusal(Refused(NO_SUCH_PAUSE, detail))
    await intents.resume(running.store, pause)
    running.log.warning("an operator ended a pause", resource=pause.resource, pause=id, reason=pause.reason)
    return web.json_response(pause_members(pause))


def pause_members(pause: Pause) -> dict[str, object]:
    return {
        "id": pause.id,
        "resource": pause.resource,
        "reason": pause.reason,
        "by": pause.by,
        "created_at": instant(pause.created_at_ms),
    }


def _read_pause(document: Document | Refused) -> tuple[ResourceKey, str] | Refused:
    """What is to be paused, and why."""
    if isinstance(document, Refused):
        return document
    for selector in _SELECTORS:
        if selector in document:
            detail = f"Nothing was done: pausing a whole {selector} is not built yet. Pause its resources, one by one."
            return Refused(BAD_REQUEST, detail)
    resource = document.get("resource")
    if not isinstance(resource, str) or not resource:
        detail = 'Nothing was done: name the resource, as in {"resource": "report/7", "reason": "sent twice"}.'
        return Refused(BAD_REQUEST, detail)
    reason = read_text(document, "reason", _LONGEST_REASON)
    return reason if isinstance(reason, Refused) else (ResourceKey(resource), reason)
