"""Holes that a full disk leaves in the append-only file of a store.

A server that has rewritten its file writes to the new one at a position of its own (seen with Redis 7.0, Valkey 9.1).
A write that finds room for a part of it only is taken back by truncating the file, and the position stays: with room
again the next write begins behind a gap, which reads as zeros. The server goes on, and the one that is started next on
that file ends there ("Bad file format"). No command begins with a zero, and what was written behind the gap is whole:
it is enough to leave the gap out.
"""

import os
import shutil
from pathlib import Path
from typing import BinaryIO


def cut_holes(directory: Path) -> int:
    """Leave them out of the files that a server appends to, while none runs on them. Returns how many bytes they had.

    A file that cannot be read for another reason is as it was. Raises OSError.
    """
    return sum(_cut_from(file) for file in sorted(directory.glob("*.incr.aof")))


def _cut_from(file: Path) -> int:
    mended = file.with_suffix(".mended")
    try:
        with file.open("rb") as source, mended.open("wb") as target:
            shutil.copymode(file, mended)
            cut = _copy(source, target)
            target.flush()
            os.fsync(target.fileno())
        if cut:
            mended.replace(file)
            _bring_to_disk(file.parent)
        return cut
    finally:
        mended.unlink(missing_ok=True)


def _copy(source: BinaryIO, target: BinaryIO) -> int:
    """All but the zeros between commands; returns how many there were, 0 where it cannot be read in another place."""
    cut = 0
    while line := source.readline():
        head = line.lstrip(b"\0")
        cut += len(line) - len(head)
        target.write(head)
        try:
            _copy_arguments(head, source, target)
        except ValueError:
            # The last command may be torn: the server leaves it out itself.
            if source.read(1):
                return 0
    return cut


def _copy_arguments(head: bytes, source: BinaryIO, target: BinaryIO) -> None:
    """Of a command, in RESP. Raises ValueError where it is none, or not whole."""
    if not head or head.startswith(b"#"):
        # Nothing, or when the next one was written.
        return
    if not head.startswith(b"*"):
        raise ValueError(head)
    for _ in range(int(head[1:])):
        size = source.readline()
        target.write(size)
        value = source.read(int(size.removeprefix(b"$")) + len(b"\r\n"))
        target.write(value)
        if not value.endswith(b"\r\n"):
            raise ValueError(value)


def _bring_to_disk(directory: Path) -> None:
    opened = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
