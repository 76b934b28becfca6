"""An operator takes an applied intent back, and sees beforehand what would be sent, and what was written since."""

from aiohttp import web

from gateway.admin.answer import refusal
from gateway.admin.document import read_note
from gateway.admin.intents import answer_record, find_record
from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.decision import Refused


async def compensate_intent(request: web.Request) -> web.Response:
    """Send its compensation, once; answers the intent as it is then, `compensating` if that takes its time."""
    running = request.app[RUNNING]
    note = await read_note(request)
    if isinstance(note, Refused):
        return refusal(note)
    found = await find_record(request)
    record = found if isinstance(found, Refused) else await running.compensating.run(found, note, OPERATOR)
    if isinstance(record, Refused):
        return refusal(record)
    running.log.warning("an operator compensated an intent", intent=record.id, state=record.state, note=note)
    return await answer_record(request, record)
