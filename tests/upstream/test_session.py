"""The upstream's end of a session, over a real connection."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from gateway.upstream.session import _HIGH_WATER, SessionEnd
from gateway.upstream.wire import Wire
from tests.upstream.given import unread


@pytest.fixture
async def pair() -> AsyncIterator[tuple[Wire, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    wire = Wire(ours)
    yield wire, theirs
    wire.close()
    theirs.close()


def end_of(wire: Wire, *behind: bytes, ended: bool = False) -> tuple[SessionEnd, list[str]]:
    said: list[str] = []
    return SessionEnd(wire, behind, ended=ended, on_end=lambda: said.append("ended")), said


async def test_what_came_with_the_switch_comes_first(pair: tuple[Wire, socket.socket]) -> None:
    """And then what follows, to the end."""
    wire, peer = pair
    end, _ = end_of(wire, b"", b"first")
    peer.send(b"second")
    peer.close()

    assert [await end.read(), await end.read(), await end.read(), await end.read()] == [b"first", b"second", b"", b""]


async def test_an_end_that_came_with_the_switch_is_one(pair: tuple[Wire, socket.socket]) -> None:
    """Nothing is waited for that will never come."""
    end, _ = end_of(pair[0], b"all", ended=True)

    assert [await end.read(), await end.read()] == [b"all", b""]


async def test_what_nobody_reads_stays_with_its_sender(pair: tuple[Wire, socket.socket]) -> None:
    """A slow agent holds a bounded part of this process, whatever its upstream has to say."""
    wire, peer = pair
    end, _ = end_of(wire)
    loop = asyncio.get_running_loop()
    whole = 8 << 20
    sending = asyncio.ensure_future(loop.sock_sendall(peer, b"x" * whole))
    taken = len(await end.read())
    while end._held <= _HIGH_WATER:
        await asyncio.sleep(0)

    assert end._held <= _HIGH_WATER + (64 << 10)
    assert not sending.done()
    while taken < whole:
        taken += len(await end.read())
        assert end._held <= _HIGH_WATER + (64 << 10)
    await sending


async def test_the_permission_is_asked_in_the_step_of_each_system_call(pair: tuple[Wire, socket.socket]) -> None:
    """A peer that takes nothing, and then everything: the rest of the piece is not sent once it is too late."""
    wire, peer = pair
    end, _ = end_of(wire)
    asked: list[int] = []

    def may_go() -> bool:
        asked.append(wire.bytes_out)
        return len(asked) < 3

    sending = asyncio.ensure_future(end.send(b"x" * (8 << 20), may_go))
    received = 0
    while not sending.done():
        await asyncio.sleep(0)
        while True:
            try:
                received += len(peer.recv(1 << 20))
            except BlockingIOError:
                break

    assert await sending is False
    assert asked == sorted(asked)
    assert received == wire.bytes_out == asked[-1]


async def test_a_peer_that_left_is_told_by_the_answer(pair: tuple[Wire, socket.socket]) -> None:
    """Nothing is raised."""
    wire, peer = pair
    end, _ = end_of(wire)
    peer.close()

    assert not await end.send(b"x", lambda: True)


async def test_an_end_that_is_finished_still_hears(pair: tuple[Wire, socket.socket]) -> None:
    """The peer sees that nothing more comes."""
    wire, peer = pair
    end, _ = end_of(wire)
    end.finish()
    peer.send(b"bye")

    assert peer.recv(10) == b""
    assert await end.read() == b"bye"


async def test_an_abort_wakes_whoever_reads_and_is_told_once_each_time(pair: tuple[Wire, socket.socket]) -> None:
    """A reader finds the end, a sender that nothing goes."""
    end, said = end_of(pair[0])
    reading = asyncio.ensure_future(end.read())
    await asyncio.sleep(0)
    end.abort()

    assert await reading == b""
    assert not await end.send(b"x", lambda: True)
    assert said == ["ended"]


async def test_an_abort_throws_away_what_the_kernel_has_not_sent() -> None:
    """A peer that did not read gets what fitted into its window, and a reset instead of the rest."""
    wire, peer = unread()
    end, _ = end_of(wire)
    sending = asyncio.ensure_future(end.send(b"x" * (64 << 20), lambda: True))
    while wire._writable is None:
        await asyncio.sleep(0)
    end.abort()
    assert not await sending

    received = 0
    with pytest.raises(ConnectionResetError):
        while piece := peer.recv(1 << 20):
            received += len(piece)
    peer.close()
    assert received < wire.bytes_out
