"""The events of a stream, as they come: each one's text, and never more of the stream than one event."""

import re
from collections.abc import Iterator

from gateway.policy.reading.jsonrpc import DATA_LINE

# WHATWG HTML, section 9.2.6: an empty line ends an event, and the `data` lines of one are one text. Atomic: CR LF is
# one end of a line, and never two.
_BETWEEN_EVENTS = re.compile(rb"(?>\r\n|\n|\r){2,}")
_ID_LINE = re.compile(rb"(?:(?<=[\r\n])|\A)id:")
# So many bytes at the end may be the first of what lies between two events.
_LONGEST_BEGUN = 3


class EventStream:
    """Cuts a stream into its events. One of more than `limit` bytes ends the reading: `is_lost`.

    `has_ids`: its reader may come back for what follows the last event (`Last-Event-ID`).
    """

    def __init__(self, limit: int) -> None:
        self.is_lost = False
        self.has_ids = False
        self._limit = limit
        self._held = bytearray()
        self._searched = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The text of each event that ends in this piece."""
        if self.is_lost:
            return
        self._held += piece
        begins, at = 0, self._searched
        while (between := _BETWEEN_EVENTS.search(self._held, at)) is not None:
            event = self._held[begins : between.start()]
            self.has_ids = self.has_ids or _ID_LINE.search(event) is not None
            yield from _texts(event)
            begins = at = between.end()
        del self._held[:begins]
        self._searched = max(0, len(self._held) - _LONGEST_BEGUN)
        if len(self._held) > self._limit:
            self.is_lost = True
            self._held.clear()

    @property
    def is_between(self) -> bool:
        """Whether another event may follow what has come, of which nothing is held then but a line's end."""
        return not self._held.strip(b"\r\n") and not self.is_lost

    def end(self) -> Iterator[bytes]:
        """The text of an event that the stream's end cut short of its empty line: servers forget it."""
        return _texts(self._held)


def _texts(event: bytes | bytearray) -> Iterator[bytes]:
    """The text of an event that has one line of it; a message in several lines is none to those who read by lines."""
    lines = [line[2] for line in DATA_LINE.finditer(event)]
    if len(lines) == 1:
        yield bytes(lines[0])
