"""The store: whether it still has what it acknowledged, and the operator's way to go on where it has not."""

from aiohttp import web

from gateway.admin.answer import refusal
from gateway.admin.document import Document, note_of, read_document
from gateway.admin.query import read_query
from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.decision import BAD_REQUEST, WRONG_STORE_STATE, Refused
from gateway.core.epoch import parse_u64
from gateway.core.problem import instant
from gateway.store.loss import losses
from gateway.store.loss.losses import Loss, ServerState


async def show_store(request: web.Request) -> web.Response:
    """Each server of the store: which incarnation it is, what it lost last, and who leaves marks there."""
    query = read_query(request)
    if isinstance(query, Refused):
        return refusal(query)
    return web.json_response(_members(await losses.states(request.app[RUNNING].store)))


async def accept_loss(request: web.Request) -> web.Response:
    """Let writes go on after a loss; what waited in the store then is unknown from now on."""
    document = await read_document(request, frozenset({"note", "floor"}))
    if isinstance(document, Refused):
        return refusal(document)
    note, looked_at = note_of(document), _read_floor(document)
    if isinstance(note, Refused):
        return refusal(note)
    if isinstance(looked_at, Refused):
        return refusal(looked_at)
    running = request.app[RUNNING]
    became_unknown = await losses.accept(running.store, note=note, by=OPERATOR, looked_at=looked_at)
    if isinstance(became_unknown, Refused):
        return refusal(became_unknown)
    if became_unknown is None:
        detail = "Nothing was done: the store has lost nothing that was not accepted before; see `GET /api/v1/store`."
        return refusal(Refused(WRONG_STORE_STATE, detail))
    running.log.warning("an operator accepted what the store lost", became_unknown=became_unknown, note=note)
    shown = _members(await losses.states(running.store))
    return web.json_response({"became_unknown": became_unknown, "store": shown})


def _read_floor(document: Document) -> int | Refused | None:
    """The largest of the losses that were looked at, where it is named."""
    if "floor" not in document:
        return None
    named = document["floor"]
    floor = parse_u64(named) if isinstance(named, str) else None
    detail = 'Nothing was done: `floor` must be digits, as "floor" of `GET /api/v1/store` has them.'
    return Refused(BAD_REQUEST, detail) if floor is None else floor


def _members(states: tuple[ServerState, ...]) -> dict[str, object]:
    away = [state.away for state in states if state.away is not None]
    told = {"incomplete": f"{len(away)} of {len(states)} servers do not answer: {'; '.join(away)}"} if away else {}
    return {
        "regressed": any(state.is_regressed for state in states),
        "servers": [_server_members(state) for state in states],
    } | told


def _server_members(state: ServerState) -> dict[str, object]:
    return {
        "shard": state.shard,
        "away": state.away,
        "incarnation": state.incarnation,
        "began_at": None if state.began_at_ms is None else instant(state.began_at_ms),
        "loss": None if state.loss is None else _loss_members(state.loss),
        "marks": [
            {"process": mark.process, "number": mark.number, "made_at": instant(mark.made_at_ms)}
            for mark in state.marks
        ],
    }


def _loss_members(loss: Loss) -> dict[str, object]:
    return {
        "since": instant(loss.since_ms),
        "why": loss.why,
        "by": loss.by,
        "floor": loss.floor,
        "accepted_at": None if loss.accepted_at_ms is None else instant(loss.accepted_at_ms),
        "accepted_by": loss.accepted_by or None,
        "note": loss.note or None,
    }
