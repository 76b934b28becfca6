"""A durable store of each story's own, on disk, shared by the gateways of the story."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.store.embedded import find_server
from tests.store.server import Server


@pytest.fixture
def shared_store(tmp_path: Path) -> Iterator[Server]:
    """A server with an append-only file, as an operator would run it."""
    with _running(tmp_path / "store", "everysec") as server:
        yield server


@pytest.fixture
def flushed_store(tmp_path: Path) -> Iterator[Server]:
    """One that answers only what is on its disk, for stories that kill it.

    Under `everysec` a server whose disk is busy answers first and writes up to two seconds later: killed in between, it
    has lost what it had acknowledged.
    """
    with _running(tmp_path / "store", "always") as server:
        yield server


@contextlib.contextmanager
def _running(directory: Path, flush: str) -> Iterator[Server]:
    directory.mkdir()
    durable = ("--appendonly", "yes", "--appendfsync", flush)
    server = Server(find_server(), directory, "--save", "", *durable, "--maxmemory-policy", "noeviction")
    server.start()
    try:
        yield server
    finally:
        server.kill()
