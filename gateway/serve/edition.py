"""Which edition of the policies is in force, told by the parent to its workers through a page that they share.

A signal tells a worker that runs. One that was stopped, or has hung, takes up requests before it hears of anything: it
looks here first.
"""

import mmap
import os
import struct
from pathlib import Path

from gateway.core.clock import Clock

# The edition's number, and the millisecond of the clock that counts suspension from which on no other one is used.
_PAGE = struct.Struct("=QQ")
# The number's bytes, at the beginning of the page.
NUMBER = struct.Struct("=Q").size
# A worker reads the files as its parent did, on a machine that does other work; several of them at once take longer.
_READING = 4
_AT_ONCE_S = 1.0


class Editions:
    """The parent's side: it numbers the editions."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        path.write_bytes(_PAGE.pack(0, 0))
        self._file = path.open("r+b")
        self._number = 0

    def publish(self, read_within_s: float) -> None:
        """Another edition is in force, whose files were read in so many seconds."""
        self._number += 1
        due = self._clock.boot() + _AT_ONCE_S + _READING * read_within_s
        os.pwrite(self._file.fileno(), _PAGE.pack(self._number, int(due * 1000)), 0)

    def close(self) -> None:
        self._file.close()


class Page:
    """A worker's side."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        with path.open("rb") as file:
            self.shared = mmap.mmap(file.fileno(), _PAGE.size, access=mmap.ACCESS_READ)

    def number(self) -> bytes:
        """Of the edition in force."""
        return self.shared[:NUMBER]

    def is_due(self) -> bool:
        """Whether no request may be judged by an earlier edition any more."""
        _, due_ms = _PAGE.unpack_from(self.shared)
        return bool(self._clock.boot() * 1000 >= due_ms)
