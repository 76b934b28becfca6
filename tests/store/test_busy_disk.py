"""A store whose disk is busy for long: under `everysec` it answers first, and writes once the flush before is done."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from gateway.core.write import Admitted
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.durability import Durability
from gateway.store.embedded import find_server
from tests.store.fences import PATIENCE_S, RESOURCE, ask, bare
from tests.until import soon

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("strace") is None, reason="strace is what makes each flush of the server take long"
    ),
]

_SLOWLY = (
    "strace",
    "-f",
    "-q",
    "-o",
    "/dev/null",
    "-e",
    "trace=fdatasync",
    "-e",
    "inject=fdatasync:delay_enter=1500000",
)
_KEPT = ("--port", "0", "--save", "", "--appendonly", "yes", "--appendfsync", "everysec")


@contextmanager
def serving(directory: Path, *wrapper: str) -> Iterator[str]:
    """A server's socket, once it answers; in the end it is killed, and not whatever is around it."""
    socket = directory / "s"
    command = [*wrapper, find_server(), "--dir", str(directory), "--unixsocket", str(socket), *_KEPT]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        soon(lambda: _pid(socket) is not None)
        yield f"unix://{socket}"
    finally:
        if (pid := _pid(socket)) is not None:
            os.kill(pid, signal.SIGKILL)
        process.wait()


def _pid(socket: Path) -> int | None:
    try:
        with redis.Redis(unix_socket_path=str(socket)) as client:
            return int(client.info("server")["process_id"])
    except redis.ConnectionError:
        return None


async def test_a_store_that_is_killed_during_a_long_flush_has_all_that_was_answered(tmp_path: Path) -> None:
    """Each answer waits until the kernel at least has it: killed right after it, the store has the epoch."""
    with serving(tmp_path, *_SLOWLY) as url:
        store = await open_store(
            url, on_wake=lambda _: None, timeout_s=PATIENCE_S, clock=BootClock(), durability=Durability(disk=True)
        )
        # Each takes as long as a flush, so that some of them are in the middle of one.
        replies = [await ask(store, bare(epoch)) for epoch in (1, 2, 3)]
        await store.close()
    with serving(tmp_path) as url:
        store = await open_store(url, on_wake=lambda _: None, timeout_s=PATIENCE_S, clock=BootClock())
        record = await store.look(RESOURCE)
        await store.close()

    assert isinstance(replies[0], Admitted)
    assert record is not None
    assert record.epoch == 3
