"""What has to be here whole: a body that is kept with its request, and an answer that nobody waits for."""

from gateway.core.faults import BodyTooLarge
from gateway.flow.keeping import Keeping
from gateway.flow.ports import Answer, BodySource

# An answer up to this size is read at once.
_SMALL = 64 << 10


async def read_whole(body: BodySource, limit: int) -> bytes:
    """The body as it came, however much of it was read before. Raises BodyTooLarge, CallerGone."""
    if body.length is not None and body.length > limit:
        raise BodyTooLarge(f"the body is larger than {limit} bytes")
    if not body.rewind():
        return await body.hold(limit)
    pieces = []
    while piece := await body.read():
        pieces.append(piece)
    return b"".join(pieces)


async def read_answer(answer: Answer, keeping: Keeping) -> None:
    """Read an answer to its end, whatever is kept of it. Raises BrokenAnswer."""
    piece, whole = await answer.read_small(_SMALL)
    keeping.add(piece)
    while not whole:
        piece = await answer.read(None)
        keeping.add(piece)
        whole = not piece
