"""One line per decision, and one per event of the process itself, to standard error.

A value can neither end a line nor pass for another field: in JSON it is a string of ASCII, and in text it becomes one
as soon as it holds anything but plain characters.
"""

import json
import os
import re
import select
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, Literal

# A path may have 8 KiB, and a line that goes into a pipe in one piece (4 KiB on Linux) is not torn by another process.
_LONGEST_VALUE = 256
_LONGEST_PIECE = 4096
# Lines that wait for a reader that does not keep up: a megabyte or two.
_MOST_WAITING = 5000
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_./:@+-]+")
_PLAIN_EVENT = re.compile(r"[A-Za-z0-9_./:@+,;()' -]+")
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
# The encoder around it costs ten times as much, and there are a dozen strings in the line of every request.
_quoted = json.encoder.encode_basestring_ascii

Form = Literal["json", "text"]
Level = Literal["debug", "info", "warning", "error"]
Later = Callable[[Callable[[], None]], object]
_RANKS: dict[Level, int] = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_Fields = Mapping[str, object]


class Log:
    """The process's log. Fields that are None are left out; strings longer than 256 characters are cut."""

    def __init__(self, form: Form = "text", level: Level = "info", descriptor: int = 2) -> None:
        self.form: Final = form
        self._least = _RANKS[level]
        self._spell = _json_line if form == "json" else _text_line
        self._lines = _Lines(descriptor)
        self.shows_decisions: Final = self._least <= _RANKS["info"]

    def gather(self, later: Later) -> None:
        """From now on the decisions of one turn of an event loop are written together. `later` is its `call_soon`."""
        self._lines.later = later

    def write(self) -> None:
        """Write what was gathered: the process ends."""
        self._lines.write()

    def decision(self, **fields: object) -> None:
        """What was decided about one request. Nothing in `fields` is a query's: queries hold secrets."""
        if self.shows_decisions:
            self._add("info", "decision", fields)

    def info(self, event: str, **fields: object) -> None:
        self._event("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._event("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._event("error", event, fields)

    def _event(self, level: Level, event: str, fields: _Fields) -> None:
        if _RANKS[level] >= self._least:
            self._add(level, event, fields)
            self._lines.write()

    def _add(self, level: Level, event: str, fields: _Fields) -> None:
        lost = self._lines.take_lost()
        if lost:
            self._lines.add(self._line("warning", "lines of the log were lost: nobody read them", {"lines": lost}))
        self._lines.add(self._line(level, event, fields))

    def _line(self, level: Level, event: str, fields: _Fields) -> bytes:
        """A line that leaves in one piece: where values are spelled in escapes, less of them is shown."""
        longest = _LONGEST_VALUE
        line = self._spell(level, event, fields, longest)
        while len(line) > _LONGEST_PIECE and longest > 1:
            longest //= 2
            line = self._spell(level, event, fields, longest)
        return line


class _Lines:
    """Writes finished lines. A reader that is gone, or does not keep up, is no reason to fail or to delay a request.

    Lines that it does not take are kept for it, and beyond a bound they are lost, which the next line says.
    """

    def __init__(self, descriptor: int) -> None:
        self.later: Later | None = None
        self._descriptor = descriptor
        self._gathered: deque[bytes] = deque()
        self._is_due = False
        self._lost = 0
        self._room = select.poll()
        self._room.register(descriptor, select.POLLOUT)

    def add(self, line: bytes) -> None:
        if len(self._gathered) >= _MOST_WAITING:
            self._lost += 1
            return
        self._gathered.append(line)
        if self.later is None:
            self.write()
        elif not self._is_due:
            self._is_due = True
            self.later(self.write)

    def write(self) -> None:
        """As many lines at a time as no other process's can come between."""
        self._is_due = False
        while self._gathered and self._has_room():
            piece = self._gathered.popleft()
            while self._gathered and len(piece) + len(self._gathered[0]) <= _LONGEST_PIECE:
                piece += self._gathered.popleft()
            self._write(piece)

    def take_lost(self) -> int:
        """How many lines were lost since this was last asked, once there is room for others again."""
        if not self._lost:
            return 0
        self.write()
        if len(self._gathered) >= _MOST_WAITING:
            return 0
        lost, self._lost = self._lost, 0
        return lost

    def _has_room(self) -> bool:
        """A pipe that can be written to takes a piece whole (pipe(7)); whoever waits for it would stop all requests."""
        return bool(self._room.poll(0))

    def _write(self, piece: bytes) -> None:
        try:
            os.write(self._descriptor, piece)
        except OSError:
            return


class _Timestamps:
    """RFC 3339, with milliseconds. The date and the second are spelled once a second."""

    def __init__(self) -> None:
        self._second = -1
        self._spelled = ""

    def now(self) -> str:
        second, millisecond = divmod(time.clock_gettime_ns(time.CLOCK_REALTIME) // 1_000_000, 1000)
        if second != self._second:
            self._second = second
            self._spelled = datetime.fromtimestamp(second, UTC).isoformat()[:19]
        return f"{self._spelled}.{millisecond:03d}+00:00"


_now = _Timestamps().now


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _json_line(level: Level, event: str, fields: _Fields, longest: int) -> bytes:
    parts = [f'{{"ts":"{_now()}","level":"{level}","event":{_quoted(event)}']
    for name, value in fields.items():
        if value is None:
            continue
        if isinstance(value, str):
            parts.append(f'"{name}":{_quoted(value if len(value) <= longest else _cut(value, longest))}')
        elif type(value) is int or type(value) is float:
            parts.append(f'"{name}":{value!r}')
        else:
            parts.append(f'"{name}":{_ENCODE(value)}')
    return (",".join(parts) + "}\n").encode("ascii")


def _text_line(level: Level, event: str, fields: _Fields, longest: int) -> bytes:
    words = [_now(), f"{level:7}", _plain(event, _PLAIN_EVENT)]
    for name, value in fields.items():
        if value is not None:
            text = _cut(value, longest) if isinstance(value, str) else str(value)
            words.append(f"{name}={_plain(text, _PLAIN_VALUE)}")
    return (" ".join(words) + "\n").encode("ascii")


def _plain(text: str, allowed: re.Pattern[str]) -> str:
    return text if allowed.fullmatch(text) else _quoted(text)
