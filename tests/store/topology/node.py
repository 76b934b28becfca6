"""A server process on a TCP port of its own: a cluster's node, a primary, a replica or a sentinel."""

import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from gateway.store.embedded import find_server
from tests.until import soon

# Ports of the cluster's bus are 10,000 above; what the system gives to outgoing connections begins at 32768.
_LEAST, _MOST = 11_000, 22_000


def free_port() -> int:
    """A port that nobody listens at, nor at the one of the bus that belongs to it."""
    for port in _candidates():
        with socket.socket() as probe, socket.socket() as bus:
            try:
                probe.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
            return port
    raise AssertionError("no free port")


def _candidates() -> Any:
    """Each process of tests begins elsewhere, and no port is handed out twice."""
    global _next
    while _next < _MOST:
        _next += 1
        yield _next


_next = _LEAST + (hash(Path("/proc/self").resolve().name) % 1_000) * 10


@dataclass(frozen=True)
class Tls:
    """Files of a node that is spoken to over TLS only, by whoever has a certificate of the same authority."""

    ca: Path
    cert: Path
    key: Path

    @property
    def options(self) -> tuple[str, ...]:
        files = ("--tls-ca-cert-file", self.ca, "--tls-cert-file", self.cert, "--tls-key-file", self.key)
        return (*map(str, files), "--tls-replication", "yes", "--tls-cluster", "yes")

    @property
    def query(self) -> str:
        """Of a URL that leads to it."""
        return f"ssl_ca_certs={self.ca}&ssl_certfile={self.cert}&ssl_keyfile={self.key}"


class Node:
    """One process. `options` are words of its command line, after the configuration file where it has one."""

    def __init__(
        self,
        directory: Path,
        *options: str,
        binary: str | None = None,
        configuration: str = "",
        tls: Tls | None = None,
    ) -> None:
        directory.mkdir(parents=True)
        self.port = free_port()
        self._tls = tls
        self._binary = binary or find_server()
        self._directory = directory
        file = directory / "node.conf"
        file.write_text(configuration)
        ports = (
            ("--port", str(self.port)) if tls is None else ("--port", "0", "--tls-port", str(self.port), *tls.options)
        )
        here = (*ports, "--bind", "127.0.0.1", "--dir", str(directory))
        self._command = [self._binary, str(file), *here, *options]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def written_bytes(self) -> int:
        """The size of the append-only file that it writes to."""
        newest = max(self._directory.glob("appendonlydir/*.incr.aof"), key=lambda file: file.stat().st_mtime_ns)
        return newest.stat().st_size

    def start(self) -> None:
        """Returns once it answers."""
        log = (self._directory / "log").open("ab")
        with log:
            # Python ignores SIGXFSZ, and so does its child: at a limit of its files' size it is told that they are too
            # large, as it is of a full disk, and does not end.
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, restore_signals=False)
        soon(self._answers)

    def stop(self) -> None:
        """End it as a machine that loses its power."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self) -> Any:
        """Untyped: redis-py's replies are unions."""
        return redis.Redis(port=self.port)

    def ask(self, *words: str | bytes | int) -> Any:
        """One command, and its reply as it came."""
        connection = self._connection()
        try:
            connection.send_command(*words)
            return connection.read_response()
        finally:
            connection.disconnect()

    def _connection(self) -> redis.Connection:
        if self._tls is None:
            return redis.Connection(host="127.0.0.1", port=self.port, protocol=2)
        files = {
            "ssl_ca_certs": str(self._tls.ca),
            "ssl_certfile": str(self._tls.cert),
            "ssl_keyfile": str(self._tls.key),
        }
        return redis.SSLConnection(host="127.0.0.1", port=self.port, protocol=2, **files)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._directory / "log").read_text()
        try:
            return bool(self.ask("PING"))
        except redis.ConnectionError:
            return False
