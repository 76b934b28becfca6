"""A TCP proxy that treats what passes as the nemesis says."""

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import Callable
from typing import Literal, Protocol

from tests.listening import Listening

# `delay`: each piece is late. `drop`: the answers are lost, and with them the connection. `half-close`: what callers
# send ends where it is, answers still come. `cut`: connections are reset, and new ones too. `black-hole`: nothing
# passes; what came meanwhile does in the end, as TCP repeats what it got no word of. `repeat`: what is asked is asked
# once more, as if it had stood still on another connection while its caller gave up and tried again.
Mode = Literal["clear", "delay", "drop", "half-close", "cut", "black-hole", "repeat"]
_LATE_S = (0.02, 0.4)
_STOOD_STILL_S = (0.0, 8.0)
# A piece that begins like this is a command of the store's from its beginning; a larger one may be cut.
_COMMAND, _PIECE = b"*", 65536


class Witness(Protocol):
    """Who sees what passes on one connection, at the moment at which it comes in."""

    def asked(self, data: bytes) -> None: ...

    def answering(self, data: bytes) -> None: ...

    def closed(self) -> None: ...


class Wire(Listening):
    """Listens on loopback. `target` says where it leads to: a port of loopback, or the path of a unix socket."""

    def __init__(self, target: Callable[[], int | str], witness: Callable[[], Witness] | None = None) -> None:
        self.port = 0
        self.mode: Mode = "clear"
        self.repeating: set[asyncio.Task[None]] = set()
        """What is to be asked once more."""
        self._target = target
        self._witness = witness
        self._ways: set[_Way] = set()
        self._passable = asyncio.Event()
        self._passable.set()
        self._chance = random.Random(0)

    def become(self, mode: Mode) -> None:
        """From now on. Whatever lost something, or the end of a stream, is over when the mode is."""
        before, self.mode = self.mode, mode
        if mode == "cut" or before in ("drop", "half-close"):
            self.cut()
        for way in self._ways if mode == "half-close" else ():
            way.end_asking()
        if mode == "black-hole":
            self._passable.clear()
        else:
            self._passable.set()

    def cut(self) -> None:
        """Reset all connections that there are."""
        for way in tuple(self._ways):
            way.reset()

    async def wait(self) -> None:
        """Until a piece that has come may go on."""
        if self.mode == "delay":
            await asyncio.sleep(self._chance.uniform(*_LATE_S))
        await self._passable.wait()

    def passed(self, data: bytes, target: int | str) -> None:
        """It has gone on to there."""
        if self.mode == "repeat" and data.startswith(_COMMAND) and len(data) < _PIECE:
            task = asyncio.ensure_future(self._ask_again(data, target))
            for tasks in (self.repeating, self._serving):
                tasks.add(task)
                task.add_done_callback(tasks.discard)

    async def _ask_again(self, data: bytes, target: int | str) -> None:
        await asyncio.sleep(self._chance.uniform(*_STOOD_STILL_S))
        with contextlib.suppress(OSError):
            reader, writer = await _connected(target)
            writer.write(data)
            writer.write_eof()
            while await reader.read(_PIECE):
                pass
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mode == "cut":
            _reset(writer)
            return
        with contextlib.suppress(OSError, asyncio.CancelledError):
            way = _Way(self, reader, writer, self._witness() if self._witness else None)
            self._ways.add(way)
            try:
                await way.run(self._target())
            finally:
                self._ways.discard(way)
        writer.transport.abort()


class _Way:
    """One connection, both of its halves. What comes is taken in at once, and waits here for its turn to go on."""

    def __init__(
        self, wire: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, witness: Witness | None
    ) -> None:
        self._wire = wire
        self._caller = reader, writer
        self._witness = witness
        self._behind: asyncio.StreamWriter | None = None
        self._is_reset = asyncio.Event()
        self._asks: asyncio.Queue[bytes] = asyncio.Queue()
        self._answers: asyncio.Queue[bytes] = asyncio.Queue()

    async def run(self, target: int | str) -> None:
        """Until both halves have ended, or one broke, or it was reset."""
        # The caller is heard before the target is reached: what it sent has come, whatever becomes of the target.
        halves = [asyncio.ensure_future(self._hear()), asyncio.ensure_future(self._serve(target))]
        resetting = asyncio.ensure_future(self._is_reset.wait())
        try:
            await asyncio.wait((halves[1], resetting), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*halves, resetting):
                task.cancel()
            ends = await asyncio.gather(*halves, resetting, return_exceptions=True)
            if self._witness is not None:
                self._witness.closed()
            if self._is_reset.is_set():
                _reset(self._caller[1])
            if self._behind is not None:
                _reset(self._behind) if self._is_reset.is_set() else self._behind.close()
        for end in ends:
            # A fault of this program, or of its witness; a connection that broke is none.
            if isinstance(end, Exception) and not isinstance(end, OSError):
                raise end

    def reset(self) -> None:
        self._is_reset.set()

    def end_asking(self) -> None:
        self._asks.put_nowait(b"")

    async def _hear(self) -> None:
        reader, _ = self._caller
        try:
            while data := await reader.read(_PIECE):
                if self._witness is not None:
                    self._witness.asked(data)
                self._asks.put_nowait(data)
        except OSError:
            pass
        if self._witness is not None:
            self._witness.closed()
        self._asks.put_nowait(b"")

    async def _serve(self, target: int | str) -> None:
        reader, self._behind = await _connected(target)
        asking = asyncio.ensure_future(self._ask(self._behind, target))
        hearing = asyncio.ensure_future(self._hear_answers(reader))
        try:
            await self._answer(self._caller[1])
        finally:
            asking.cancel()
            hearing.cancel()
            await asyncio.gather(asking, hearing, return_exceptions=True)

    async def _ask(self, writer: asyncio.StreamWriter, target: int | str) -> None:
        while data := await self._asks.get():
            await self._wire.wait()
            writer.write(data)
            await writer.drain()
            self._wire.passed(data, target)
        await self._wire.wait()
        writer.write_eof()

    async def _hear_answers(self, reader: asyncio.StreamReader) -> None:
        try:
            while data := await reader.read(_PIECE):
                self._answers.put_nowait(data)
        except OSError:
            self.reset()
        self._answers.put_nowait(b"")

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        while data := await self._answers.get():
            await self._wire.wait()
            if self._wire.mode == "drop":
                continue
            if self._witness is not None:
                self._witness.answering(data)
            writer.write(data)
            await writer.drain()
        await self._wire.wait()
        writer.close()
        await writer.wait_closed()


async def _connected(target: int | str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(target, int):
        return await asyncio.open_connection("127.0.0.1", target)
    return await asyncio.open_unix_connection(target)


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection so that its peer is told of a reset, and not of an end (socket(7), SO_LINGER)."""
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
