"""The audit trail as operators read it."""

from collections.abc import Mapping
from datetime import datetime

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.query import read_query
from gateway.admin.running import RUNNING
from gateway.core.decision import BAD_REQUEST, Refused
from gateway.core.epoch import parse_u64
from gateway.core.problem import instant
from gateway.core.write import ResourceKey
from gateway.policy.units import parse_duration
from gateway.store.keys import shard_of_id
from gateway.store.views import audit_views
from gateway.store.views.audit_views import Event, Sought
from gateway.store.views.page import PAGE

# An export takes as few calls as it can, and no call longer than half a second.
_LONGEST_PAGE = 1000


async def list_events(request: web.Request) -> web.Response:
    """A page of all events, of a resource's or of an intent's, the newest first."""
    query = read_query(request, "resource", "intent", "since", "until", "limit", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    store = request.app[RUNNING].store
    resource, intent = query.get("resource"), query.get("intent")
    if intent is not None and shard_of_id(intent) is None:
        detail = "`intent` is no id of an intent: take it from a problem, a log line or the list of intents."
        return refusal(Refused(BAD_REQUEST, detail))
    since_ms = _read_instant(query, "since", store.expected_ms())
    until_ms = _read_instant(query, "until", store.expected_ms())
    count = _read_limit(query)
    if isinstance(since_ms, Refused):
        return refusal(since_ms)
    if isinstance(until_ms, Refused):
        return refusal(until_ms)
    if isinstance(count, Refused):
        return refusal(count)
    sought = Sought(None if resource is None else ResourceKey(resource), intent, since_ms or 0, until_ms)
    found = await audit_views.events(store, sought, query.get("cursor"), count)
    return page([event_members(event) for event in found.items], found.next, found.incomplete)


def event_members(event: Event) -> dict[str, object]:
    return {
        "at": instant(event.at_ms),
        "number": event.number,
        "intent": event.intent or None,
        "from": event.before or None,
        "to": event.after,
        "resource": event.resource or None,
        "ticket": event.ticket or None,
        "epoch": event.epoch or None,
        "holder": event.holder or None,
        "upstream": event.upstream or None,
        "rule": event.rule or None,
        "input": event.input or None,
        "reason": event.reason,
        "by": event.by,
        "principal": event.principal or None,
        "trace_id": event.trace_id or None,
    }


def _read_limit(query: Mapping[str, str]) -> int | Refused:
    count = parse_u64(query.get("limit", str(PAGE)))
    if count is None or not 0 < count <= _LONGEST_PAGE:
        return Refused(BAD_REQUEST, f"`limit` must be a whole number from 1 to {_LONGEST_PAGE}.")
    return count


def _read_instant(query: Mapping[str, str], name: str, now_ms: int) -> int | Refused | None:
    """Milliseconds since 1970 by the store's clock: of an instant, or of a duration before now; None if not named."""
    text = query.get(name)
    if text is None:
        return None
    ago_s = parse_duration(text)
    if ago_s is not None:
        return max(0, now_ms - round(ago_s * 1000))
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        detail = f"`{name}` must be a duration such as 90s, 1h or 7d, or an instant such as 2026-03-01T08:00:00Z"
        return Refused(BAD_REQUEST, f"{detail} (a plus sign in a query is spelled %2B).")
    return max(0, round(at.timestamp() * 1000))
