"""Pauses: an operator stops writes (of a resource, of an upstream, of all there is), and lets them go on."""

from collections.abc import Mapping

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.document import LONGEST_NOTE, Document, read_document, read_text
from gateway.admin.query import read_query
from gateway.admin.running import OPERATOR, RUNNING, Running
from gateway.admin.selector import SELECTORS, Selected, check_selector, read_selector
from gateway.core.decision import NO_SUCH_PAUSE, Refused
from gateway.core.pause import WidePause
from gateway.core.problem import instant
from gateway.core.write import ResourceKey
from gateway.store import intents, pauses
from gateway.store.intents import Pause
from gateway.store.views import pause_views

_KNOWN = SELECTORS | {"reason"}


async def list_pauses(request: web.Request) -> web.Response:
    """A page of the pauses in force, the newest first; with `resource`, that one's own."""
    query = read_query(request, "resource", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    store = request.app[RUNNING].store
    if "resource" in query:
        pause = await pause_views.pause_of(store, ResourceKey(query["resource"]))
        return page([] if pause is None else [pause_members(pause)])
    found = await pause_views.pauses(store, query.get("cursor"))
    return page([pause_members(pause) for pause in found.items], found.next, found.incomplete)


async def begin_pause(request: web.Request) -> web.Response:
    """Stop writes, through every gateway: 201, or 200 with the pause of the same selector that is in force already."""
    asked = _read_pause(await read_document(request, _KNOWN))
    if isinstance(asked, Refused):
        return refusal(asked)
    selected, reason = asked
    running = request.app[RUNNING]
    unknown = await check_selector(running, selected)
    if unknown is not None:
        return refusal(unknown)
    id = pause_views.new_id(selected) if isinstance(selected, str) else pauses.new_pause_id()
    pause = await _begin(running, selected, id, reason)
    if isinstance(pause, Refused):
        return refusal(pause)
    if pause.id == id:
        running.log.warning("an operator began a pause", pause=id, **_logged(pause))
    return web.json_response(pause_members(pause), status=201 if pause.id == id else 200)


async def end_pause(request: web.Request) -> web.Response:
    """Let the writes go on that no other pause stops; answers the pause that has ended."""
    running = request.app[RUNNING]
    id = request.match_info["id"]
    pause = await pause_views.find_pause(running.store, id)
    if pause is None:
        detail = "No pause in force has this id: it has ended, or the id has a slip. `GET /api/v1/pauses` lists them."
        return refusal(Refused(NO_SUCH_PAUSE, detail))
    if isinstance(pause, WidePause):
        await pauses.end_pause(running.store, pause, OPERATOR)
    else:
        await intents.resume(running.store, pause, OPERATOR)
    running.log.warning("an operator ended a pause", pause=id, **_logged(pause))
    return web.json_response(pause_members(pause))


def pause_members(pause: Pause | WidePause) -> dict[str, object]:
    return {
        "id": pause.id,
        **_selector(pause),
        "reason": pause.reason,
        "by": pause.by,
        "created_at": instant(pause.created_at_ms),
    }


def _selector(pause: Pause | WidePause) -> Mapping[str, object]:
    """As it was asked for."""
    if isinstance(pause, Pause):
        return {"resource": pause.resource}
    scope = pause.scope
    if scope.kind == "all":
        return {"all": True}
    return ({} if scope.upstream is None else {"upstream": scope.upstream}) | {scope.kind: scope.name}


def _logged(pause: Pause | WidePause) -> dict[str, object]:
    return {**_selector(pause), "reason": pause.reason}


async def _begin(running: Running, selected: Selected, id: str, reason: str) -> Pause | WidePause | Refused:
    if isinstance(selected, str):
        return await intents.pause(running.store, selected, id=id, reason=reason, by=OPERATOR)
    return await pauses.begin_pause(running.store, selected, id=id, reason=reason, by=OPERATOR)


def _read_pause(document: Document | Refused) -> tuple[Selected, str] | Refused:
    """What is to be paused, and why."""
    if isinstance(document, Refused):
        return document
    selected = read_selector(document)
    if isinstance(selected, Refused):
        return selected
    reason = read_text(document, "reason", LONGEST_NOTE)
    return reason if isinstance(reason, Refused) else (selected, reason)
