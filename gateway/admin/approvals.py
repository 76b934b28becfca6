"""Somebody's word on what waits: approved or denied, once; and on what has failed: sent again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from aiohttp import web

from gateway.admin.answer import refusal
from gateway.admin.approver import find_approver, forbidden, principal_of
from gateway.admin.document import Document, note_of, read_document, read_text
from gateway.admin.intents import answer_record, find_record
from gateway.admin.running import OPERATOR, RUNNING, Running
from gateway.core.caller import Caller
from gateway.core.decision import BAD_REQUEST, UNAUTHENTICATED, Facts, Refused
from gateway.core.record import IntentRecord
from gateway.core.write import Write
from gateway.flow.rejudging import NotTaken, judge_again
from gateway.flow.retrying import judge_retry, untaken
from gateway.store.parking import Decide, decide, request_of, retry

_KNOWN = frozenset({"note", "digest", "since"})
_LONGEST_DIGEST = 64
_NO_DIGEST = (
    "Nothing was done: `digest` must be that of the request that was looked at. `GET /api/v1/intents/ID` shows both."
)


async def approve_intent(request: web.Request) -> web.Response:
    """Let it be sent: the request that was kept, and no other."""
    return await _decide(request, "approve")


async def deny_intent(request: web.Request) -> web.Response:
    """Never send it: whoever repeats it is told so."""
    return await _decide(request, "deny")


async def retry_intent(request: web.Request) -> web.Response:
    """Queue a failed intent again."""
    running = request.app[RUNNING]
    asked = _asked(await read_document(request, _KNOWN))
    if isinstance(asked, Refused):
        return refusal(asked)
    found = await find_record(request)
    if isinstance(found, Refused):
        return refusal(found)
    write = await _judged(running, found)
    if isinstance(write, Refused):
        return refusal(write)
    note, digest, since_ms = asked.note, asked.digest, asked.since_ms
    record = await retry(running.store, found, note=note, by=OPERATOR, write=write, digest=digest, since_ms=since_ms)
    if isinstance(record, Refused):
        return refusal(record)
    running.log.warning("an operator had an intent sent again", intent=record.id, note=note)
    return await answer_record(request, record)


async def _judged(running: Running, record: IntentRecord) -> Write | Refused | None:
    """The write by the rules in force, with what it takes of the budgets; None where the store will not send it."""
    if record.state not in ("failed", "not_applied"):
        return None
    kept = await request_of(running.store, record.id)
    rules = running.rules()
    return rules.refused or (None if kept is None else await judge_retry(record, kept, rules))


async def _decide(request: web.Request, verdict: Literal["approve", "deny"]) -> web.Response:
    running, approver = request.app[RUNNING], find_approver(request)
    if isinstance(approver, Refused):
        return refusal(approver)
    asked = _read(await read_document(request, _KNOWN), verdict, approver)
    if isinstance(asked, Refused):
        return refusal(asked)
    found = await find_record(request)
    if isinstance(found, Refused):
        return refusal(found)
    # The body came as slowly as its sender liked, and the right is that of now.
    refused = _not_its_to_decide(request, found, asked)
    if refused is None and verdict == "approve":
        refused = await _untaken(running, found) or _not_its_to_decide(request, found, asked)
    record = refused or await decide(running.store, found, asked)
    if isinstance(record, Refused):
        return refusal(record)
    about = {"intent": record.id, "state": record.state, "by": asked.by, "note": asked.note}
    running.log.warning("an approver decided about an intent", **about)
    return await answer_record(request, record)


def _not_its_to_decide(request: web.Request, found: IntentRecord, asked: Decide) -> Refused | None:
    approver = find_approver(request)
    if isinstance(approver, Refused):
        return approver
    if principal_of(approver) != asked.principal:
        # A principal is its name: the key is another's now.
        detail = f"Nothing was done: {asked.by} has this key no longer. Begin anew."
        return Refused(UNAUTHENTICATED, detail, Facts(resource=found.resource))
    return forbidden(approver, found.resource, found.tenant)


async def _untaken(running: Running, record: IntentRecord) -> Refused | None:
    """The refusal of an approval for what would not be sent. It goes on waiting, for the policy may be mended."""
    kept = await request_of(running.store, record.id) if record.state == "awaiting_approval" else None
    found = None if kept is None else await judge_again(record, kept, running.rules())
    return untaken(record, found, "Deny it, or mend the policy first") if isinstance(found, NotTaken) else None


def _read(document: Document | Refused, verdict: Literal["approve", "deny"], approver: Caller) -> Decide | Refused:
    """What was decided. The digest names the request that the approver has looked at: another one may have taken its
    place under the same id. So may the same one, sent and asked for again: `since` tells the two apart.
    """
    asked = _asked(document)
    if isinstance(asked, Refused):
        return asked
    if verdict == "approve" and asked.digest is None:
        return Refused(BAD_REQUEST, _NO_DIGEST)
    return Decide(verdict, approver.principal, principal_of(approver), asked.note, asked.digest, asked.since_ms)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A note, and what was looked at, as far as it is named: the digest of the request, and since when it waited."""

    note: str
    digest: str | None
    since_ms: int | None


def _asked(document: Document | Refused) -> _Asked | Refused:
    if isinstance(document, Refused):
        return document
    note, since_ms = note_of(document), _since_of(document)
    digest = read_text(document, "digest", _LONGEST_DIGEST) if "digest" in document else None
    if isinstance(note, Refused):
        return note
    if isinstance(digest, Refused):
        return digest
    return since_ms if isinstance(since_ms, Refused) else _Asked(note, digest, since_ms)


def _since_of(document: Document) -> int | Refused | None:
    """Since when that had waited, in milliseconds, where it is said."""
    if "since" not in document:
        return None
    said = document["since"]
    try:
        at = datetime.fromisoformat(said) if isinstance(said, str) else None
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        detail = "Nothing was done: `since` must be an instant, as `since` of `GET /api/v1/intents/ID` has it."
        return Refused(BAD_REQUEST, detail)
    return round(at.timestamp() * 1000)
