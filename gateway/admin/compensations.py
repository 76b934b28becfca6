"""An operator takes an applied intent back, and sees beforehand what would be sent, and what was written since."""

from aiohttp import web

from gateway.admin.answer import refusal
from gateway.admin.document import read_document, read_text
from gateway.admin.intents import answer_record, find_record
from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.decision import Refused

# Enough for why it is taken back.
_LONGEST_NOTE = 500


async def compensate_intent(request: web.Request) -> web.Response:
    """Send its compensation, once; answers the intent as it is then, `compensating` if that takes its time."""
    running = request.app[RUNNING]
    document = await read_document(request, frozenset({"note"}))
    note = document if isinstance(document, Refused) else read_text(document, "note", _LONGEST_NOTE)
    if isinstance(note, Refused):
        return refusal(note)
    found = await find_record(request)
    record = found if isinstance(found, Refused) else await running.compensating.run(found, note, OPERATOR)
    if isinstance(record, Refused):
        return refusal(record)
    running.log.warning("an operator compensated an intent", intent=record.id, state=record.state, note=note)
    return await answer_record(request, record)
