"""Notifications that their receivers do not have: those that wait for an attempt, and the dead letters."""

from aiohttp import web

from gateway.admin.answer import page, refusal
from gateway.admin.document import read_document
from gateway.admin.query import read_query
from gateway.admin.running import RUNNING
from gateway.core.decision import BAD_REQUEST, NO_SUCH_NOTIFICATION, Refused
from gateway.core.problem import instant
from gateway.store.keys import LetterState
from gateway.store.views.letters import Letter, letters, resend


async def list_letters(request: web.Request) -> web.Response:
    """A page of the dead letters, the newest first, where no state is named; or of what waits to be sent."""
    query = read_query(request, "state", "cursor")
    if isinstance(query, Refused):
        return refusal(query)
    state: LetterState
    match query.get("state", "dead"):
        case "dead" | "waiting" as named:
            state = named
        case _:
            return refusal(Refused(BAD_REQUEST, "There is no such state of notifications; ask for dead or waiting."))
    found = await letters(request.app[RUNNING].store, state, query.get("cursor"))
    return page([_members(letter, state) for letter in found.items], found.next, found.incomplete)


async def retry_letter(request: web.Request) -> web.Response:
    """Have one sent now, and its attempts counted anew; a repeated call does it again."""
    running, id = request.app[RUNNING], request.match_info["id"]
    document = await read_document(request, frozenset())
    if isinstance(document, Refused):
        return refusal(document)
    letter = await resend(running.store, id)
    if letter is None:
        detail = "Nothing was done: there is no such notification. It was received, is too old, or its id has a slip."
        return refusal(Refused(NO_SUCH_NOTIFICATION, detail))
    running.log.warning("an operator has a notification sent again", notification=letter.notification.id)
    return web.json_response(_members(letter, "waiting"))


def _members(letter: Letter, state: LetterState) -> dict[str, object]:
    told = letter.notification
    return {
        "id": told.id,
        "type": told.type,
        "state": state,
        "occurred_at": instant(told.at_ms),
        "intent": told.intent,
        "intent_state": told.state,
        "upstream": told.upstream,
        "rule": told.rule,
        "resource": told.resource,
        "epoch": str(told.epoch),
        "holder": told.holder or None,
        "reason": told.reason,
        "attempts": letter.attempts,
        "failure": letter.failure or None,
        "next_attempt_at": instant(letter.at_ms) if state == "waiting" else None,
        "died_at": instant(letter.at_ms) if state == "dead" else None,
    }
