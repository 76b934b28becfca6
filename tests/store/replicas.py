"""A primary and its replica, each a process on a port of its own."""

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.store.topology.node import Node
from tests.until import soon

_OPTIONS = ("--save", "", "--repl-diskless-sync-delay", "0", "--maxmemory-policy", "noeviction")


@dataclass(frozen=True, slots=True)
class Replicated:
    """`options` of both servers are their command line's."""

    primary: Node
    replica: Node

    @property
    def url(self) -> str:
        return f"redis://{self.primary.address}"

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """The replica is not heard of."""
        os.kill(self.replica.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.replica.pid, signal.SIGCONT)


@contextlib.contextmanager
def replicated(directory: Path, *options: str) -> Iterator[Replicated]:
    """Both, once they are in step."""
    primary = Node(directory / "primary", *_OPTIONS, *options)
    replica = Node(directory / "replica", *_OPTIONS, *options)
    try:
        primary.start()
        replica.start()
        replica.ask("REPLICAOF", "127.0.0.1", primary.port)
        soon(lambda: b"master_link_status:up" in replica.ask("INFO", "replication"))
        soon(lambda: b"state=online" in primary.ask("INFO", "replication"))
        yield Replicated(primary, replica)
    finally:
        primary.stop()
        replica.stop()
