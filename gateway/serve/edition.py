"""Which edition of the policies is in force, told by the parent to its workers through a page that they share.

A signal tells a worker that runs. One that was stopped, or has hung, takes up requests before it hears of anything: it
looks here first. It looks here too whether its parent still does its part: what the files say by now nobody knows while
the parent is stopped, and so the page says until when what workers have may be used. It says no more while the parent
has no room for a copy of what is in force. The clock counts suspension: a machine that slept may have missed a change,
and refuses for the half second that its parent takes to look.
"""

import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from gateway.core.clock import Clock

# The edition's number; the millisecond of the clock that counts suspension from which on no other one is used; and that
# from which on none is, unless the parent has looked at the files again.
_PAGE = struct.Struct("=QQQ")
_EDITION = struct.Struct("=QQ")
_WORD = struct.Struct("=Q")
_NUMBER, _DUE, _UNTIL = 0, 1, 2
# A worker reads the files as its parent did, on a machine that does other work; several of them at once take longer.
_READING = 4
_AT_ONCE_S = 1.0
# A parent looks twice a second; one that has not for so long is stopped, or hangs, however busy its machine is.
SILENT_AFTER_S = 10.0
# So long it may take it to read files that have changed; it looks at nothing meanwhile, and says that it lives.
_READ_WITHIN_S = 60.0
_TELL_EVERY_S = 1.0
# Between two looks of a process that runs, on however busy a machine. One that is stopped again and again may find for
# long that files have changed, and never come to read them.
STEADY_S = 3.0


class Editions:
    """The parent's side: it numbers the editions, and says that it looks after the files."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._number = 0
        self._until_ms = self._silent_ms()
        self._looked_at = self._current_at = clock.boot()
        path.write_bytes(_PAGE.pack(0, 0, self._until_ms))
        self._file = path.open("r+b")

    def publish(self, read_within_s: float) -> None:
        """Another edition is in force, whose files were read in so many seconds.

        After a silence no request at all is judged by an earlier one: it may have been over for long.
        """
        self._number += 1
        due = self._clock.boot()
        if not self.are_silent():
            due += _AT_ONCE_S + _READING * read_within_s
        os.pwrite(self._file.fileno(), _EDITION.pack(self._number, int(due * 1000)), 0)

    def looked(self, *, is_current: bool) -> None:
        """The files were looked at. `is_current`: they are those that were read last.

        A change is read at the second look; until then a silence goes on, lest what ended in it be used once more, and
        is put off only by a parent that runs from look to look, and reads what has changed in time.
        """
        now, before = self._clock.boot(), self._looked_at
        self._looked_at = now
        if is_current:
            self._current_at = now
        is_reading = now - before < STEADY_S and now - self._current_at < _READ_WITHIN_S
        if is_current or (is_reading and not self.are_silent()):
            self._until_ms = self._silent_ms()
            os.pwrite(self._file.fileno(), _WORD.pack(self._until_ms), _UNTIL * _WORD.size)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While files are read, which may take long, nothing else goes on in the thread that reads them."""
        done = Event()
        telling = Thread(target=self._tell_until, args=(done,), daemon=True)
        telling.start()
        try:
            yield
        finally:
            done.set()
            telling.join()

    def are_silent(self) -> bool:
        """Whether workers refuse writes, because nobody has looked at the files for too long."""
        return self._clock.boot() * 1000 >= self._until_ms

    def close(self) -> None:
        self._file.close()

    def _tell_until(self, done: Event) -> None:
        for _ in range(int(_READ_WITHIN_S / _TELL_EVERY_S)):
            self.looked(is_current=False)
            if done.wait(_TELL_EVERY_S):
                return

    def _silent_ms(self) -> int:
        return int((self._clock.boot() + SILENT_AFTER_S) * 1000)


class Page:
    """A worker's side."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.now = clock.boot
        with path.open("rb") as file:
            shared = mmap.mmap(file.fileno(), _PAGE.size, access=mmap.ACCESS_READ)
        # Each is read in one piece, whatever is written meanwhile.
        self._words = memoryview(shared).cast("Q")

    def number(self) -> int:
        """Of the edition in force."""
        return self._words[_NUMBER]

    def vouches_for(self, number: int) -> bool:
        """Whether this edition is in force, and the parent is not silent. Asked several times on each request."""
        words = self._words
        return words[_NUMBER] == number and self.now() * 1000 < words[_UNTIL]

    def is_due(self) -> bool:
        """Whether no request may be judged by an earlier edition any more."""
        return self.now() * 1000 >= self._words[_DUE]

    def is_silent(self) -> bool:
        """Whether no request may be judged by any: the parent has not looked at the files for too long."""
        return self.now() * 1000 >= self._words[_UNTIL]
