"""Resources: which there are, who owns each, and the operator's way to end whoever writes one now."""

import secrets
from urllib.parse import unquote

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.running import RUNNING
from gateway.core.decision import BAD_REQUEST, NO_SUCH_RESOURCE, Facts, Refused
from gateway.core.epoch import Epoch, parse_u64
from gateway.core.problem import instant
from gateway.core.write import ResourceKey
from gateway.policy.jsonbody import Number, read_json
from gateway.store import views
from gateway.store.reply import FenceRecord

PREFIX = "/api/v1/resources/"
_ADVANCE = "/advance"


async def list_resources(request: web.Request) -> web.Response:
    """A page of the resources whose names begin with `prefix`."""
    try:
        found = await views.resources(
            request.app[RUNNING].store, request.query.get("prefix", ""), request.query.get("cursor")
        )
    except ValueError:
        return refusal(bad_cursor())
    return page([_members(record) for record in found.items], found.next)


async def show_resource(request: web.Request) -> web.Response:
    """One resource, with the writes that are in flight."""
    store = request.app[RUNNING].store
    resource = _named(request, "")
    record = await store.look(resource)
    if record is None:
        detail = "Nothing is known of this resource: it was never written, leased or advanced."
        return refusal(Refused(NO_SUCH_RESOURCE, detail, Facts(resource=resource)))
    return web.json_response(
        _members(record) | {"tickets": [_ticket(one) for one in await views.tickets(store, resource)]}
    )


async def advance_resource(request: web.Request) -> web.Response:
    """Raise the epoch, to the one that the body names or to the next: every older one is refused from here on."""
    running = request.app[RUNNING]
    resource = _named(request, _ADVANCE)
    wanted = _wanted_epoch(await request.read())
    if isinstance(wanted, Refused):
        return refusal(wanted)
    if running.rules().rule_for_resource(resource) is None and await running.store.look(resource) is None:
        detail = "Nothing was done: no rule makes this resource, and it was never written. Look for a slip in its name."
        return refusal(Refused(NO_SUCH_RESOURCE, detail, Facts(resource=resource)))
    epoch = await running.store.advance(resource, wanted, secrets.token_hex(8))
    if isinstance(epoch, Refused):
        return refusal(epoch)
    running.log.warning("an operator advanced a resource", resource=resource, epoch=str(epoch))
    return web.json_response({"resource": resource, "epoch": str(epoch)})


def bad_cursor() -> Refused:
    return Refused(BAD_REQUEST, "The cursor is not one that was handed out: begin again without one.")


def _named(request: web.Request, suffix: str) -> ResourceKey:
    """The resource in the path, decoded once: a resource's name may hold slashes and percent signs of its own."""
    path = request.raw_path.partition("?")[0]
    return ResourceKey(unquote(path.removeprefix(PREFIX).removesuffix(suffix)))


def _wanted_epoch(body: bytes) -> Epoch | Refused | None:
    members = read_json(body or b"{}")
    if not isinstance(members, dict) or not members.keys() <= {"epoch"}:
        return Refused(BAD_REQUEST, 'Nothing was done: send {} or {"epoch": "42"}.')
    if members.get("epoch") is None:
        return None
    named = members["epoch"]
    epoch = parse_u64(named.spelled if isinstance(named, Number) else str(named))
    if epoch is None:
        return Refused(BAD_REQUEST, 'Nothing was done: `epoch` must be digits only, at most 2^64-1, as in "42".')
    return Epoch(epoch)


def _members(record: FenceRecord) -> dict[str, object]:
    lease = record.lease
    return {
        "resource": record.resource,
        "epoch": str(record.epoch),
        "holder": record.holder or None,
        "lease": None if lease is None else {"expires_at": instant(lease.expires_at_ms), "ttl_s": lease.ttl_ms / 1000},
        "revision": str(record.revision),
        "in_flight": record.in_flight,
        "older_in_flight": record.older_in_flight,
    }


def _ticket(ticket: views.Ticket) -> dict[str, object]:
    return {
        "id": ticket.id,
        "epoch": str(ticket.epoch),
        "holder": ticket.holder,
        "gateway": ticket.gateway,
        "upstream": ticket.upstream,
        "rule": ticket.rule,
        "deadline": instant(ticket.deadline_ms),
    }
