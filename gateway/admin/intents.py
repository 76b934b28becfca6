"""Intents: what became of each, and an operator's word on one of which nobody knows."""

import asyncio
import json

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.approver import out_of_sight, sees
from gateway.admin.audit import event_members
from gateway.admin.document import Document, note_of, read_document
from gateway.admin.quarantine import attachment, request_members
from gateway.admin.query import read_query
from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.caller import ANONYMOUS
from gateway.core.compensation import Compensation, Unavailable, compensating_digest
from gateway.core.decision import BAD_REQUEST, NO_SUCH_INTENT, WRONG_STATE, Facts, Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import TOOK_EFFECT
from gateway.core.parking import Parking
from gateway.core.pause import WidePause
from gateway.core.problem import instant
from gateway.core.record import IntentRecord, shown_answer
from gateway.core.write import ResourceKey
from gateway.policy.reading.jsonbody import Number
from gateway.store.deliveries import due_at_ms
from gateway.store.fence import FenceStore
from gateway.store.intents import Pause, Resolve, resolve
from gateway.store.kept_requests import digest_request
from gateway.store.keys import intent_id
from gateway.store.parking import request_of
from gateway.store.views import audit_views, intent_views
from gateway.store.views.audit_views import Sought
from gateway.store.views.compensation_views import compensation_of
from gateway.store.views.intent_views import LISTED, Flight
from gateway.store.views.pause_views import pause_over
from gateway.store.views.resource_views import Ticket

_KNOWN = frozenset({"outcome", "note", "attempt"})
# More than an intent ever has: the scripts keep its attempts in three bytes.
_MOST_ATTEMPTS = (1 << 24) - 1
# A pause may keep these from being sent.
_WAITS = ("awaiting_approval", "queued")


async def list_intents(request: web.Request) -> web.Response:
    """A page of the intents of a state, the newest first; unknown ones where no state is named."""
    query = read_query(request, "state", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    store, cursor = request.app[RUNNING].store, query.get("cursor")
    wanted = query.get("state", "unknown")
    if not sees(request, wanted):
        return refusal(out_of_sight())
    for state in LISTED:
        if state == wanted:
            found = await intent_views.intents(store, state, cursor)
            seen = [record for record in found.items if _sees(request, record)]
            items = [_item(record) for record in seen]
            if state == "awaiting_approval":
                rules = await asyncio.gather(*(_is_overtaken(store, record) for record in seen))
                items = [item | {"overtaken": overtaken} for item, overtaken in zip(items, rules, strict=True)]
            return page(items, found.next, found.incomplete)
    if wanted == "in_flight":
        flying = await intent_views.in_flight(store, cursor)
        return page([_flight_item(flight) for flight in flying.items], flying.next, flying.incomplete)
    states = ", ".join((*LISTED, "in_flight"))
    return refusal(Refused(BAD_REQUEST, f"There is no such state in the list of intents; ask for one of: {states}."))


async def show_intent(request: web.Request) -> web.Response:
    """One intent with its answer, as far as it is kept, and its newest events."""
    store, id = request.app[RUNNING].store, request.match_info["id"]
    found = await _find(store, id)
    if found is None:
        return refusal(_no_such(id))
    if not _sees(request, found):
        return refusal(out_of_sight())
    if isinstance(found, Flight):
        return _answer(_flight_item(found), await _events(store, found.ticket.id, 0))
    return await answer_record(request, found)


async def export_request_body(request: web.Request) -> web.Response:
    """The body of the request that is kept to be sent, byte for byte, as a file to be stored.

    `digest`: of the request that is meant. Another one may have taken its place under the same id.
    """
    store, query = request.app[RUNNING].store, read_query(request, "digest")
    if isinstance(query, Refused):
        return refusal(query)
    found = await find_record(request)
    if isinstance(found, Refused):
        return refusal(found)
    if not _sees(request, found):
        return refusal(out_of_sight())
    facts = Facts(found.resource, intent=found.id, intent_state=found.state)
    kept = None if found.parking is None else await request_of(store, found.id)
    if kept is None:
        detail = "Of this intent no request is kept: it was sent, or it has ended."
        return refusal(Refused(WRONG_STATE, detail, facts))
    digest = query.get("digest")
    if digest is not None and digest != await asyncio.to_thread(digest_request, kept):
        detail = "Nothing was exported: `digest` is not that of the request that is kept now. Look at it again."
        return refusal(Refused(WRONG_STATE, detail, facts))
    return attachment(kept.body or b"", f"{found.id}.bin")


async def resolve_intent(request: web.Request) -> web.Response:
    """An operator says what became of an unknown intent; repeated with the same note it is answered the same way."""
    running = request.app[RUNNING]
    document = await read_document(request, _KNOWN)
    asked, attempt = _read_resolution(document), _read_attempt(document)
    if isinstance(asked, Refused):
        return refusal(asked)
    if isinstance(attempt, Refused):
        return refusal(attempt)
    found = await find_record(request)
    record = found if isinstance(found, Refused) else await resolve(running.store, found, asked, attempt)
    if isinstance(record, Refused):
        return refusal(record)
    running.log.warning("an operator resolved an intent", intent=record.id, state=record.state, note=asked.reason)
    return _answer(_members(record), await _events(running.store, record.id, record.created_at_ms), record.evidence)


async def find_record(request: web.Request) -> IntentRecord | Refused:
    """The record of the intent that the path names. Refused: `no-such-intent`, `wrong-state` where it has none yet."""
    store, id = request.app[RUNNING].store, request.match_info["id"]
    found = await _find(store, id)
    if found is None:
        return _no_such(id)
    return _still_in_flight(found) if isinstance(found, Flight) else found


async def answer_record(request: web.Request, record: IntentRecord) -> web.Response:
    """A record with all that is known of it: the request too, as long as it is kept to be sent."""
    store = request.app[RUNNING].store
    members, kept = _members(record), None
    if record.parking is not None:
        kept = await request_of(store, record.id)
        members |= {"request": None if kept is None else request_members(kept)}
    if record.state in _WAITS:
        members |= {"held_by": _holding(await pause_over(store, record))}
    if record.state == "awaiting_approval":
        members |= {"overtaken": await _is_overtaken(store, record)}
    if record.state == "queued":
        due_ms = await due_at_ms(store, record.resource)
        members |= {"next_delivery_at": None if due_ms is None else instant(due_ms)}
    if record.state in TOOK_EFFECT:
        members |= _compensation(record, await compensation_of(store, record))
    return _answer(members, await _events(store, record.id, record.created_at_ms), record.evidence)


async def _is_overtaken(store: FenceStore, record: IntentRecord) -> bool | None:
    """Whether a newer epoch rules by now, so that nobody can approve it but as its successor repeats it; None where the
    store does not tell."""
    try:
        fence = await store.look(record.resource)
    except StoreUnavailable:
        return None
    return fence is not None and record.epoch < fence.epoch


async def _find(store: FenceStore, id: str) -> IntentRecord | Flight | None:
    """A record; or a write in flight that has none yet, or that is named by its ticket."""
    record = await store.recall(id)
    if record is not None:
        return record
    flight = await intent_views.flight(store, id)
    return flight.record or flight if flight is not None else None


def _sees(request: web.Request, found: IntentRecord | Flight) -> bool:
    if isinstance(found, Flight):
        return sees(request, "in_flight")
    return sees(request, found.state, found.resource, found.tenant)


async def _events(store: FenceStore, id: str, since_ms: int) -> list[dict[str, object]]:
    found = await audit_views.events(store, Sought(intent=id, since_ms=since_ms), None)
    return [event_members(event) for event in found.items]


def _read_resolution(document: Document | Refused) -> Resolve | Refused:
    if isinstance(document, Refused):
        return document
    note = note_of(document)
    if isinstance(note, Refused):
        return note
    match document.get("outcome"):
        case "applied" | "not_applied" as outcome:
            return Resolve(outcome, "operator", note, OPERATOR)
        case _:
            detail = "Nothing was done: `outcome` must be applied or not_applied; not_applied lets a retry send again."
            return Refused(BAD_REQUEST, detail)


def _read_attempt(document: Document | Refused) -> int | Refused | None:
    """Which attempt was looked at, where it is said: one that came after it is then not resolved."""
    if isinstance(document, Refused) or "attempt" not in document:
        return None
    attempt = document["attempt"]
    if isinstance(attempt, Number) and attempt.spelled.isdecimal() and int(attempt.spelled) <= _MOST_ATTEMPTS:
        return int(attempt.spelled)
    detail = "Nothing was done: `attempt` must be a number, as `attempts` of `GET /api/v1/intents/ID` has it."
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
        **({} if record.parking is None else _parked(record, record.parking)),
    }


def _parked(record: IntentRecord, parking: Parking) -> dict[str, object]:
    """What an approver needs, and whoever wonders why nothing was sent. `digest` names the request that is kept, and
    `since` tells it from the same one, kept at another time."""
    approval = parking.approval
    return {
        "target": record.target,
        "principal": record.principal or ANONYMOUS,
        "risk": parking.risk,
        "digest": parking.digest,
        "since": instant(parking.since_ms),
        "failures": parking.failures,
        "approval": None
        if approval is None
        else {"verdict": approval.verdict, "expires_at": instant(approval.expires_at_ms), "by": approval.by or None},
    }


def _holding(pause: Pause | WidePause | None) -> dict[str, object] | None:
    """The pause that keeps it from being sent. Its reason is the operators' own: an approver need not be one."""
    if pause is None:
        return None
    stops = str(pause.scope) if isinstance(pause, WidePause) else f"all writes of {pause.resource}"
    return {"id": pause.id, "stops": stops}


def _compensation(record: IntentRecord, found: Compensation | None) -> dict[str, object]:
    """What would take it back, or has; nothing where its rule had no compensation."""
    if found is None:
        return {}
    undo = found.undo
    shown = {"unavailable": undo.why} if isinstance(undo, Unavailable) else {"request": request_members(undo)}
    by = None if record.state == "applied" else intent_id(record.resource, compensating_digest(record.id))
    return {"compensation": shown, "written_since": found.written_since, "compensated_by": by}


def _members(record: IntentRecord) -> dict[str, object]:
    return _item(record) | {
        "tenant": record.tenant or None,
        "target": record.target or None,
        "resolved_by": record.resolved_by,
        **({} if record.compensates is None else {"compensates": record.compensates}),
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
