"""A multipart body digested by its parts: clients draw a new boundary for each attempt of one and the same request."""

import hashlib
import re
from typing import Literal

from gateway.policy.reading.body_type import TOKEN

# RFC 9110, section 5.6.6, and RFC 2046, section 5.1.1. Clients leave quotes away that the grammar wants.
_TYPE = re.compile(rb"multipart/(" + TOKEN + rb")[ \t]*", re.IGNORECASE)
_PARAMETER = re.compile(rb";[ \t]*(" + TOKEN + rb""")=(?:"([^"\\]*)"|([^\s;"]+))[ \t]*""")
_BOUNDARY = re.compile(rb"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
_LINE_END, _LAST = b"\r\n", b"--"
# A form has tens of parts. Each costs microseconds, and a body of nothing but delimiters is millions of parts.
_MOST_PARTS = 10_000
_DIGEST_BYTES = 16

_State = Literal["preamble", "delimiter", "part", "closing", "epilogue", "malformed"]


class Multipart:
    """Fed with a body in pieces of any size; holds a piece and a delimiter at most.

    A part is what stands between two delimiters, digested for itself; its header block ends at the first empty line,
    so that no header passes for content. Preamble and epilogue do not count. A multipart inside a part is content:
    its boundaries count.
    """

    __slots__ = ("_at", "_delimiter", "_held", "_part", "_parts", "_state", "_whole")

    def __init__(self, subtype: bytes, boundary: bytes) -> None:
        self._delimiter = _LINE_END + b"--" + boundary
        # The first delimiter may stand at the very beginning, with no line before it.
        self._held = _LINE_END
        self._at = 0
        self._state: _State = "preamble"
        self._parts = 0
        self._part = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        self._whole = hashlib.blake2b(subtype + b"\n", digest_size=_DIGEST_BYTES, person=b"multipart")

    def feed(self, piece: bytes) -> None:
        """The next piece of the body."""
        self._held += piece
        while (state := self._next()) is not None:
            self._state = state
        self._held = self._held[self._at :]
        self._at = 0

    def digest(self) -> bytes | None:
        """The digest of the parts; None if the body is not multipart as RFC 2046 has it, or breaks off."""
        ended = self._state == "epilogue" or (self._state == "closing" and not self._held)
        return self._whole.digest() if ended else None

    def _next(self) -> _State | None:
        """The state that follows in what is held; None if it takes more to leave this one."""
        match self._state:
            case "preamble":
                return "delimiter" if self._pass_delimiter() else None
            case "part":
                if not self._pass_delimiter():
                    return None
                self._whole.update(self._part.digest())
                return "delimiter"
            case "delimiter":
                return self._behind_delimiter()
            case "closing":
                line = self._two_bytes()
                return None if line is None else "epilogue" if line == _LINE_END else "malformed"
            case "epilogue" | "malformed":
                self._at = len(self._held)
                return None

    def _behind_delimiter(self) -> _State | None:
        line = self._two_bytes()
        if line is None:
            return None
        if line == _LAST:
            self._at += len(_LAST)
            return "closing"
        # Anything else, such as padding or a longer boundary, is read in more than one way.
        if line != _LINE_END or self._parts == _MOST_PARTS:
            return "malformed"
        # The line's end is not passed: it may begin the next delimiter.
        self._parts += 1
        self._part = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        return "part"

    def _two_bytes(self) -> bytes | None:
        line = self._held[self._at : self._at + 2]
        return line if len(line) == 2 else None

    def _pass_delimiter(self) -> bool:
        """Go behind the next delimiter; without one, to where one could begin. What is passed belongs to the part."""
        found = self._held.find(self._delimiter, self._at)
        end = found if found >= 0 else max(self._at, len(self._held) - len(self._delimiter) + 1)
        if self._state == "part":
            self._part.update(memoryview(self._held)[self._at : end])
        self._at = end if found < 0 else end + len(self._delimiter)
        return found >= 0


def multipart_of(content_type: bytes) -> Multipart | None:
    """What reads a body of this type; None if it is not multipart, or does not say its boundary plainly and once."""
    found = boundary_of(content_type)
    return None if found is None else Multipart(*found)


def boundary_of(content_type: bytes) -> tuple[bytes, bytes] | None:
    """The subtype, in lower case, and the boundary of a multipart type; None as `multipart_of`."""
    kind = _TYPE.match(content_type)
    if kind is None:
        return None
    boundaries: list[bytes] = []
    at = kind.end()
    while at < len(content_type):
        parameter = _PARAMETER.match(content_type, at)
        if parameter is None:
            return None
        name, quoted, bare = parameter.groups()
        if name.lower() == b"boundary":
            boundaries.append(bare if quoted is None else quoted)
        at = parameter.end()
    if len(boundaries) != 1 or not _BOUNDARY.fullmatch(boundaries[0]):
        return None
    return kind[1].lower(), boundaries[0]
