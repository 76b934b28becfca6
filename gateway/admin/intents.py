"""Writes of which nobody knows whether they happened."""

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.resources import bad_cursor
from gateway.admin.running import RUNNING
from gateway.core.decision import BAD_REQUEST, Refused
from gateway.core.problem import instant
from gateway.store import views

# Of a write that ended otherwise no record is kept.
_KEPT = "unknown"


async def list_intents(request: web.Request) -> web.Response:
    """A page of the writes that ended unknown and are not resolved, the newest first."""
    if request.query.get("state", _KEPT) != _KEPT:
        return refusal(Refused(BAD_REQUEST, f"Only writes that ended unknown are recorded: ask for state={_KEPT}."))
    try:
        found = await views.unknown_intents(request.app[RUNNING].store, request.query.get("cursor"))
    except ValueError:
        return refusal(bad_cursor())
    return page([_members(write) for write in found.items], found.next)


def _members(write: views.UnknownWrite) -> dict[str, object]:
    return {
        "id": write.id,
        "key": None,
        "state": write.state,
        "upstream": write.upstream,
        "rule": write.rule,
        "resource": write.resource,
        "epoch": str(write.epoch),
        "holder": write.holder or None,
        "created_at": instant(write.created_at_ms),
        "updated_at": instant(write.updated_at_ms),
        "reason": write.reason,
    }
