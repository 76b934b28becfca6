"""The bundled store on a disk that is full: it fails closed, and goes on by itself once there is room."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.write import Admitted
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.durability import PROCESS, Durability
from gateway.store.embedded import EmbeddedStore
from gateway.store.fence import FenceStore
from tests.store.fences import RESOURCE, TTL_S, bare, settled
from tests.until import until

# Room for the server's first files, and little more.
_SIZE = "4m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a disk that can be filled has to be mounted, which wants root")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> Path:
    """Take all the room there is; the file that has to go."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    return ballast


class _Writing:
    """Writes under one epoch after the other; `answered` is the last that the store has acknowledged."""

    def __init__(self, store: FenceStore) -> None:
        self.answered = 0
        self._store = store
        self._next = 0
        self._in_flight: Admitted | None = None

    async def passes(self) -> bool:
        """One more write; what the one before has left is ended first, as a gateway does."""
        try:
            if self._in_flight is not None:
                await settled(self._store, self._in_flight, "applied")
                self._in_flight = None
            return await self._write()
        except StoreUnavailable:
            return False

    async def _write(self) -> bool:
        self._next += 1
        write, ticket = bare(self._next), self._store.new_ticket(RESOURCE)
        try:
            reply = await self._store.admit(write, ticket, ttl_s=TTL_S, queued=False, behind=0)
        except StoreUnavailable:
            await self._store.abandon(write, ticket)
            raise
        if not isinstance(reply, Admitted):
            return False
        self._in_flight, self.answered = reply, self._next
        await settled(self._store, reply, "applied")
        self._in_flight = None
        return True

    async def fails(self) -> bool:
        return not await self.passes()


@pytest.mark.parametrize(
    "durability",
    [
        pytest.param(PROCESS, id="process"),
        # Its server ends at each write that finds no room, and is started again and again.
        pytest.param(Durability(disk=True), id="disk", marks=pytest.mark.slow),
    ],
)
async def test_a_full_disk_stops_writes_and_loses_nothing(small_disk: Path, durability: Durability) -> None:
    """Writes are refused, lookups answered; with room it goes on, and a server that is killed then has every epoch."""
    embedded = EmbeddedStore(small_disk, lambda _: None, flushes_always=durability.disk)
    await embedded.start()
    store = await open_store(
        embedded.url, on_wake=lambda _: None, timeout_s=1.0, clock=BootClock(), durability=durability
    )
    writing = _Writing(store)
    try:
        assert await writing.passes()
        ballast = fill(small_disk)
        await until(writing.fails)
        assert await writing.fails()
        shown = await store.look(RESOURCE) if durability == PROCESS else None
        ballast.unlink()
        await until(writing.passes)
        assert embedded.pid is not None
        os.kill(embedded.pid, signal.SIGKILL)
        await until(writing.passes)
        record = await store.look(RESOURCE)
    finally:
        await store.close()
        await embedded.stop()

    assert shown is not None or durability.disk
    assert record is not None
    assert record.epoch >= writing.answered
