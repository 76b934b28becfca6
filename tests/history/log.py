"""Append-only logs of JSON lines: what a process that is killed has written is there, each line whole."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Log:
    """One file; several processes may write to it. Each line goes to the system in one call, before anything else."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def note(self, event: str, **fields: object) -> None:
        line = json.dumps({"event": event, "at": time.monotonic(), **fields})
        os.write(self._file, line.encode() + b"\n")

    def close(self) -> None:
        os.close(self._file)


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """Its lines, in order. Untyped: JSON. Nothing of a file that was never written."""
    if path.exists():
        with path.open() as lines:
            yield from (json.loads(line) for line in lines)
