"""A call of a tool goes out under an id of its own, and its answer comes back under its caller's.

Servers look for the stream of an answer by the id of its call. Where another call of the session has the same id, the
first answer of the two ends both: a write would seem to have ended while its tool is still at work, and the next
holder be let in. MCP forbids such ids, which keeps nobody from sending them. An id that nobody else knows has no twin.
"""

import secrets

from gateway.core.call import Call
from gateway.flow.ports import Body

# Digits that every reader of numbers keeps, also one that writes no more than 14 of a double's.
_DIGITS = 14
_TEXT_BYTES = 16


class OwnId:
    """One call's. `spelled` is never shorter than the caller's, which takes its place in answers with blanks before it:
    no announced length changes. A number stays a number where it can."""

    __slots__ = ("_callers", "_held", "call", "id", "spelled")

    def __init__(self, call: Call) -> None:
        self.call = call
        if call.spelled.startswith(b'"') or len(call.spelled) > _DIGITS:
            self.id = secrets.token_hex(_TEXT_BYTES).ljust(len(call.spelled), "0")
            self.spelled = b'"%b"' % self.id.encode("ascii")
        else:
            self.id = str(10 ** (_DIGITS - 1) + secrets.randbelow(9 * 10 ** (_DIGITS - 1)))
            self.spelled = self.id.encode("ascii")
        self._callers = call.spelled.rjust(len(self.spelled))
        self._held = b""

    def restored(self, text: bytes) -> bytes:
        """A whole text, with the caller's id in it and nothing else."""
        return text.replace(self.spelled, self.call.spelled)

    def feed(self, piece: bytes) -> bytes:
        """What of an answer can be passed on by now: the next piece, but for an end that may be the id's beginning."""
        text = (self._held + piece).replace(self.spelled, self._callers)
        lengths = range(min(len(self.spelled), len(text)), 0, -1)
        held = next((length for length in lengths if self.spelled.startswith(text[-length:])), 0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def rest(self) -> bytes:
        """What was held back, once nothing follows."""
        held, self._held = self._held, b""
        return held


class Respelled:
    """Implements `Body`: a call's, with its own id in it."""

    __slots__ = ("_at", "_body", "_own")

    def __init__(self, body: Body, own: OwnId) -> None:
        self._body = body
        self._own = own
        self._at = 0

    @property
    def length(self) -> int | None:
        length, call = self._body.length, self._own.call
        return None if length is None else length + len(self._own.spelled) - len(call.spelled)

    async def begin(self) -> None:
        await self._body.begin()

    def take_buffered(self) -> bytes | None:
        whole = self._body.take_buffered()
        return None if whole is None else self._with_own(whole, 0)

    async def read(self) -> bytes:
        while piece := await self._body.read():
            at = self._at
            self._at += len(piece)
            # Of a caller's id that lies on two pieces nothing may be left of the first one.
            if shown := self._with_own(piece, at):
                return shown
        return b""

    def rewind(self) -> bool:
        self._at = 0
        return self._body.rewind()

    def _with_own(self, piece: bytes, at: int) -> bytes:
        """A piece that begins `at` bytes behind the body's beginning."""
        call = self._own.call
        start, end = call.at - at, call.at + len(call.spelled) - at
        if end <= 0 or start >= len(piece):
            return piece
        # Where the id begins before this piece, its own was in the one before.
        own = self._own.spelled if start >= 0 else b""
        return piece[: max(0, start)] + own + piece[end:]
