"""Applied intents with a compensation, and what takes them back, straight at the store."""

from gateway.core.compensation import Undo, Undoable, compensating_intent
from gateway.core.decision import Refused
from gateway.core.intent import IntentId
from gateway.core.kept_request import KeptRequest
from gateway.core.record import IntentRecord
from gateway.core.rule import Rule
from gateway.core.write import Admitted, TicketId, Waiting, Write
from gateway.store.compensations import Compensations
from gateway.store.fence import FenceStore
from gateway.store.keys import intent_id
from tests.store.fences import ANSWER, HELD, INTENT, RESOURCE, bare, ended, keyed

UNDO = KeptRequest("DELETE", "/mails/1?by=ann", ((b"User-Agent", b"fencegate"),), b"")
UNDOABLE = Undoable(ANSWER, UNDO)


async def applied(store: FenceStore, undo: Undo = UNDO, of: Rule = HELD) -> IntentRecord:
    """An applied intent that can be taken back."""
    await ended(store, keyed(bare(42, of=of)), "applied", Undoable(ANSWER, undo))
    return await record(store)


async def record(store: FenceStore, id: IntentId = INTENT) -> IntentRecord:
    found = await store.recall(id)
    assert found is not None
    return found


def taking_back(first: IntentRecord, of: Rule = HELD) -> Write:
    """The write that takes it back."""
    return Write(of, RESOURCE, first.epoch, None, None, intent=compensating_intent(first.id, first.tenant, UNDO))


def second_id(first: IntentRecord) -> IntentId:
    intent = taking_back(first).intent
    assert intent is not None
    return intent_id(RESOURCE, intent.digest)


async def asked(
    store: FenceStore, first: IntentRecord, ticket: TicketId | None = None, of: Rule = HELD, *, queued: bool = False
) -> Admitted | Waiting | Refused:
    """Ask for the ticket."""
    write = taking_back(first, of)
    one = ticket or store.new_ticket(RESOURCE)
    return await Compensations(store).admit(first, write, one, queued=queued, note="sent in error", by="operator")


async def begun(store: FenceStore, first: IntentRecord) -> Admitted:
    """What takes it back is in flight."""
    got = await asked(store, first)
    assert isinstance(got, Admitted), got
    return got
