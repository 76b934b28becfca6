"""A call of a tool goes out under an id of its own, and its answer comes back under its caller's.

Servers look for the stream of an answer by the id of its call. Where another call of the session has the same id, the
first answer of the two ends both: a write would seem to have ended while its tool is still at work, and the next
holder be let in. MCP forbids such ids, which keeps nobody from sending them. An id that nobody else knows has no twin.

It says what its caller's was: an answer may come later and on another stream, where a client comes back for it.
"""

import base64
import re
import secrets

from gateway.core.call import Call
from gateway.flow.ports import Answer, Body
from gateway.policy.reading.mcp import OWN_BEGINNING

_RANDOM_BYTES = 16
_BEGINNING = OWN_BEGINNING.encode()
# Bytes of a caller's id, as it is spelled: all of an own one is held back until it has ended.
LONGEST_ID = 256
# As the value of a member `id`: a text of this form elsewhere is what an agent wrote, or a tool.
_OWN = re.compile(rb'("id"[ \t]*:[ \t]*)("fencegate-[0-9a-f]{32}-([A-Za-z0-9_-]{1,342})")')
_BEGUN = re.compile(rb'"(?:i(?:d(?:"[ \t]*(?::[ \t]*(?:"[A-Za-z0-9_-]{0,390})?)?)?)?)?\Z')
_WITHIN = 1024
# One number or text of JSON, and nothing that could end it sooner.
_SCALAR = re.compile(
    r'-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"'
)


class OwnId:
    """One call's: a text, whatever its caller's is."""

    __slots__ = ("call", "id", "spelled")

    def __init__(self, call: Call) -> None:
        self.call = call
        # Without padding: some writers of JSON escape what it is made of.
        callers = base64.urlsafe_b64encode(call.spelled).decode("ascii").rstrip("=")
        self.id = f"{OWN_BEGINNING}{secrets.token_hex(_RANDOM_BYTES)}-{callers}"
        self.spelled = f'"{self.id}"'.encode("ascii")


def restored(text: bytes) -> bytes:
    """A whole text, with its callers' ids in it and no blanks before them."""
    return _OWN.sub(_callers, text)


class Restoring:
    """What comes of an MCP server, piece by piece, with its callers' ids. Blanks before them keep each length as it was
    announced."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """What can be passed on by now: all but an end that may be the beginning of an id."""
        text = self._held + piece
        if _BEGINNING in text:
            text = _OWN.sub(_padded, text)
        begun = _BEGUN.search(text, max(0, len(text) - _WITHIN))
        at = len(text) if begun is None else begun.start()
        self._held = text[at:]
        return text[:at]

    def rest(self) -> bytes:
        """What was held back, once nothing follows."""
        held, self._held = self._held, b""
        return held


class Restored:
    """Implements `Answer`: another one, with its callers' ids."""

    def __init__(self, answer: Answer) -> None:
        self.status, self.reason, self.is_stream = answer.status, answer.reason, answer.is_stream
        self.headers, self.own_headers = answer.headers, answer.own_headers
        self.close = answer.close
        self._answer = answer
        self._restoring = Restoring()

    @property
    def is_early(self) -> bool:
        return self._answer.is_early

    async def read(self, within_s: float | None) -> bytes:
        while piece := await self._answer.read(within_s):
            if shown := self._restoring.feed(piece):
                return shown
        return self._restoring.rest()

    async def read_small(self, limit: int) -> tuple[bytes, bool]:
        piece, whole = await self._answer.read_small(limit)
        shown = self._restoring.feed(piece)
        return shown + self._restoring.rest() if whole else shown, whole


def _padded(own: re.Match[bytes]) -> bytes:
    return own[1] + _spelled(own).rjust(len(own[2]))


def _callers(own: re.Match[bytes]) -> bytes:
    return own[1] + _spelled(own)


def _spelled(own: re.Match[bytes]) -> bytes:
    """The caller's id; the own one where it is none, as anybody may have written a text of this form."""
    try:
        callers = base64.urlsafe_b64decode(own[3] + b"=" * (-len(own[3]) % 4))
        return callers if _SCALAR.fullmatch(callers.decode()) else own[2]
    except ValueError:
        return own[2]


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
            # Of a caller's id that lies on two pieces nothing may be left of the second one.
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
