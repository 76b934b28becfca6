"""The embedded store: one directory, one gateway, one server that neither outlives its parent nor is lost by dying."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from gateway.store.embedded import EmbeddedStore, EmbeddedStoreError, ask_state, how_it_ended, running_store
from tests.process import is_alive
from tests.store.room import leave_room
from tests.until import until

# A gateway as far as its store goes: starts one on the directory it is given, says so, and waits to be killed.
_GATEWAY = """
import asyncio, pathlib, sys
from gateway.store.embedded import EmbeddedStore

async def main():
    store = EmbeddedStore(pathlib.Path(sys.argv[1]), print)
    await store.start()
    print(store.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@asynccontextmanager
async def started(directory: Path, note: Callable[[str], None] = print) -> AsyncIterator[EmbeddedStore]:
    store = EmbeddedStore(directory, note)
    await store.start()
    try:
        yield store
    finally:
        await store.stop()


@asynccontextmanager
async def client(store: EmbeddedStore) -> AsyncIterator[Redis]:
    connection = Redis.from_url(store.url)
    try:
        yield connection
    finally:
        await connection.aclose()


async def test_what_was_written_is_there_after_a_stop_and_a_start(tmp_path: Path) -> None:
    """The store is durable in its directory."""
    async with started(tmp_path) as store, client(store) as redis:
        await redis.set("epoch", "42")

    async with started(tmp_path) as store, client(store) as redis:
        assert await redis.get("epoch") == b"42"


async def test_a_server_that_was_killed_comes_back_with_its_data(tmp_path: Path) -> None:
    """What the store has answered survives its own death, and the store is started again."""
    notes: list[str] = []
    async with started(tmp_path, notes.append) as store, client(store) as redis:
        await redis.set("epoch", "42")
        killed = store.pid
        assert killed is not None

        os.kill(killed, signal.SIGKILL)
        await until(lambda: any("is back" in note for note in notes))

        assert store.pid != killed
        assert await redis.get("epoch") == b"42"
    assert "SIGKILL" in notes[0]


async def test_a_server_that_ends_by_a_signal_without_a_name_comes_back(tmp_path: Path) -> None:
    """Python knows no name for most real-time signals."""
    notes: list[str] = []
    async with started(tmp_path, notes.append) as store:
        assert store.pid is not None
        os.kill(store.pid, signal.SIGRTMIN + 6)
        await until(lambda: any("is back" in note for note in notes))

    assert f"signal {signal.SIGRTMIN + 6}" in notes[0]


@pytest.mark.parametrize(
    ("code", "told"), [(0, "exit status 0"), (1, "exit status 1"), (-9, "signal SIGKILL"), (-40, "signal 40")]
)
def test_how_a_process_ended_is_told_in_words(code: int, told: str) -> None:
    """By its name where a signal has one."""
    assert how_it_ended(code) == told


@pytest.mark.parametrize(
    ("answer", "state"),
    [(b"", "silent"), (b"-LOADING the file\r\n", "loading"), (b"+PONG\r\n", "ready")],
    ids=["accepts and says nothing", "loads its file", "answers"],
)
async def test_a_server_is_asked_how_far_it_is(answer: bytes, state: str, tmp_path: Path) -> None:
    """One that was stopped accepts all the same, and would keep whoever asks waiting for ever."""
    held = list[asyncio.StreamWriter]()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)
        writer.write(answer)

    server = await asyncio.start_unix_server(serve, tmp_path / "s")
    within_s = 0.05 if state == "silent" else 20.0

    assert await ask_state(tmp_path / "s", within_s) == state

    server.close()
    for writer in held:
        writer.close()


async def test_a_server_whose_file_got_a_gap_comes_back_with_its_data(tmp_path: Path) -> None:
    """After a rewrite of its file, a full disk leaves one; what was answered since is behind it."""
    notes: list[str] = []
    async with started(tmp_path, notes.append) as store, client(store) as redis:
        await redis.bgrewriteaof()
        await until(lambda: _has_rewritten(redis))
        assert store.pid is not None
        [appended] = tmp_path.glob("appendonlydir/*.2.incr.aof")
        leave_room(store.pid, appended.stat().st_size + 50)
        await until(lambda: _is_refused(redis))
        leave_room(store.pid, None)
        await until(lambda: _is_answered(redis))

        os.kill(store.pid, signal.SIGKILL)
        await until(lambda: any("is back" in note for note in notes))

        assert await redis.get("epoch") == b"42"
    assert "a gap of 50 bytes" in notes[1]


async def _has_rewritten(redis: Redis) -> bool:
    found = await redis.info("persistence")
    return not found["aof_rewrite_in_progress"] and not found["aof_rewrite_scheduled"]


async def _is_refused(redis: Redis) -> bool:
    try:
        await redis.set("lease", "A" * 100)
    except ResponseError:
        return True
    return False


async def _is_answered(redis: Redis) -> bool:
    try:
        return bool(await redis.set("epoch", "42"))
    except ResponseError:
        return False


async def test_a_second_gateway_on_the_directory_is_told_who_has_it(tmp_path: Path) -> None:
    """One directory serves one gateway; the other one is told its process id and what to do."""
    async with started(tmp_path):
        with pytest.raises(EmbeddedStoreError, match=rf"process id {os.getpid()}\. Stop that one, or give another"):
            await EmbeddedStore(tmp_path, print).start()


async def test_the_server_ends_when_its_gateway_is_killed(tmp_path: Path) -> None:
    """A gateway that is killed leaves no server behind, and its directory is free again."""
    gateway = subprocess.Popen([sys.executable, "-c", _GATEWAY, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with gateway:
        assert gateway.stdout is not None
        server = int(await asyncio.to_thread(gateway.stdout.readline))

        gateway.kill()
        gateway.wait()
        await until(lambda: not is_alive(server))

    async with started(tmp_path) as store, client(store) as redis:
        assert await redis.ping()


async def test_a_server_left_behind_is_ended_before_the_next_one_starts(tmp_path: Path) -> None:
    """Where the kernel did not end an orphaned server, the next gateway does: two never write one file."""
    notes: list[str] = []
    async with started(tmp_path) as orphaned:
        left_behind = orphaned.pid
        assert left_behind is not None
        Path(tmp_path, "gateway.lock").unlink()

        async with started(tmp_path, notes.append) as store:
            assert not is_alive(left_behind)
            assert store.pid != left_behind
            assert notes == [f"ended the store that a dead gateway had left behind, process {left_behind}"]
            await orphaned.stop()


async def test_a_long_path_gets_its_socket_elsewhere(tmp_path: Path) -> None:
    """A socket's path is bounded by the kernel; a data directory's is not."""
    directory = tmp_path / ("long" * 30)
    async with started(directory) as store, client(store) as redis:
        assert await redis.ping()
        assert str(directory) not in store.url
        assert running_store(directory) == store.url


async def test_the_running_store_of_a_directory_can_be_found(tmp_path: Path) -> None:
    """Whoever examines a directory finds the server that runs on it, and finds none when none does."""
    assert running_store(tmp_path) is None
    async with started(tmp_path) as store:
        assert running_store(tmp_path) == store.url
    assert running_store(tmp_path) is None


@pytest.mark.parametrize("lock", ["", "4711", "4711 /nowhere/store.sock"], ids=["not yet", "as it begins", "gone"])
async def test_no_store_runs_where_none_has_said_where(tmp_path: Path, lock: str) -> None:
    """One that is about to start, or that could not, has left an empty file."""
    Path(tmp_path, "store.lock").write_text(lock)

    assert running_store(tmp_path) is None
    assert running_store(tmp_path / "store.lock") is None


async def test_what_it_writes_is_for_its_owner_only(tmp_path: Path) -> None:
    """The files hold digests of secrets: nobody else may read them."""
    async with started(tmp_path / "data") as store, client(store) as redis:
        await redis.set("epoch", "42")

    files = [path for path in tmp_path.rglob("*") if path.name != "store.conf"]
    assert files
    assert [path for path in files if path.stat().st_mode & 0o077] == []


async def test_a_directory_that_is_a_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """What is wrong with the directory is said, with the option that names another."""
    taken = tmp_path / "file"
    taken.write_text("")

    with pytest.raises(
        EmbeddedStoreError, match=r"cannot be used: .*\. Make it writable, or give another with --data-"
    ):
        await EmbeddedStore(taken, print).start()


async def test_data_that_the_server_cannot_read_is_reported_in_its_own_words(tmp_path: Path) -> None:
    """A server that refuses to start says why; the message quotes it and names its log."""
    async with started(tmp_path):
        pass
    manifest = next(Path(tmp_path, "appendonlydir").glob("*.manifest"))
    manifest.write_text("no manifest\n")

    with pytest.raises(EmbeddedStoreError, match=r"did not start: .*store\.log"):
        await EmbeddedStore(tmp_path, print).start()
