"""A listener's connections: plain or over TLS, and what changed certificates mean for them."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.core.address import Address
from gateway.log import Log
from gateway.serve.accepting import Accepting
from gateway.serve.port import listen_alone
from gateway.serve.tls import TlsFault, TlsFiles
from tests.certificates import Authority
from tests.until import until

# What a client sees of a handshake that the other side has ended, by TLS version and by who wrote first.
CUT_OFF = (ssl.SSLError, ConnectionError, EOFError)


class Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


@contextlib.asynccontextmanager
async def accepting(files: TlsFiles | None, directory: Path) -> AsyncIterator[tuple[Accepting, int]]:
    sockets = listen_alone(Address("127.0.0.1", 0))
    with (directory / "log").open("ab") as log:
        listener = Accepting(Echo, sockets, files, Log("json", descriptor=log.fileno()))
        port = sockets[0].getsockname()[1]
        await listener.open()
        try:
            yield listener, port
        finally:
            listener.close()


async def shown(port: int, tls: ssl.SSLContext | None) -> str:
    """The common name of the certificate that the listener shows, once a byte went both ways."""
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
        try:
            return await _echoed(reader, writer)
        finally:
            writer.close()


async def _echoed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
    writer.write(b"x")
    assert await reader.readexactly(1) == b"x"
    peer = writer.get_extra_info("peercert")
    return "" if peer is None else str(dict(pair[0] for pair in peer["subject"])["commonName"])


async def test_without_files_connections_are_plain(tmp_path: Path) -> None:
    """TLS is an operator's choice."""
    async with accepting(None, tmp_path) as (_, port):
        assert await shown(port, None) == ""


async def test_changed_files_count_from_the_next_connection_on(tmp_path: Path) -> None:
    """Open ones go on; a pair that does not belong together leaves the one in force."""
    authority = Authority(tmp_path)
    (cert, key), (renewed, its_key) = authority.issue("first"), authority.issue("second")
    async with accepting(TlsFiles(str(cert), str(key)), tmp_path) as (listener, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=authority.client())
        assert await _echoed(reader, writer) == "first"

        cert.write_bytes(renewed.read_bytes())
        await listener.renew()
        assert await shown(port, authority.client()) == "first"
        key.write_bytes(its_key.read_bytes())
        await listener.renew()

        assert await shown(port, authority.client()) == "second"
        assert await _echoed(reader, writer) == "first"
        writer.close()
    log = (tmp_path / "log").read_text()
    assert log.count("were not reloaded") == 1
    assert log.count("were reloaded") == 1


async def test_changes_are_noticed(tmp_path: Path) -> None:
    """Within two seconds, without a signal."""
    authority = Authority(tmp_path)
    cert, key = authority.issue("first")
    async with accepting(TlsFiles(str(cert), str(key)), tmp_path) as (listener, port):
        watching = asyncio.get_running_loop().create_task(listener.watch())
        for old, new in zip((cert, key), authority.issue("second"), strict=True):
            new.replace(old)

        await until(lambda: "were reloaded" in (tmp_path / "log").read_text())

        assert await shown(port, authority.client()) == "second"
        watching.cancel()


async def test_clients_show_a_certificate_of_the_named_authority(tmp_path: Path) -> None:
    """None, or another authority's, ends the handshake; an authority that is replaced is no longer taken."""
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path / "other", "theirs")
    cert, key = ours.issue("gateway")
    ca = tmp_path / "clients.pem"
    ca.write_bytes(ours.ca.read_bytes())
    known, stranger = ours.client(*ours.issue("agent")), ours.client(*theirs.issue("agent"))
    async with accepting(TlsFiles(str(cert), str(key), str(ca)), tmp_path) as (listener, port):
        assert await shown(port, known) == "gateway"
        for refused in (ours.client(), stranger):
            with pytest.raises(CUT_OFF):
                await shown(port, refused)

        ca.write_bytes(theirs.ca.read_bytes())
        await listener.renew()

        assert await shown(port, stranger) == "gateway"
        with pytest.raises(CUT_OFF):
            await shown(port, known)


async def test_old_versions_and_plain_text_are_refused(tmp_path: Path) -> None:
    """Neither reaches the protocol behind."""
    authority = Authority(tmp_path)
    cert, key = authority.issue("gateway")
    async with accepting(TlsFiles(str(cert), str(key)), tmp_path) as (_, port):
        async with asyncio.timeout(20):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                assert b"GET" not in await reader.read()
            writer.close()
        assert await shown(port, authority.client()) == "gateway"


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
async def test_whoever_the_system_has_connected_is_taken_before_the_end(tls: bool, tmp_path: Path) -> None:
    """Closed over them, the socket would reset them, and nobody could tell whether their requests were read."""
    authority = Authority(tmp_path)
    files = TlsFiles(*map(str, authority.issue("localhost"))) if tls else None
    context = authority.client() if tls else None
    async with accepting(files, tmp_path) as (listener, port):
        # Without a turn of the event loop between: nobody has accepted them.
        waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for each in waiting:
            each.setblocking(False)
        ending = asyncio.ensure_future(listener.finish())
        names = await asyncio.gather(*(_over(each, context) for each in waiting))
        await ending
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    assert names == ["localhost" if tls else ""] * 20


async def _over(connected: socket.socket, tls: ssl.SSLContext | None) -> str:
    async with asyncio.timeout(20):
        name = None if tls is None else "localhost"
        reader, writer = await asyncio.open_connection(sock=connected, ssl=tls, server_hostname=name)
        try:
            return await _echoed(reader, writer)
        finally:
            writer.close()


async def test_one_that_is_silent_keeps_no_other_waiting_at_the_end(tmp_path: Path) -> None:
    """Of those that the system has connected, each makes its handshake for itself."""
    authority = Authority(tmp_path)
    files = TlsFiles(*map(str, authority.issue("localhost")))
    async with accepting(files, tmp_path) as (listener, port):
        with socket.create_connection(("127.0.0.1", port)):
            behind = socket.create_connection(("127.0.0.1", port))
            behind.setblocking(False)
            ending = asyncio.ensure_future(listener.finish())
            async with asyncio.timeout(5):
                assert await _over(behind, authority.client()) == "localhost"
        async with asyncio.timeout(5):
            await ending


async def test_files_that_cannot_be_put_in_force_now_are_tried_again(tmp_path: Path) -> None:
    """Such as where the process has no descriptor left: the ones in force stay, and nothing ends."""
    authority = Authority(tmp_path)
    cert, key = authority.issue("first")
    with (tmp_path / "log").open("ab") as log:
        (listening,) = listen_alone(Address("127.0.0.1", 0))
        closed = socket.socket()
        closed.close()
        files = TlsFiles(str(cert), str(key))
        listener = Accepting(Echo, [listening], files, Log("json", descriptor=log.fileno()))
        await listener.open()
        for old, new in zip((cert, key), authority.issue("second"), strict=True):
            new.replace(old)
        listener._sockets = [listening, closed]
        await listener.renew()
        assert await shown(listening.getsockname()[1], authority.client()) == "first"

        listener._sockets = [listening]
        await listener.renew()
        assert await shown(listening.getsockname()[1], authority.client()) == "second"
        listener.close()
    assert "were not reloaded" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("becomes", [b"", b"-----BEGIN CERTIFICATE-----\n", None], ids=["empty", "half", "gone"])
async def test_an_authority_whose_file_is_lost_goes_on_counting(becomes: bytes | None, tmp_path: Path) -> None:
    """Whoever shows no certificate stays out: no file that is at fault opens the listener to everybody."""
    ours = Authority(tmp_path, "ours")
    ca, agent = tmp_path / "clients.pem", ours.issue("agent")
    ca.write_bytes(ours.ca.read_bytes())
    cert, key = ours.issue("gateway")
    async with accepting(TlsFiles(str(cert), str(key), str(ca)), tmp_path) as (listener, port):
        ca.unlink() if becomes is None else ca.write_bytes(becomes)
        await listener.renew()

        with pytest.raises(CUT_OFF):
            await shown(port, ours.client())
        assert await shown(port, ours.client(*agent)) == "gateway"
    assert "were not reloaded" in (tmp_path / "log").read_text()


async def test_no_session_outlives_the_authority_of_its_client(tmp_path: Path) -> None:
    """A client that was let in under a replaced authority cannot resume what it had (TLS 1.2)."""
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path / "other", "theirs")
    ca, agent = tmp_path / "clients.pem", ours.issue("agent")
    ca.write_bytes(ours.ca.read_bytes())
    cert, key = ours.issue("gateway")
    client = ours.client(*agent)
    client.maximum_version = ssl.TLSVersion.TLSv1_2

    def visit(port: int, session: ssl.SSLSession | None) -> tuple[ssl.SSLSession | None, bool | None]:
        with (
            socket.create_connection(("127.0.0.1", port), 20) as plain,
            client.wrap_socket(plain, server_hostname="localhost", session=session) as secured,
        ):
            secured.sendall(b"x")
            if secured.recv(1) != b"x":
                raise EOFError
            return secured.session, secured.session_reused

    async with accepting(TlsFiles(str(cert), str(key), str(ca)), tmp_path) as (listener, port):
        session, _ = await asyncio.to_thread(visit, port, None)
        assert (await asyncio.to_thread(visit, port, session))[1]

        ca.write_bytes(theirs.ca.read_bytes())
        await listener.renew()

        with pytest.raises(CUT_OFF):
            await asyncio.to_thread(visit, port, session)


class Unreadable(TlsFiles):
    """Cannot be used for so many times, whatever is in the files."""

    left = 1

    def context(self) -> ssl.SSLContext:
        if Unreadable.left:
            Unreadable.left -= 1
            raise TlsFault("it cannot be read")
        return super().context()


async def test_files_that_could_not_be_used_are_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody changes a file whose rights were wrong, or for which there was no descriptor left. It is told once."""
    monkeypatch.setattr("gateway.serve.accepting._LOOK_EVERY_S", 0.01)
    monkeypatch.setattr("gateway.serve.accepting._AGAIN_AFTER_S", 0.01)
    monkeypatch.setattr(Unreadable, "left", 0)
    authority = Authority(tmp_path)
    cert, key = authority.issue("first")
    async with accepting(Unreadable(str(cert), str(key)), tmp_path) as (listener, port):
        Unreadable.left = 3
        watching = asyncio.get_running_loop().create_task(listener.watch())
        for old, new in zip((cert, key), authority.issue("second"), strict=True):
            new.replace(old)

        await until(lambda: "were reloaded" in (tmp_path / "log").read_text())

        assert await shown(port, authority.client()) == "second"
        watching.cancel()
    assert (tmp_path / "log").read_text().count("it cannot be read") == 1
