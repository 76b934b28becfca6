"""No connection to an upstream ends at the gateway itself."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.core.address import Address
from gateway.core.outcome import NotSent
from gateway.flow.clock import BootClock
from gateway.upstream.own import NOWHERE, OwnListeners
from gateway.upstream.sender import HttpSender
from tests.raw import ask
from tests.recording import RecordingUpstream
from tests.stack import stack
from tests.upstream.given import Given, admitted, request, send, upstream_at


@contextlib.contextmanager
def connected(family: socket.AddressFamily, listen: str, to: str) -> Iterator[tuple[socket.socket, int]]:
    """A socket whose other end listens there, and at which port."""
    with socket.socket(family) as listening, socket.socket(family) as calling:
        listening.bind((listen, 0))
        listening.listen()
        port = listening.getsockname()[1]
        calling.connect((to, port))
        yield calling, port


@pytest.mark.parametrize(
    ("own", "to", "is_own"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("0.0.0.0", "127.0.0.1", True),
        ("0.0.0.0", "127.0.0.5", True),
        ("::", "127.0.0.1", True),
        ("::ffff:127.0.0.1", "127.0.0.1", True),
        ("gate.internal", "127.0.0.1", True),
        ("127.0.0.2", "127.0.0.1", False),
        ("192.0.2.1", "127.0.0.1", False),
    ],
    ids=[
        *("the same address", "everywhere", "everywhere, by any loopback address", "everywhere in IPv6"),
        *("IPv4 in IPv6", "a name", "another loopback address", "another machine's"),
    ],
)
def test_a_connection_is_told_by_its_other_end(own: str, to: str, is_own: bool) -> None:
    """By the address and the port that were reached, whatever name led there; another port is anybody's."""
    with connected(socket.AF_INET, to, to) as (calling, port):
        assert OwnListeners([(own, port)]).reached_by(calling) is is_own
        assert not OwnListeners([(own, port + 1)]).reached_by(calling)
        assert not NOWHERE.reached_by(calling)


def test_the_same_holds_in_ipv6() -> None:
    """`::1` is loopback, too."""
    with connected(socket.AF_INET6, "::1", "::1") as (calling, port):
        assert OwnListeners([("::1", port)]).reached_by(calling)
        assert OwnListeners([("::", port)]).reached_by(calling)
        assert not OwnListeners([("127.0.0.1", port)]).reached_by(calling)


async def test_nothing_is_sent_to_the_gateway_itself() -> None:
    """It counts as not reached, for a request and for a handshake alike: proved not sent."""
    async with RecordingUpstream() as recorder:
        sender = HttpSender(BootClock(), own=OwnListeners([("127.0.0.1", recorder.port)]))
        upstream = upstream_at(recorder.port)
        asked = await send(sender, upstream, request(), Given(b"{}", whole=True))
        switched = await sender.switch(admitted(upstream), request(), Given(whole=True), BootClock().after(20))
        read = await sender.read(upstream, request("GET"), Given(whole=True))
        sender.close()

        for evidence in (asked, switched, read):
            assert isinstance(evidence, NotSent) and evidence.cause == "unreachable"
            assert "this gateway itself listens there" in evidence.detail
        assert (recorder.seen, recorder.partial) == ([], [])


async def test_a_worker_knows_where_its_gateway_listens(store_url: str, tmp_path: Path) -> None:
    """A name that leads there once the policies are in force reaches nobody."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    recorder, here = RecordingUpstream(port=port), Address("0.0.0.0", port)
    async with stack(store_url, tmp_path, upstream=recorder, listen=here) as gate:
        await gate.lease("report/7")
        answers = [await gate.write("/reports/7"), await ask(gate.port, "GET", "/reports/7")]

        assert [(one.status, one.decision) for one in answers] == [(502, "upstream-unreachable")] * 2
        assert recorder.seen == []
