"""What has to be here whole: a body that is kept with its request, and an answer that nobody waits for."""

from io import BytesIO

from gateway.core.compensation import Kept
from gateway.core.faults import BodyTooLarge, BrokenAnswer
from gateway.core.outcome import Outcome
from gateway.flow.keeping import Keeping
from gateway.flow.ports import Answer, BodySource
from gateway.flow.room import PATIENCE_S, Room

# Of a body whose end is still to come, so much is in memory; the rest is on disk.
IN_MEMORY = 256 << 10
# An answer up to this size is read at once.
_SMALL = 64 << 10


async def read_to_end(body: BodySource) -> int:
    """Wait for the end of the body, however slow its caller is, and return its size. What is large is on disk then.

    Raises BodyTooLarge, CallerGone, NoRoom.
    """
    if not body.rewind():
        await body.spool(not_read, IN_MEMORY)
    assert body.length is not None, "of a body that is kept the length is known"
    return body.length


async def read_whole(body: BodySource, limit: int) -> bytes:
    """The body as it came, however much was read before; it can be read again. Raises BodyTooLarge, CallerGone."""
    if body.length is not None and body.length > limit:
        raise BodyTooLarge(f"the body is larger than {limit} bytes")
    if not body.rewind():
        return await body.hold(limit)
    whole = BytesIO()
    while piece := await body.read():
        whole.write(piece)
    body.rewind()
    return whole.getvalue()


async def at_hand(body: BodySource, room: Room, limit: int) -> bytes | None:
    """The body if all of it is here: on the disk too, up to `limit` bytes and once there is room.

    None also where it was not read before and is larger than what may be sent: of this one nothing is.
    """
    try:
        held = body.take_buffered()
    except BodyTooLarge:
        return None
    size = body.length
    if held is not None or size is None or size > limit or not body.rewind():
        return held
    async with room.taken(size, PATIENCE_S) as has_room:
        return await read_whole(body, size) if has_room else None


async def read_answer(answer: Answer, keeping: Keeping) -> tuple[Outcome, str, Kept | None]:
    """Read an answer to its end: how its write is settled by it, why, and what is kept of it."""
    try:
        piece, whole = await answer.read_small(_SMALL)
        keeping.add(piece)
        while not whole:
            piece = await answer.read(None)
            keeping.add(piece)
            whole = not piece
    except BrokenAnswer as broken:
        return "unknown", str(broken), None
    outcome, kept = keeping.concluded()
    return outcome, f"answered {answer.status}", kept


def not_read(_piece: bytes) -> None:
    """For `spool`: nobody looks at the body on its way."""
