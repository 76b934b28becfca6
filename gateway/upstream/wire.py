"""One connection's bytes: a non-blocking socket, plain or TLS, where every write is preceded by a check.

An event loop's transport would buffer what the kernel does not take and flush it later on its own, so that a gateway
stopped in between would complete a request long after its deadline. Here nothing is buffered: the check and the
system call stand in one step, and the window that is left is the instructions between the two.

The kernel has a buffer too, and goes on sending from it for a process that is stopped, or dead. So the end of a large
message is kept back until nearly all before it has arrived; whoever closes, or dies, takes back what has not left; and
what nobody acknowledges is given up by the kernel itself.
"""

import asyncio
import contextlib
import fcntl
import select
import socket
import ssl
import struct
import termios
from collections.abc import Callable

from gateway.upstream.own import NOWHERE, OwnListeners

# One read takes at most this much; larger ones gain nothing on loopback or a 10 Gbit/s link.
_READ_SIZE = 64 << 10
# TLS records hold at most 16 KiB (RFC 8446, section 5.1): encrypting more at once would only hold it in memory.
_RECORD_SIZE = 16 << 10
# Of a message the kernel may have so much that has not arrived, once its end is given to it: any peer that reads at all
# takes that at once.
_IN_KERNEL = 16 << 10
# Between two looks at what has arrived; nothing tells.
_LOOK_AGAIN_S = 0.002
# socket(7): closing drops what has not left, and tells the peer so.
_RESET = struct.pack("ii", 1, 0)
_FLUSH = struct.pack("ii", 0, 0)
# tcp(7), since Linux 2.6.37. Elsewhere a stopped process's kernel sends for as long as it likes.
_USER_TIMEOUT = getattr(socket, "TCP_USER_TIMEOUT", None)

Guard = Callable[[], None]


class Wire:
    """A connected socket. Bytes that come are handed to `on_data`; the end, with or without an error, to `on_end`."""

    def __init__(self, sock: socket.socket) -> None:
        # Kept: before Python 3.12 each question for it is a system call, and there are several in a request.
        self.loop = asyncio.get_running_loop()
        self._sock = sock
        self._ready = select.poll()
        self._ready.register(sock, select.POLLIN)
        self._reading = False
        self._writable: asyncio.Future[None] | None = None
        self._gives_up_after_ms = 0
        # From the beginning, for a process that is killed closes nothing by itself.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.closed = False
        self.bytes_out = 0
        self.on_data: Callable[[bytes], None] = _ignore
        self.on_end: Callable[[OSError | None], None] = _ignore

    def resume(self) -> None:
        """Read whenever something comes."""
        if not self._reading and not self.closed:
            self._reading = True
            self.loop.add_reader(self._sock, self._on_readable)

    def pause(self) -> None:
        """Leave what comes in the kernel, which tells the peer to slow down."""
        if self._reading:
            self._reading = False
            self.loop.remove_reader(self._sock)

    def poll(self) -> None:
        """Take what has already come, without waiting: an idle connection's end is seen before it is used again."""
        # To read where nothing has come is an exception, which costs three times as much as this look.
        if self._ready.poll(0):
            self._on_readable()

    def send_now(self, data: bytes, guard: Guard) -> int:
        """Send what leaves without waiting, and say how many bytes that were; `send` goes on from there.

        `guard` runs in the same step as the system call, and stops the sending by raising. Raises OSError when the
        connection is broken.
        """
        if self.closed:
            raise ConnectionAbortedError("the connection was closed")
        guard()
        try:
            sent = self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        self.bytes_out += sent
        return sent

    async def send(self, data: bytes, guard: Guard) -> None:
        """Send all of `data`. `guard` and what is raised as in `send_now`, for each system call."""
        await self._send_raw(data, guard)

    async def send_end(self, data: bytes, guard: Guard) -> None:
        """Send the rest of a message: its end leaves only once nearly all before it has arrived."""
        end = max(0, len(data) - _IN_KERNEL)
        await self.send(data[:end], guard)
        while self.unsent > _IN_KERNEL and not self.closed:
            guard()
            await asyncio.sleep(_LOOK_AGAIN_S)
        await self.send(data[end:], guard)

    @property
    def unsent(self) -> int:
        """Bytes that the kernel has taken and the peer has not acknowledged; 0 where the kernel does not tell."""
        if self.closed:
            return 0
        try:
            (count,) = struct.unpack("i", fcntl.ioctl(self._sock, termios.TIOCOUTQ, bytes(4)))
        except OSError:
            return 0
        return int(count)

    def give_up_after(self, seconds: float | None) -> None:
        """What the peer does not acknowledge for so long is dropped, with the connection. None: as the system does.

        It may be dropped up to a tenth of that time earlier: the next request of the connection then seldom has to say
        it anew.
        """
        if _USER_TIMEOUT is None or self.closed:
            return
        wanted_ms = 0 if seconds is None else max(1, int(seconds * 1000))
        if self._gives_up_after_ms and wanted_ms * 9 // 10 <= self._gives_up_after_ms <= wanted_ms:
            return
        self._gives_up_after_ms = wanted_ms - wanted_ms // 20
        try:
            self._sock.setsockopt(socket.IPPROTO_TCP, _USER_TIMEOUT, self._gives_up_after_ms)
        except OSError:
            # A socket of another family, or one whose peer has gone: the next system call tells.
            return

    def bound_unsent(self, size: int) -> None:
        """The kernel takes about so many bytes more than have arrived, and no more."""
        if not self.closed:
            # It doubles what it is told (socket(7)).
            self._set(socket.SO_SNDBUF, size // 2)

    async def _send_raw(self, data: bytes, guard: Guard) -> None:
        view = memoryview(data)
        while view:
            if self.closed:
                raise ConnectionAbortedError("the connection was closed")
            guard()
            try:
                sent = self._sock.send(view)
            except (BlockingIOError, InterruptedError):
                await self._until_writable()
            else:
                self.bytes_out += sent
                view = view[sent:]

    async def _until_writable(self) -> None:
        self._writable = self.loop.create_future()
        self.loop.add_writer(self._sock, self._on_writable)
        try:
            await self._writable
        finally:
            self._writable = None
            if not self.closed:
                self.loop.remove_writer(self._sock)

    def interrupt(self) -> None:
        """Wake a `send` that waits for room, so that its guard is asked again."""
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)

    _on_writable = interrupt

    def close(self) -> None:
        """Close at once. Nothing is flushed: what has not arrived is dropped, and the connection reset."""
        if self.closed:
            return
        self.pause()
        if self.unsent == 0:
            self._set(socket.SO_LINGER, _FLUSH)
        self._shut()

    def _set(self, option: int, value: int | bytes) -> None:
        """Of a connection that its peer has reset macOS takes no option: the next system call tells."""
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, option, value)

    def _shut(self) -> None:
        self.closed = True
        if self._writable is not None:
            self.loop.remove_writer(self._sock)
            self.interrupt()
        self._sock.close()
        self.on_data = self.on_end = _ignore

    def close_on(self, _: object) -> None:
        """For an idle connection: whatever comes, or its end, makes it useless."""
        self.close()

    def finish(self) -> None:
        """Tell the peer that nothing more will come; what it says is still read."""
        if not self.closed:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)

    def abort(self) -> None:
        """Close by a reset, whatever has arrived: the peer must not take what it has for all there was to come."""
        if not self.closed:
            self.pause()
            self._shut()

    def _on_readable(self) -> None:
        try:
            data = self._sock.recv(_READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.pause()
            self.on_end(error)
            return
        if data:
            self._received(data)
        else:
            self.pause()
            self._ended()

    def _ended(self) -> None:
        """The peer sends nothing more."""
        self.on_end(None)

    def _received(self, data: bytes) -> None:
        self.on_data(data)


class TlsWire(Wire):
    """The same over TLS. A record that has left only in part is worth nothing to the peer: the guard holds here too."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, server_name: str) -> None:
        super().__init__(sock)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_name)
        self._progress: asyncio.Future[None] | None = None
        self._handshaken = False

    async def handshake(self) -> None:
        """Raises ssl.SSLError where the certificate or the protocol is not accepted, OSError where the peer left."""
        self.on_end = self._ended_early
        self.resume()
        while True:
            self._progress = self.loop.create_future()
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._send_raw(self._outgoing.read(), _ignore)
                await self._progress
                continue
            break
        await self._send_raw(self._outgoing.read(), _ignore)
        self._progress = None
        self._handshaken = True
        self.on_end = _ignore
        self.pause()

    def poll(self) -> None:
        if self._incoming.pending:
            # It came with the end of the handshake, and the socket tells nothing of it any more.
            self._received(b"")
        if not self.closed:
            super().poll()

    def send_now(self, data: bytes, guard: Guard) -> int:  # noqa: ARG002  # as of a plain wire, whose place it takes
        """Nothing: of a record that has left in part, `send` has to know the rest."""
        return 0

    async def send(self, data: bytes, guard: Guard) -> None:
        view = memoryview(data)
        for start in range(0, len(view), _RECORD_SIZE):
            self._tls.write(view[start : start + _RECORD_SIZE])
            await self._send_raw(self._outgoing.read(), guard)

    def _ended(self) -> None:
        """Without TLS's own word for it: anybody on the way can cut a connection, and what only its end makes whole
        is not whole (RFC 9112, section 9.8)."""
        self.on_end(ConnectionAbortedError("its TLS was cut off without a closure alert"))

    def _ended_early(self, error: OSError | None) -> None:
        if self._progress is not None and not self._progress.done():
            self._progress.set_exception(error or ConnectionResetError("the peer closed during the TLS handshake"))

    def _received(self, data: bytes) -> None:
        self._incoming.write(data)
        if not self._handshaken:
            if self._progress is not None and not self._progress.done():
                self._progress.set_result(None)
            return
        while not self.closed:
            try:
                plain = self._tls.read(_READ_SIZE)
            except ssl.SSLWantReadError:
                return
            except ssl.SSLZeroReturnError:
                plain = b""
            except ssl.SSLError as error:
                self.pause()
                self.on_end(error)
                return
            if not plain:
                self.pause()
                self.on_end(None)
                return
            self.on_data(plain)


def _ignore(*_: object) -> None:
    """Nobody listens: an idle connection, or one not yet in use."""


async def connect(address: tuple[str, int], context: ssl.SSLContext | None, own: OwnListeners = NOWHERE) -> Wire:
    """Connect to the first address of a name that answers, and is none of the gateway's `own`. Raises OSError
    (ssl.SSLError among them)."""
    loop = asyncio.get_running_loop()
    host, port = address
    failure: OSError = ConnectionRefusedError(f"{host} has no address")
    for family, kind, protocol, _, where in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(sock, where)
            if own.reached_by(sock):
                raise ConnectionRefusedError("this gateway itself listens there")
            if context is None:
                return Wire(sock)
            secured = TlsWire(sock, context, host)
            await secured.handshake()
        except OSError as error:
            failure = error
            with contextlib.suppress(OSError):
                _discard(loop, sock)
        except BaseException:
            _discard(loop, sock)
            raise
        else:
            return secured
    raise failure


def _discard(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
    if sock.fileno() >= 0:
        loop.remove_reader(sock)
        loop.remove_writer(sock)
        sock.close()
