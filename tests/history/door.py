"""The API's door: writes down when each request came, and when its answer went, in front of everything that can fail
between a gateway and the API."""

import re

from tests.history.log import Log

_NAMED = re.compile(rb"\r\n(X-Attempt|X-Epoch|Content-Length|Transfer-Encoding): *([^\r]*)", re.IGNORECASE)


class Doorkeeper:
    """Implements `wire.Witness`: reads the requests of one connection as they come, piece by piece."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._taken = bytearray()
        self._id: str | None = None
        self._left: int | None = None
        self._has_begun = False

    def asked(self, data: bytes) -> None:
        self._taken += data
        while self._taken and self._is_further():
            pass

    def answering(self, data: bytes) -> None:
        if self._id is not None and not data.startswith(b"HTTP/1.1 1"):
            self._log.note("answered", id=self._id)
            self._id = None

    def closed(self) -> None:
        if self._id is not None:
            self._log.note("closed", id=self._id)
            self._id = None

    def _is_further(self) -> bool:
        """Take the next part of a request, if it is here; whether more may be."""
        if not self._has_begun:
            return self._takes_head()
        if self._left is None:
            return self._takes_chunk()
        taken = min(self._left, len(self._taken))
        del self._taken[:taken]
        self._left -= taken
        if not self._left:
            self._is_whole()
        return not self._left

    def _takes_head(self) -> bool:
        head, end, _ = self._taken.partition(b"\r\n\r\n")
        if not end:
            return False
        fields = {name.lower(): value.decode() for name, value in _NAMED.findall(head)}
        del self._taken[: len(head) + len(end)]
        resource = head.split(b" ", 2)[1].removeprefix(b"/").decode()
        self._has_begun = True
        self._left = None if b"transfer-encoding" in fields else int(fields.get(b"content-length", "0"))
        # A read bears no epoch, and is nobody's business here.
        self._id = fields[b"x-attempt"] if b"x-epoch" in fields else None
        if self._id is not None:
            self._log.note("began", id=self._id, resource=resource, epoch=int(fields[b"x-epoch"]))
        if self._left == 0:
            self._is_whole()
        return True

    def _takes_chunk(self) -> bool:
        size, line_end, _ = self._taken.partition(b"\r\n")
        if not line_end:
            return False
        length = len(size) + 2 + int(size, 16) + 2
        if len(self._taken) < length:
            return False
        del self._taken[:length]
        if int(size, 16) == 0:
            self._is_whole()
        return True

    def _is_whole(self) -> None:
        self._has_begun, self._left = False, None
        if self._id is not None:
            self._log.note("whole", id=self._id)
