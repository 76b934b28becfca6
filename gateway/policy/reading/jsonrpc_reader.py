"""The answer of an MCP server, read as it comes for what it says of its call: a stream event by event, however long."""

from dataclasses import replace
from itertools import chain

from gateway.core.coding import decoded
from gateway.core.decision import Refused
from gateway.core.request import HeaderPairs, Headers
from gateway.policy.reading.event_stream import EventStream
from gateway.policy.reading.jsonrpc import is_event_stream
from gateway.policy.reading.jsonrpc_answer import Answers, Said

# What is held of an answer at most: all of it, or one event of a stream. To read so much takes some ten milliseconds.
MOST = 1 << 20


class AnswerReader:
    """What cannot be read, being larger, or in a coding of which only its caller knows, says nothing of a call.

    `id` is the call's. `own`: its answer, where that was an event of a stream.
    """

    def __init__(self, id: str | None, status: int, headers: HeaderPairs) -> None:
        fields = Headers(headers)
        self.own: bytes | None = None
        self._id = id
        self._status = status
        self._codings = fields.all(b"content-encoding")
        self.is_stream = is_event_stream(fields.first(b"content-type") or b"")
        self._answers = Answers(id)
        self._events = EventStream(MOST)
        self._held = bytearray()
        self._is_lost = False

    def add(self, piece: bytes | None) -> None:
        """The next piece of the body; None for one that is too large."""
        if piece is None or len(self._held) + len(piece) > MOST:
            self._is_lost = True
            self._held.clear()
        elif self._is_lost:
            return
        elif self.is_stream and not self._codings:
            self._hear_events(piece)
        else:
            self._held += piece

    @property
    def lacks_answer(self) -> bool:
        """Whether a last event could be the call's answer: none was, and nobody can come back for what follows."""
        is_read = self.is_stream and not self._codings and not self._is_lost
        return is_read and self.own is None and self._events.is_between and not self._events.has_ids

    def said(self) -> Said:
        """Once, when the body is whole."""
        plain = decoded(bytes(self._held), self._codings, MOST)
        if not isinstance(plain, Refused) and self.is_stream:
            self._hear_events(plain, ends=True)
        elif not isinstance(plain, Refused):
            self._answers.hear(plain)
        said = self._answers.said(self._status, is_stream=self.is_stream)
        if self._id is None:
            return said
        if not self._is_lost and not isinstance(plain, Refused) and not self._events.is_lost:
            # Its id stands in what could not be read, as it is nested too deep.
            is_garbled = said.is_refusal and self._id.encode() in plain
            return replace(said, is_unheard=False, is_refusal=False) if is_garbled else said
        return Said(None, alone=False, is_unheard=self.is_stream and self.own is None)

    def _hear_events(self, piece: bytes, *, ends: bool = False) -> None:
        for text in chain(self._events.feed(piece), self._events.end() if ends else ()):
            if self._answers.hear(text):
                self.own = text
