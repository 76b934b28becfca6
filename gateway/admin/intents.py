"""Intents: what became of each, and an operator's word on one of which nobody knows."""

import json

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.audit import event_members
from gateway.admin.document import Document, read_document, read_text
from gateway.admin.query import read_query
from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.decision import BAD_REQUEST, NO_SUCH_INTENT, WRONG_STATE, Facts, Refused
from gateway.core.problem import instant
from gateway.core.record import IntentRecord, shown_answer
from gateway.core.write import ResourceKey
from gateway.store import audit_views, intent_views
from gateway.store.audit_views import Sought
from gateway.store.fence import FenceStore
from gateway.store.intent_views import LISTED, Flight
from gateway.store.intents import Resolve, resolve
from gateway.store.views import Ticket

# Enough for what was found out, where, and by whom.
_LONGEST_NOTE = 500
_KNOWN = frozenset({"outcome", "note"})


async def list_intents(request: web.Request) -> web.Response:
    """A page of the intents of a state, the newest first; unknown ones where no state is named."""
    query = read_query(request, "state", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    store, cursor = request.app[RUNNING].store, query.get("cursor")
    wanted = query.get("state", "unknown")
    for state in LISTED:
        if state == wanted:
            found = await intent_views.intents(store, state, cursor)
            return page([_item(record) for record in found.items], found.next)
    if wanted == "in_flight":
        flying = await intent_views.in_flight(store, cursor)
        return page([_flight_item(flight) for flight in flying.items], flying.next)
    states = ", ".join((*LISTED, "in_flight"))
    return refusal(Refused(BAD_REQUEST, f"There is no such state in the list of intents; ask for one of: {states}."))


async def show_intent(request: web.Request) -> web.Response:
    """One intent with its answer, as far as it is kept, and its newest events."""
    store, id = request.app[RUNNING].store, request.match_info["id"]
    found = await _find(store, id)
    if found is None:
        return refusal(_no_such(id))
    if isinstance(found, Flight):
        return _answer(_flight_item(found), await _events(store, found.ticket.id, 0))
    return _answer(_members(found), await _events(store, found.id, found.created_at_ms), found.evidence)


async def resolve_intent(request: web.Request) -> web.Response:
    """An operator says what became of an unknown intent; repeated with the same note it is answered the same way."""
    running, id = request.app[RUNNING], request.match_info["id"]
    asked = _read_resolution(await read_document(request, _KNOWN))
    if isinstance(asked, Refused):
        return refusal(asked)
    found = await _find(running.store, id)
    if found is None:
        return refusal(_no_such(id))
    if isinstance(found, Flight):
        return refusal(_still_in_flight(found))
    record = await resolve(running.store, found, asked)
    if isinstance(record, Refused):
        return refusal(record)
    running.log.warning("an operator resolved an intent", intent=record.id, state=record.state, note=asked.reason)
    return _answer(_members(record), await _events(running.store, record.id, record.created_at_ms), record.evidence)


async def _find(store: FenceStore, id: str) -> IntentRecord | Flight | None:
    """A record; or a write in flight that has none yet, or that is named by its ticket."""
    record = await store.recall(id)
    if record is not None:
        return record
    flight = await intent_views.flight(store, id)
    return flight.record or flight if flight is not None else None


async def _events(store: FenceStore, id: str, since_ms: int) -> list[dict[str, object]]:
    found = await audit_views.events(store, Sought(intent=id, since_ms=since_ms), None)
    return [event_members(event) for event in found.items]


def _read_resolution(document: Document | Refused) -> Resolve | Refused:
    if isinstance(document, Refused):
        return document
    note = read_text(document, "note", _LONGEST_NOTE)
    if isinstance(note, Refused):
        return note
    match document.get("outcome"):
        case "applied" | "not_applied" as outcome:
            return Resolve(outcome, "operator", note, OPERATOR)
        case _:
            detail = "Nothing was done: `outcome` must be applied or not_applied; not_applied lets a retry send again."
            return Refused(BAD_REQUEST, detail)


def _no_such(id: str) -> Refused:
    detail = "Nothing is known of this intent: it was never seen, or its time is over. Look for a slip in its id."
    return Refused(NO_SUCH_INTENT, detail, Facts(intent=id if id.isprintable() else None))


def _still_in_flight(flight: Flight) -> Refused:
    until = instant(flight.ticket.deadline_ms)
    detail = f"Nothing was done: the write is in flight until {until} at the latest, and only an unknown one"
    facts = Facts(resource=flight.resource, intent=flight.ticket.id, intent_state="in_flight")
    return Refused(WRONG_STATE, f"{detail} can be resolved. Look again then.", facts)


def _answer(members: dict[str, object], events: list[dict[str, object]], evidence: bytes = b"") -> web.Response:
    members["events"] = events
    try:
        return web.json_response(members | {"evidence": json.loads(evidence) if evidence else None})
    except (RecursionError, ValueError):
        # An upstream may nest as deeply as can just be read, or spell numbers of any length: it is shown as it came.
        return web.json_response(members | {"evidence": evidence.decode("utf-8")})


def _item(record: IntentRecord) -> dict[str, object]:
    return {
        "id": record.id,
        "key": record.key,
        "state": record.state,
        "upstream": record.upstream,
        "rule": record.rule,
        "resource": record.resource,
        "epoch": str(record.epoch),
        "holder": record.holder or None,
        "created_at": instant(record.created_at_ms),
        "updated_at": instant(record.updated_at_ms),
        "reason": record.reason,
        "attempts": record.attempts,
    }


def _members(record: IntentRecord) -> dict[str, object]:
    return _item(record) | {
        "tenant": record.tenant or None,
        "target": record.target or None,
        "resolved_by": record.resolved_by,
        "response": None if record.answer is None else shown_answer(record.answer),
    }


def _flight_item(flight: Flight) -> dict[str, object]:
    ticket = flight.ticket
    item = _item(flight.record) if flight.record is not None else _unrecorded(ticket, flight.resource)
    return item | {"deadline": instant(ticket.deadline_ms)}


def _unrecorded(ticket: Ticket, resource: ResourceKey) -> dict[str, object]:
    """Of a write without a key there is only its ticket, which does not say when it was admitted."""
    return {
        "id": ticket.id,
        "key": None,
        "state": "in_flight",
        "upstream": ticket.upstream,
        "rule": ticket.rule,
        "resource": resource,
        "epoch": str(ticket.epoch),
        "holder": ticket.holder or None,
        "created_at": None,
        "updated_at": None,
        "reason": "admitted",
        "attempts": ticket.attempt,
    }
