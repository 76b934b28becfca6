"""Accepts connections on a listener's sockets, over TLS where files are named.

Changed files count from the next connection on; those that are open keep what they began with.
"""

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from ssl import SSLContext

from gateway.log import Log
from gateway.serve.port import BACKLOG
from gateway.serve.tls import TlsFault, TlsFiles

# An operator who has renewed a certificate looks next whether it is served.
_LOOK_EVERY_S = 1.0
# Files that could not be used may be usable although nobody has changed them: their rights are mended, and there is a
# descriptor left to open them.
_AGAIN_AFTER_S = 5.0
# A client that begins a handshake and falls silent holds a connection that was never counted.
_HANDSHAKE_WITHIN_S = 10.0
# One that does not answer the closing alert is not waited for longer than others take to answer it.
_SHUTDOWN_WITHIN_S = 5.0


class Accepting:
    """One listener. `sockets` listen already; they are closed in the end."""

    def __init__(
        self,
        factory: Callable[[], asyncio.Protocol],
        sockets: Sequence[socket.socket],
        files: TlsFiles | None,
        log: Log,
    ) -> None:
        self._factory = factory
        self._sockets = sockets
        self._files = files
        self._log = log
        self._tried = None if files is None else files.stamp()
        # None: what was tried last is in force.
        self._failed_at: float | None = None
        self._told = ""
        self._servers: list[asyncio.Server] = []
        self._context: SSLContext | None = None

    async def open(self) -> None:
        """Accept from now on. Raises TlsFault."""
        await self._serve(None if self._files is None else self._files.context())

    def close(self) -> None:
        """Accept nothing more; connections that are open stay."""
        for server in self._servers:
            server.close()
        for listening in self._sockets:
            listening.close()

    async def finish(self) -> None:
        """As `close`, once those are accepted that the system has connected already: it would reset them."""
        for server in self._servers:
            server.close()
        # By then the loop has let go of its own descriptors, and nobody else accepts here.
        await asyncio.sleep(0)
        waiting: list[socket.socket] = []
        for listening in self._sockets:
            waiting += _connected(listening)
            listening.close()
        # At once: one that is silent in its handshake must not keep those behind it waiting.
        await asyncio.gather(*(self._take(connection, self._context) for connection in waiting))

    async def _take(self, connection: socket.socket, context: SSLContext | None) -> None:
        patience = None if context is None else _HANDSHAKE_WITHIN_S
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._factory, connection, ssl=context, ssl_handshake_timeout=patience
            )
        except OSError:
            # It has left, or failed its handshake.
            connection.close()

    async def renew(self) -> None:
        """Read files that have changed. If they cannot be used, those in force stay, and the log says why."""
        if self._files is None or (self._files.stamp() == self._tried and self._failed_at is None):
            return
        if self._files.stamp() != self._tried:
            self._tried, self._told = self._files.stamp(), ""
        try:
            await self._serve(self._files.context())
        except (TlsFault, OSError) as fault:
            # An OSError is such as where there is no descriptor left: nothing is wrong with the files.
            self._failed_at = asyncio.get_running_loop().time()
            self._tell(str(fault))
            return
        self._failed_at, self._told = None, ""
        self._log.info("the TLS files were reloaded", cert=self._files.cert)

    def _tell(self, reason: str) -> None:
        """Once: it is tried again and again."""
        if reason != self._told:
            self._told = reason
            self._log.error("the TLS files were not reloaded; those in force stay", reason=reason)

    async def watch(self) -> None:
        """Renew whenever the files have changed. Ends at once without files, else never.

        The second look keeps out a file that is still being written, or a new certificate whose key is yet to come.
        """
        looked = self._tried
        while self._files is not None:
            await asyncio.sleep(_LOOK_EVERY_S)
            now = self._files.stamp()
            if now == looked and (now != self._tried or self._is_due_again()):
                await self.renew()
            looked = now

    def _is_due_again(self) -> bool:
        return self._failed_at is not None and asyncio.get_running_loop().time() - self._failed_at >= _AGAIN_AFTER_S

    async def _serve(self, context: SSLContext | None) -> None:
        """Begin with this context, then end with the last one. Raises OSError, and the last one stays.

        A context in use cannot take an authority back, so there is a new one, and servers for it on second descriptors
        of the same sockets: connections that wait to be accepted are lost to neither.
        """
        servers: list[asyncio.Server] = []
        try:
            for listening in self._sockets:
                servers.append(await self._server(listening, context))
        except OSError:
            for server in servers:
                server.close()
            raise
        former, self._servers, self._context = self._servers, servers, context
        for server in former:
            server.close()

    async def _server(self, listening: socket.socket, context: SSLContext | None) -> asyncio.Server:
        patience = None if context is None else _HANDSHAKE_WITHIN_S
        farewell = None if context is None else _SHUTDOWN_WITHIN_S
        return await asyncio.get_running_loop().create_server(
            self._factory,
            sock=listening.dup(),
            backlog=BACKLOG,
            ssl=context,
            ssl_handshake_timeout=patience,
            ssl_shutdown_timeout=farewell,
        )


def _connected(listening: socket.socket) -> Iterator[socket.socket]:
    """Those that wait to be accepted, without waiting for others."""
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        connection.setblocking(False)
        yield connection
