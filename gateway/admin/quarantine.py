"""The quarantine: writes that came too late, to be looked at, taken out as they came, and dropped."""

import base64

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.audit import event_members
from gateway.admin.document import read_note
from gateway.admin.query import read_query
from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.decision import NOT_IN_QUARANTINE, Refused
from gateway.core.kept_request import KeptRequest
from gateway.core.late import Quarantined
from gateway.core.problem import instant
from gateway.core.write import ResourceKey
from gateway.store.views import audit_views, quarantine

# A larger body is had from its own path only: as JSON it would be several times as large, and held whole.
_SHOWN_BODY = 1 << 20
# What agents sent is bytes to be stored, whatever they say of it: never a page of this listener.
_NEVER_RENDERED = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
}


async def list_late(request: web.Request) -> web.Response:
    """A page of what is in quarantine, the newest first; of a resource, or of rules with a name."""
    query = read_query(request, "resource", "rule", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    resource = query.get("resource")
    sought = quarantine.Sought(None if resource is None else ResourceKey(resource), query.get("rule"))
    found = await quarantine.late_results(request.app[RUNNING].store, sought, query.get("cursor"))
    return page([late_members(late) for late in found.items], found.next, found.incomplete)


async def show_late(request: web.Request) -> web.Response:
    """One late result with its request, as it came but for what proved who sent it."""
    store, id = request.app[RUNNING].store, request.match_info["id"]
    found = await quarantine.late_result(store, id)
    if found is None:
        return refusal(_no_such())
    late, kept = found
    events = await audit_views.events(store, audit_views.Sought(intent=id, since_ms=late.received_at_ms), None)
    more = {"request": request_members(kept), "events": [event_members(event) for event in events.items]}
    return web.json_response(late_members(late) | more)


async def export_body(request: web.Request) -> web.Response:
    """The body byte for byte, as a file to be stored."""
    id = request.match_info["id"]
    found = await quarantine.late_result(request.app[RUNNING].store, id)
    if found is None:
        return refusal(_no_such())
    _, kept = found
    if kept.body is None:
        detail = "Its body was not kept: it was too large, or its sender left before it was whole. The head is all."
        return refusal(Refused(NOT_IN_QUARANTINE, detail))
    return attachment(kept.body, f"{id}.bin")


async def drop_late(request: web.Request) -> web.Response:
    """Take a late result out of quarantine for good; answers what it was."""
    running, id = request.app[RUNNING], request.match_info["id"]
    note = await read_note(request)
    if isinstance(note, Refused):
        return refusal(note)
    found = await quarantine.late_result(running.store, id)
    if found is None:
        return refusal(_no_such())
    late, _ = found
    await quarantine.drop(running.store, late, note=note, by=OPERATOR)
    running.log.warning("an operator dropped a late result", quarantine=id, resource=late.resource, note=note)
    return web.json_response(late_members(late))


def late_members(late: Quarantined) -> dict[str, object]:
    return {
        "id": late.id,
        "decision": late.decision,
        "resource": late.resource,
        "epoch": str(late.epoch),
        "highest_epoch": None if late.highest_epoch is None else str(late.highest_epoch),
        "holder": late.holder,
        "principal": late.principal,
        "tenant": late.tenant,
        "upstream": late.upstream,
        "rule": late.rule,
        "intent": late.intent,
        "method": late.method,
        "target": late.target,
        "size": late.size,
        "truncated": late.size is None,
        "received_at": instant(late.received_at_ms),
        "expires_at": instant(late.expires_at_ms),
    }


def attachment(body: bytes, name: str) -> web.Response:
    """What an agent sent, as a file to be stored."""
    headers = _NEVER_RENDERED | {"Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(body=body, content_type="application/octet-stream", headers=headers)


def request_members(kept: KeptRequest) -> dict[str, object]:
    """A kept request as JSON members, for operators."""
    members: dict[str, object] = {
        "method": kept.method,
        "target": kept.target,
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in kept.headers],
        "body": None,
        "body_base64": None,
    }
    if kept.body is None or len(kept.body) > _SHOWN_BODY:
        return members
    members["body_base64"] = base64.b64encode(kept.body).decode("ascii")
    try:
        members["body"] = kept.body.decode("utf-8")
    except UnicodeDecodeError:
        return members
    return members


def _no_such() -> Refused:
    detail = "Nothing in quarantine has this id: it was dropped, its time is over, or the id has a slip."
    return Refused(NOT_IN_QUARANTINE, f"{detail} `GET /api/v1/quarantine` lists what there is.")
