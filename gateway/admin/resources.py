"""Resources: which there are, who holds each, and the operator's way to end whoever writes one now."""

import asyncio
import secrets

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.audit import event_members
from gateway.admin.document import Document, note_of, read_document
from gateway.admin.name import check_name
from gateway.admin.pauses import pause_members
from gateway.admin.query import read_query
from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.decision import BAD_REQUEST, NO_SUCH_RESOURCE, Facts, Refused
from gateway.core.epoch import Epoch, parse_u64
from gateway.core.problem import instant
from gateway.core.write import ResourceKey
from gateway.policy.reading.jsonbody import Number
from gateway.store import collect, resets
from gateway.store.reply import FenceRecord
from gateway.store.views import audit_views, pause_views, resource_views
from gateway.store.views.audit_views import Sought

# What happened to it last; the audit trail has the rest.
_NEWEST = 20


async def list_resources(request: web.Request) -> web.Response:
    """A page of the resources whose names begin with `prefix`."""
    query = read_query(request, "prefix", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    found = await resource_views.resources(request.app[RUNNING].store, query.get("prefix", ""), query.get("cursor"))
    return page([_members(record) for record in found.items], found.next, found.incomplete)


async def show_resource(request: web.Request) -> web.Response:
    """One resource, with the writes that are in flight, its pause, and its newest events."""
    store, resource = request.app[RUNNING].store, _named(request)
    record, pause = await asyncio.gather(store.look(resource), pause_views.pause_of(store, resource))
    if record is None:
        detail = "Nothing is known of this resource: it was never written, leased or advanced."
        beside = "" if pause is None else " It is paused: the first write will be refused."
        return refusal(Refused(NO_SUCH_RESOURCE, detail + beside, Facts(resource=resource)))
    tickets, events = await asyncio.gather(
        resource_views.tickets(store, resource), audit_views.events(store, Sought(resource=resource), None)
    )
    return web.json_response(
        _members(record)
        | {
            "pause": None if pause is None else pause_members(pause),
            "tickets": [_ticket(ticket) for ticket in tickets],
            "events": [event_members(event) for event in events.items[:_NEWEST]],
        }
    )


async def advance_resource(request: web.Request) -> web.Response:
    """Raise the epoch, to the one that the body names or to the next: every older one is refused from here on."""
    running, resource = request.app[RUNNING], _named(request)
    document = await read_document(request, frozenset({"epoch"}))
    wanted = document if isinstance(document, Refused) else _read_epoch(document)
    if isinstance(wanted, Refused):
        return refusal(wanted)
    unknown = await check_name(running, resource)
    if unknown is not None:
        return refusal(unknown)
    rule = running.rules().rule_for_resource(resource, None)
    # Who grants epochs elsewhere counts them: a number of milliseconds would shut out all that follow.
    by_clock = rule is None or rule.authority == "lease"
    epoch = await running.store.advance(resource, wanted, secrets.token_hex(8), by_clock=by_clock)
    if isinstance(epoch, Refused):
        return refusal(epoch)
    running.log.warning("an operator advanced a resource", resource=resource, epoch=str(epoch))
    return web.json_response({"resource": resource, "epoch": str(epoch)})


async def reset_resource(request: web.Request) -> web.Response:
    """Forget the epoch, as of a resource that has no larger one left: whoever comes next begins anew."""
    running, resource = request.app[RUNNING], _named(request)
    document = await read_document(request, frozenset({"note", "epoch"}))
    if isinstance(document, Refused):
        return refusal(document)
    note, looked_at = note_of(document), _read_epoch(document)
    if isinstance(note, Refused):
        return refusal(note)
    if isinstance(looked_at, Refused):
        return refusal(looked_at)
    unknown = await check_name(running, resource)
    if unknown is not None:
        return refusal(unknown)
    epoch = await resets.reset(running.store, resource, note=note, by=OPERATOR, epoch=looked_at)
    if isinstance(epoch, Refused):
        return refusal(epoch)
    running.log.warning("an operator forgot the epoch of a resource", resource=resource, epoch=str(epoch), note=note)
    return web.json_response({"resource": resource, "forgotten_epoch": str(epoch)})


async def prune_resources(request: web.Request) -> web.Response:
    """Collect some more of the records whose leases ended long ago; `next` until there are no more."""
    document = await read_document(request, frozenset({"prefix", "cursor", "dry_run"}))
    if isinstance(document, Refused):
        return refusal(document)
    prefix, cursor, looks = document.get("prefix", ""), document.get("cursor"), document.get("dry_run", False)
    if not isinstance(prefix, str) or not isinstance(cursor, str | None) or not isinstance(looks, bool):
        detail = "Nothing was done: `prefix` and `cursor` must be texts, and `dry_run` true or false."
        return refusal(Refused(BAD_REQUEST, detail))
    running = request.app[RUNNING]
    found = await collect.collect(running.store, prefix, cursor, looks=looks)
    if found.collected and not looks:
        running.log.warning("an operator pruned resources", prefix=prefix, pruned=found.collected)
    told = {} if found.incomplete is None else {"incomplete": found.incomplete}
    return web.json_response({"looked_at": found.looked_at, "pruned": found.collected, "next": found.next} | told)


def _named(request: web.Request) -> ResourceKey:
    """The resource in the path, decoded once: a resource's name may hold slashes and percent signs of its own."""
    return ResourceKey(request.match_info["resource"])


def _read_epoch(document: Document) -> Epoch | Refused | None:
    named = document.get("epoch")
    if named is None:
        return None
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


def _ticket(ticket: resource_views.Ticket) -> dict[str, object]:
    return {
        "id": ticket.id,
        "epoch": str(ticket.epoch),
        "holder": ticket.holder,
        "gateway": ticket.gateway,
        "upstream": ticket.upstream,
        "rule": ticket.rule,
        "intent": ticket.intent,
        "attempt": ticket.attempt,
        "deadline": instant(ticket.deadline_ms),
        "unfinished": ticket.unfinished,
    }
