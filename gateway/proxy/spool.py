"""A body that is too large for memory: kept in a file without a name, which no crash leaves behind."""

import asyncio
import errno
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

from gateway.core.faults import CallerGone, NoRoom

# Large enough that the way into a thread and back (0.1 ms) is the smaller part, small enough to hold for each upload.
_PIECE = 256 << 10
# Apart from asyncio's own threads, which look up names and parse bodies: a disk that hangs stops nobody else.
_DISK = ThreadPoolExecutor(4, "spool")
# What bodies leave free, of room and of files, and which part of a smaller file system: the copies of the policies that
# workers read are there too, and an agent whose key is withdrawn must not keep them out. A copy of fifteen thousand
# rules takes two megabytes, and so does what a worker's threads write in the same instant.
_LEFT_FREE = 16 << 20
_FILES_LEFT_FREE = 1 << 10
_PART_LEFT_FREE = 8


class Spool:
    """Bytes that are appended once, and then read as often as needed, from wherever the reader stands.

    The file is in the directory that `tempfile` chooses (TMPDIR); it is gone with `close`, at the latest with this
    object. Whoever is cancelled while a thread still works on the file leaves it to that thread: only after it does
    anybody close the descriptor, which could by then be another file's.
    """

    def __init__(self) -> None:
        """Blocks; see `open`."""
        try:
            file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # it stays open after this call
        except OSError as error:
            raise _no_room(error) from error
        try:
            _leave_room(file.fileno())
        except OSError as error:
            file.close()
            raise _no_room(error) from error
        self.size = 0
        self._descriptor = file.fileno()
        self._release = weakref.finalize(self, file.close)
        self._turn = threading.Lock()

    @classmethod
    async def open(cls) -> Self:
        """An empty one. Raises NoRoom."""
        return await asyncio.get_running_loop().run_in_executor(_DISK, cls)

    async def append(self, batch: bytes, feed: Callable[[bytes], None]) -> None:
        """Keep these bytes, and give them to `feed` in the same thread. Raises NoRoom; the file is then gone."""
        await asyncio.get_running_loop().run_in_executor(_DISK, self._append, batch, feed)

    async def feed(self, feed: Callable[[bytes], None]) -> None:
        """Give all of it to `feed`, in order and in one thread. Raises CallerGone as `read` does."""
        await asyncio.get_running_loop().run_in_executor(_DISK, self._feed, feed)

    async def read(self, at: int) -> bytes:
        """The next 256 KiB at most; empty at the end only. Raises CallerGone if the disk does not give them back."""
        if at == self.size:
            return b""
        return await asyncio.get_running_loop().run_in_executor(_DISK, self._read, at)

    def close(self) -> None:
        """Free the room. Safe to call twice; does not wait: half a gigabyte takes a disk 25 ms."""
        if self._release.alive:
            _DISK.submit(self._close)

    def _append(self, batch: bytes, feed: Callable[[bytes], None]) -> None:
        with self._turn:
            self._check_open()
            feed(batch)
            left = memoryview(batch)
            try:
                _leave_room(self._descriptor, len(batch))
                while left:
                    written = os.pwrite(self._descriptor, left, self.size)
                    self.size += written
                    left = left[written:]
            except OSError as error:
                self._release()
                raise _no_room(error) from error

    def _feed(self, feed: Callable[[bytes], None]) -> None:
        at = 0
        while at < self.size:
            piece = self._read(at)
            feed(piece)
            at += len(piece)

    def _read(self, at: int) -> bytes:
        with self._turn:
            self._check_open()
            try:
                piece = os.pread(self._descriptor, min(_PIECE, self.size - at), at)
            except OSError as error:
                raise CallerGone(f"the request's body cannot be read back from the disk: {error}") from error
        if not piece:
            # To its reader, an empty piece would be the end of a body that is whole.
            raise CallerGone("the request's body is shorter on the disk than what was written there")
        return piece

    def _check_open(self) -> None:
        if not self._release.alive:
            raise CallerGone("the request has ended, and its body is no longer kept")

    def _close(self) -> None:
        with self._turn:
            self._release()


def _leave_room(descriptor: int, size: int = 0) -> None:
    """Raises OSError where so many bytes more would take what is left to the policies, or the file itself has."""
    of = os.fstatvfs(descriptor)
    room, files = of.f_blocks * of.f_frsize // _PART_LEFT_FREE, of.f_files // _PART_LEFT_FREE
    # File systems that make files as they are wanted, or tell nothing, say none.
    if of.f_blocks and of.f_bavail * of.f_frsize - size < min(_LEFT_FREE, room):
        raise OSError(errno.ENOSPC, f"the last {min(_LEFT_FREE, room) >> 10} KiB there are left to the policies")
    if of.f_files and of.f_favail < min(_FILES_LEFT_FREE, files):
        raise OSError(errno.ENOSPC, f"the last {min(_FILES_LEFT_FREE, files)} files there are left to the policies")


def _no_room(error: OSError) -> NoRoom:
    where = tempfile.tempdir or "any temporary directory"
    return NoRoom(f"a request's body cannot be kept in {where} ({error}); free room there or set TMPDIR to another")
