"""A refusal as RFC 9457 problem members. Numbers that pass 2^53 are strings of digits."""

import json
from datetime import UTC, datetime

from gateway.core.decision import Facts, Refused

CONTENT_TYPE = b"application/problem+json"
# To agents. JSON has no such parameter, and to whoever knows the type it means nothing. Octokit shows the text of an
# answer in another type than `application/json` only where it finds this one.
CONTENT_TYPE_WITH_CHARSET = CONTENT_TYPE + b"; charset=utf-8"


def instant(ms: int) -> str:
    """RFC 3339, in UTC, to the millisecond."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def members(refused: Refused) -> dict[str, object]:
    """The problem's members, in the order that people read them."""
    decision, facts = refused.decision, refused.facts
    body: dict[str, object] = {
        "type": f"urn:fencegate:{decision.name}",
        "title": decision.title,
        "status": decision.status,
        "detail": refused.detail,
        "action": decision.action,
    }
    body.update(_fact_members(facts))
    return body


def _fact_members(facts: Facts) -> dict[str, object]:
    found: dict[str, object] = {}
    if facts.resource is not None:
        found["resource"] = facts.resource
    if facts.epoch is not None:
        found["epoch"] = str(facts.epoch)
    if facts.highest_epoch is not None:
        found["highest_epoch"] = str(facts.highest_epoch)
    if facts.revision is not None:
        found["revision"] = str(facts.revision)
    if facts.holder is not None:
        found["holder"] = facts.holder
    if facts.expires_at_ms is not None:
        found["expires_at"] = instant(facts.expires_at_ms)
    if facts.intent is not None:
        found["intent"] = {"id": facts.intent} | ({"state": facts.intent_state} if facts.intent_state else {})
    if facts.quarantine is not None:
        found["quarantine"] = facts.quarantine
    if facts.retry_after_s is not None:
        found["retry_after_s"] = facts.retry_after_s
    if facts.trace_id is not None:
        found["trace_id"] = facts.trace_id
    if facts.see is not None:
        found["see"] = facts.see
    return found


def encoded(text: str) -> bytes:
    """JSON as UTF-8. What a caller sent and is no text, kept as lone surrogates, becomes the escape that JSON has."""
    return text.encode("utf-8", "backslashreplace")


def _where_clients_look(refused: Refused, *, is_graphql: bool) -> dict[str, object]:
    """RFC 9457, section 3.2: extension members. Clients of one API know its own errors only, most often by one of these
    two. Stripe's for Node looks at `error` and not at the status, and would take a refusal for what it had asked for.
    """
    decision, detail = refused.decision, refused.detail
    if decision.status is None or decision.status < 400:
        # What was taken, and is sent later, is no error.
        return {}
    found: dict[str, object] = {
        "message": detail,
        "error": {"type": "fencegate", "code": decision.name, "message": detail},
    }
    if is_graphql:
        found["errors"] = [{"message": detail, "extensions": {"code": decision.name}}]
    return found


def render(refused: Refused, *, is_graphql: bool = False) -> bytes:
    """The document as agents get it, of whatever client. `is_graphql`: with the `errors` of an answer to GraphQL."""
    body = members(refused) | _where_clients_look(refused, is_graphql=is_graphql)
    return encoded(json.dumps(body, ensure_ascii=False, separators=(", ", ": ")))
