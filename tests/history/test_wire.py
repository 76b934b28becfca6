"""The fault proxy: each mode treats what passes as its name says."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.history import wire as wires
from tests.history.wire import Wire, Witness
from tests.until import until


@asynccontextmanager
async def echo(witness: Witness | None = None) -> AsyncIterator[Wire]:
    """A wire to a server that answers each piece with itself."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(100):
                writer.write(data)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Wire(lambda: port, None if witness is None else lambda: witness) as wire:
        yield wire


async def talk(wire: Wire) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which something has passed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
    writer.write(b"first")
    assert await reader.readexactly(5) == b"first"
    return reader, writer


async def test_a_clear_wire_passes_everything() -> None:
    """Both ways, and the end of it."""
    async with echo() as wire:
        reader, writer = await talk(wire)
        writer.write_eof()

        assert await reader.read() == b""
        writer.close()


async def test_a_delay_changes_nothing_of_what_passes() -> None:
    """It comes late, and whole."""
    async with echo() as wire:
        wire.become("delay")
        _, writer = await talk(wire)
        writer.close()


async def test_a_cut_resets_connections() -> None:
    """Those that there are, and new ones."""
    async with echo() as wire:
        before = await talk(wire)
        wire.become("cut")
        after = await asyncio.open_connection("127.0.0.1", wire.port)

        for reader, writer in (before, after):
            with pytest.raises(ConnectionError):
                await reader.read()
            writer.close()


async def test_what_a_black_hole_took_in_comes_out_in_the_end() -> None:
    """As TCP repeats what nobody has acknowledged."""
    async with echo() as wire:
        reader, writer = await talk(wire)
        wire.become("black-hole")
        writer.write(b"later")
        answer = asyncio.ensure_future(reader.readexactly(5))
        assert not (await asyncio.wait((answer,), timeout=0.05))[0]
        wire.become("clear")

        assert await answer == b"later"
        writer.close()


async def test_a_dropped_answer_never_comes() -> None:
    """The connection ends with the mode, so that nothing that follows is taken for it."""
    async with echo() as wire:
        reader, writer = await talk(wire)
        wire.become("drop")
        writer.write(b"lost")
        answer = asyncio.ensure_future(reader.read())
        assert not (await asyncio.wait((answer,), timeout=0.05))[0]
        wire.become("clear")

        with pytest.raises(ConnectionError):
            await answer
        writer.close()


async def test_a_half_closed_wire_still_answers() -> None:
    """What callers say from then on comes to nobody."""
    async with echo() as wire:
        reader, writer = await talk(wire)
        wire.become("half-close")

        assert await reader.read() == b""
        writer.close()


async def test_what_is_repeated_comes_once_more_and_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a connection of its own. What does not begin as a command comes once."""
    monkeypatch.setattr(wires, "_STOOD_STILL_S", (0.0, 0.0))
    came: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            came.append(data)
            writer.write(b"done;")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Wire(lambda: port) as wire:
        wire.become("repeat")
        reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
        for piece in (b"text", b"*command"):
            writer.write(piece)
            assert await reader.readexactly(5) == b"done;"
        await until(lambda: len(came) == 3)
        writer.write_eof()

        assert await reader.read() == b""
        assert came == [b"text", b"*command", b"*command"]
        writer.close()


class Book:
    """A witness that writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def asked(self, data: bytes) -> None:
        self.told.append(("asked", data))

    def answering(self, data: bytes) -> None:
        self.told.append(("answering", data))

    def closed(self) -> None:
        self.told.append("closed")


async def test_a_witness_sees_what_comes_when_it_comes() -> None:
    """Whatever becomes of it; of what goes back, what does go."""
    book = Book()
    async with echo(book) as wire:
        _, writer = await talk(wire)
        wire.become("black-hole")
        writer.write(b"second")
        await until(lambda: ("asked", b"second") in book.told)
        writer.close()
        await until(lambda: "closed" in book.told)

    assert book.told[:3] == [("asked", b"first"), ("answering", b"first"), ("asked", b"second")]
