"""What the kernel has taken and the peer has not: none of it arrives after the gateway gave up, or died."""

import asyncio
import socket
import struct

import pytest

from gateway.core.outcome import NoReply
from gateway.core.rule import Timeouts
from gateway.flow.clock import BootClock
from gateway.upstream.sender import HttpSender
from tests.until import until
from tests.upstream.given import Given, request, send, unread, upstream_at

BODY = b"x" * 300_000


def read_all(peer: socket.socket) -> int:
    """How many bytes came before the connection was reset."""
    received = 0
    with pytest.raises(ConnectionResetError):
        while piece := peer.recv(1 << 20):
            received += len(piece)
    peer.close()
    return received


def free() -> None:
    """A guard that lets everything go."""


async def test_closing_takes_back_what_has_not_arrived() -> None:
    """Also what the kernel had taken: it would send it long after the write was given up."""
    wire, peer = unread()
    await wire.send(BODY, free)
    assert wire.bytes_out == len(BODY)

    wire.close()

    assert read_all(peer) < len(BODY)


async def test_a_killed_process_leaves_nothing_to_be_sent() -> None:
    """The kernel closes its sockets, and knows since they were made what to do with what is left."""
    wire, peer = unread()
    try:
        assert wire._sock.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8) == struct.pack("ii", 1, 0)
    finally:
        wire.close()
        peer.close()


async def test_closing_what_has_arrived_resets_nothing() -> None:
    """A peer that has the whole message is not told otherwise."""
    wire, peer = unread()
    await wire.send(b"whole", free)
    await until(lambda: wire.unsent == 0)

    wire.close()

    assert (peer.recv(10), peer.recv(10)) == (b"whole", b"")
    peer.close()


async def test_the_end_of_a_large_message_waits_for_the_rest_to_arrive() -> None:
    """A process that is stopped meanwhile has not given it to its kernel."""
    wire, peer = unread()
    sending = asyncio.ensure_future(wire.send_end(BODY + b"END", free))
    await until(lambda: wire.bytes_out > 0)
    for _ in range(20):
        await asyncio.sleep(0)
    assert wire.bytes_out < len(BODY)
    assert not sending.done()

    peer.setblocking(False)
    loop = asyncio.get_running_loop()
    received = b""
    while not received.endswith(b"END"):
        received += await loop.sock_recv(peer, 1 << 20)
    await sending
    assert len(received) == len(BODY) + 3
    wire.close()
    peer.close()


async def test_a_write_that_has_not_arrived_whole_in_time_never_does() -> None:
    """It is unknown, nobody listens for its answer, and what is left is dropped: no newer write meets it."""
    server = socket.create_server(("127.0.0.1", 0))
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    upstream = upstream_at(server.getsockname()[1], "127.0.0.1", timeouts=Timeouts(total_s=0.3))
    sender = HttpSender(BootClock())
    try:
        evidence = await send(sender, upstream, request("PUT"), Given(BODY, whole=True))
        peer, _ = server.accept()
    finally:
        server.close()
        sender.close()

    assert isinstance(evidence, NoReply) and evidence.cause == "timeout"
    assert read_all(peer) < len(BODY)
