"""One line per decision, and one per event of the process itself, to standard error.

A value can neither end a line nor pass for another field: in JSON it is a string of ASCII, and in text it becomes one
as soon as it holds anything but plain characters.
"""

import json
import logging
import os
import re
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Final, Literal

import structlog

# A path may have 8 KiB, and a line that goes into a pipe in one piece (4 KiB on Linux) is not torn by another process.
_LONGEST_VALUE = 256
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_./:@+-]+")
_PLAIN_EVENT = re.compile(r"[A-Za-z0-9_./:@+,;()' -]+")
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode

_Fields = MutableMapping[str, object]


class Log:
    """The process's log. Fields that are None are left out; strings longer than 256 characters are cut."""

    def __init__(
        self,
        form: Literal["json", "text"] = "text",
        level: Literal["debug", "info", "warning", "error"] = "info",
        descriptor: int = 2,
    ) -> None:
        self.form: Final = form
        self._logger: structlog.typing.FilteringBoundLogger = structlog.wrap_logger(
            _Lines(descriptor),
            processors=[_complete, _as_json if form == "json" else _as_text],
            wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        ).bind()

    def decision(
        self,
        decision: str,
        *,
        method: str,
        path: str,
        status: int,
        seconds: float,
        upstream: str | None = None,
        rule: str | None = None,
        resource: str | None = None,
        epoch: int | None = None,
        principal: str | None = None,
        holder: str | None = None,
        outcome: str | None = None,
        would: str | None = None,
        intent: str | None = None,
        why: str | None = None,
    ) -> None:
        """What was decided about one request. `path` has no query: queries hold secrets."""
        self._logger.info(
            "decision",
            decision=decision,
            method=method,
            path=path,
            status=status,
            ms=round(seconds * 1000, 3),
            upstream=upstream,
            rule=rule,
            resource=resource,
            # Past 2^53 a reader of JSON would round it.
            epoch=None if epoch is None else str(epoch),
            principal=principal,
            holder=holder,
            outcome=outcome,
            would=would,
            intent=intent,
            why=why,
        )

    def info(self, event: str, **fields: object) -> None:
        self._logger.info(event, **fields)

    def warning(self, event: str, **fields: object) -> None:
        self._logger.warning(event, **fields)

    def error(self, event: str, **fields: object) -> None:
        self._logger.error(event, **fields)


class _Lines:
    """Writes finished lines. A reader that is gone is no reason to fail a request: then the line is lost."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, line: bytes) -> None:
        try:
            os.write(self._descriptor, line)
        except OSError:
            return

    info = warning = error = write


def _complete(_logger: object, level: str, fields: _Fields) -> _Fields:
    complete: _Fields = {"ts": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level}
    complete["event"] = fields.pop("event")
    for name, value in fields.items():
        if isinstance(value, str) and len(value) > _LONGEST_VALUE:
            complete[name] = value[: _LONGEST_VALUE - 1] + "…"
        elif value is not None:
            complete[name] = value
    return complete


def _as_json(_logger: object, _level: str, fields: _Fields) -> bytes:
    return _ENCODE(fields).encode("ascii") + b"\n"


def _as_text(_logger: object, _level: str, fields: _Fields) -> bytes:
    event = str(fields.pop("event"))
    words = [str(fields.pop("ts")), f"{fields.pop('level')!s:7}", _plain(event, _PLAIN_EVENT)]
    words += (f"{name}={_plain(str(value), _PLAIN_VALUE)}" for name, value in fields.items())
    return " ".join(words).encode("ascii") + b"\n"


def _plain(text: str, allowed: re.Pattern[str]) -> str:
    return text if allowed.fullmatch(text) else _ENCODE(text)
