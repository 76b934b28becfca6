"""TLS to the upstream: whom it trusts, what it shows, and that the deadline holds for encrypted bytes too."""

import asyncio
import contextlib
import errno
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.core.faults import BrokenAnswer
from gateway.core.outcome import NoReply, NotSent
from gateway.core.rule import Origin, Tls, Upstream
from gateway.flow.clock import BootClock
from gateway.upstream.sender import HttpSender, Reply
from gateway.upstream.wire import Wire
from tests.recording import OK
from tests.upstream.given import Given, SetClock, admitted, request


@dataclass(frozen=True)
class Certificate:
    cert: str
    key: str


def certificate(directory: Path, name: str) -> Certificate:
    """A certificate for `name` that signs itself."""
    cert, key = directory / f"{name}.pem", directory / f"{name}.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    subprocess.run([*command, "-out", cert, "-keyout", key], check=True, capture_output=True)
    return Certificate(str(cert), str(key))


@dataclass(frozen=True)
class Certificates:
    server: Certificate
    stranger: Certificate
    agent: Certificate


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    directory = tmp_path_factory.mktemp("tls")
    return Certificates(*(certificate(directory, name) for name in ("localhost", "stranger.test", "gateway.test")))


class TlsUpstream:
    """Answers every request whose head came whole with 200; `taken` is every decrypted byte that came."""

    def __init__(self) -> None:
        self.taken = b""
        self.heads = 0
        self.connections = 0
        self.surplus = b""
        self.port = 0
        self.closed = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                self.taken += data
                heads = self.taken.count(b"\r\n\r\n")
                writer.write((OK + self.surplus) * (heads - self.heads))
                self.heads = heads
        writer.close()
        self.closed.set()


@contextlib.asynccontextmanager
async def tls_upstream(server: Certificate, *, client_ca: str | None = None) -> AsyncIterator[TlsUpstream]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(server.cert, server.key)
    if client_ca is not None:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    upstream = TlsUpstream()
    listening = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, ssl=context)
    upstream.port = listening.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        listening.close()


async def send(port: int, tls: Tls, body: Given | None = None) -> Reply | NotSent | NoReply:
    sender = HttpSender(BootClock())
    upstream = Upstream("u", Origin("https", "localhost", port), tls=tls)
    try:
        return await sender.send(admitted(upstream), request(), body or Given(whole=True), BootClock().after(20))
    finally:
        sender.close()


async def test_a_trusted_upstream_is_written_to(certificates: Certificates) -> None:
    """The answer comes back whole, and a body larger than a TLS record arrives whole."""
    body = bytes(range(256)) * 400
    async with tls_upstream(certificates.server) as upstream:
        reply = await send(upstream.port, Tls(ca=certificates.server.cert), Given(body, whole=True))

        assert isinstance(reply, Reply) and reply.status == 200
        assert await reply.read_small(1_000) == (b'{"ok":true}', True)
        reply.close()
        await upstream.closed.wait()
        assert upstream.taken.endswith(b"\r\n\r\n" + body)


@pytest.mark.parametrize(
    ("trusted", "presented"), [("stranger", "server"), ("stranger", "stranger")], ids=["wrong CA", "wrong name"]
)
async def test_an_upstream_that_is_not_trusted_gets_nothing(
    certificates: Certificates, trusted: str, presented: str
) -> None:
    """Proved not sent: the certificate is checked, and its name, before the first byte of a request."""
    async with tls_upstream(getattr(certificates, presented)) as upstream:
        evidence = await send(upstream.port, Tls(ca=getattr(certificates, trusted).cert))

        assert isinstance(evidence, NotSent) and evidence.cause == "unreachable"
        assert upstream.taken == b""


async def test_verification_can_be_switched_off(certificates: Certificates) -> None:
    """`verify: false` takes any certificate with any name."""
    async with tls_upstream(certificates.stranger) as upstream:
        reply = await send(upstream.port, Tls(verify=False))

        assert isinstance(reply, Reply)
        reply.close()


@pytest.mark.parametrize(
    ("answer", "cut", "whole"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n{", True, False),
        (b"HTTP/1.1 200 OK\r\n\r\n{", False, True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{", True, True),
    ],
    ids=["cut off", "ended by an alert", "whole by its length"],
)
async def test_what_only_the_connections_end_makes_whole_wants_tls_own_end(
    certificates: Certificates, answer: bytes, cut: bool, whole: bool
) -> None:
    """Anybody on the way can end a connection (RFC 9112, section 9.8); only the upstream can say that it has."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        if cut:
            writer.get_extra_info("socket").shutdown(socket.SHUT_WR)
        else:
            writer.close()
        await reader.read()
        writer.close()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates.server.cert, certificates.server.key)
    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as listening:
        reply = await send(listening.sockets[0].getsockname()[1], Tls(ca=certificates.server.cert))

        assert isinstance(reply, Reply)
        if whole:
            assert await reply.read_small(1_000) == (b"{", True)
        else:
            with pytest.raises(BrokenAnswer, match="closure alert"):
                await reply.read_small(1_000)
        reply.close()


async def test_two_answers_in_one_piece_are_one_answer(certificates: Certificates) -> None:
    """The first one is told, and its connection is used no more: the second is nobody's."""
    async with tls_upstream(certificates.server) as upstream:
        upstream.surplus = b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n"
        sender = HttpSender(BootClock())
        to = Upstream("u", Origin("https", "localhost", upstream.port), tls=Tls(ca=certificates.server.cert))
        for _ in range(2):
            reply = await sender.send(admitted(to), request(), Given(whole=True), BootClock().after(20))
            assert isinstance(reply, Reply) and reply.status == 200
            assert await reply.read_small(1_000) == (b'{"ok":true}', True)
            reply.close()
        sender.close()

        assert upstream.connections == 2


async def test_the_gateway_shows_its_certificate(certificates: Certificates) -> None:
    """An upstream that asks for one lets the gateway in with it, and takes no request without it."""
    trusted, agent = certificates.server.cert, certificates.agent
    async with tls_upstream(certificates.server, client_ca=agent.cert) as upstream:
        refused = await send(upstream.port, Tls(ca=trusted))
        assert isinstance(refused, NotSent | NoReply) and upstream.taken == b""

        reply = await send(upstream.port, Tls(ca=trusted, cert=agent.cert, key=agent.key))

        assert isinstance(reply, Reply)
        reply.close()


async def test_the_deadline_holds_for_encrypted_bytes(certificates: Certificates) -> None:
    """It passes between two pieces: the upstream never holds the whole request, and the outcome is open."""
    clock = SetClock()

    class Turning(Given):
        async def read(self) -> bytes:
            piece = await super().read()
            clock.passed = piece == b"second"
            return piece

    sender = HttpSender(clock)
    async with tls_upstream(certificates.server) as upstream:
        to = Upstream("u", Origin("https", "localhost", upstream.port), tls=Tls(ca=certificates.server.cert))
        body = Turning(b"first-", b"second", length=12)
        evidence = await sender.send(admitted(to), request(), body, clock.after(20))
        # This upstream answers as soon as it has the head, which may be before the second piece is asked for.
        assert isinstance(evidence, NoReply | Reply)
        if isinstance(evidence, Reply):
            evidence.close()
        await upstream.closed.wait()

        assert upstream.taken.endswith(b"\r\n\r\nfirst-")
    sender.close()


async def test_nothing_is_sent_after_the_deadline_and_the_connection_is_not_used_again(
    certificates: Certificates,
) -> None:
    """A record that was made and not sent would be missing: the next request has a connection of its own."""
    clock = SetClock()
    sender = HttpSender(clock)
    async with tls_upstream(certificates.server) as upstream:
        to = Upstream("u", Origin("https", "localhost", upstream.port), tls=Tls(ca=certificates.server.cert))
        clock.passed = True
        late = await sender.send(admitted(to), request(), Given(whole=True), clock.after(20))
        clock.passed = False

        assert isinstance(late, NotSent) and late.cause == "late" and upstream.taken == b""
        reply = await sender.send(admitted(to), request(), Given(whole=True), clock.after(20))
        assert isinstance(reply, Reply)
        reply.close()
    sender.close()


async def test_whoever_speaks_with_the_end_of_the_handshake_is_not_asked(certificates: Certificates) -> None:
    """Under TLS an answer may come in the very bytes that end the handshake: it answers nothing."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificates.server.cert, certificates.server.key)
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_side=True)
        while True:
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.do_handshake()
                break
            writer.write(outgoing.read())
            incoming.write(await reader.read(65_536))
        tls.write(OK)
        writer.write(outgoing.read())
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()
        ended.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    upstream = Upstream("u", Origin("https", "localhost", port), tls=Tls(ca=certificates.server.cert))
    sender, clock = HttpSender(BootClock()), BootClock()
    result = await sender.send(admitted(upstream), request(), Given(b"x", whole=True), clock.after(10))
    server.close()
    await ended.wait()

    assert isinstance(result, NotSent) and "before it was asked" in result.detail


class Deaf(socket.socket):
    """Takes no option any more, as macOS has it once the peer has reset the connection."""

    def setsockopt(self, *_: object) -> None:  # type: ignore[override]  # of its forms only the refusal counts
        raise OSError(errno.EINVAL, "Invalid argument")


async def test_a_connection_closes_whatever_may_still_be_set() -> None:
    """Its descriptor and its place in the pool are not lost."""
    ours, theirs = socket.socketpair()
    wire = Wire(ours)
    wire._sock = Deaf(fileno=ours.detach())
    wire.bound_unsent(1024)
    wire.close()
    theirs.close()

    assert (wire.closed, wire._sock.fileno()) == (True, -1)
