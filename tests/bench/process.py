"""The processes that a benchmark starts, and what they have used so far. Linux: all of it is read from /proc."""

import contextlib
import functools
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gateway.store.tether import die_with_parent

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_LISTENS_WITHIN_S = 60.0
_ENDS_WITHIN_S = 10.0
_LOOK_EVERY_S = 0.02
# The state of a listening socket in /proc/net/tcp.
_LISTENING = "0A"


class Failed(Exception):
    """A process did not come up, with what it said last; or it failed its callers under load."""


@contextlib.contextmanager
def serving(command: Sequence[str], log: Path, port: int, *, listeners: int = 1) -> Iterator[int]:
    """Run a server until the end of the block; its process id, once so many sockets listen on `port`.

    It ends with this process, whatever ends that. A Ctrl-C is not passed on to it: it would end before its callers.
    """
    with log.open("ab") as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
            preexec_fn=functools.partial(die_with_parent, os.getpid(), signal.SIGTERM),  # noqa: PLW1509  # no thread runs here
        )
    try:
        if not _comes_to_listen(process, port, listeners):
            raise Failed(f"{Path(command[0]).name} did not come up; it said at last:\n{log.read_text()[-2000:]}")
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _comes_to_listen(process: subprocess.Popen[bytes], port: int, listeners: int) -> bool:
    gives_up_at = time.monotonic() + _LISTENS_WITHIN_S
    while _listeners(port) < listeners:
        if process.poll() is not None or time.monotonic() > gives_up_at:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _listeners(port: int) -> int:
    """How many sockets listen on a port of 127.0.0.1."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == _LISTENING for row in rows)


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def children(pid: int) -> tuple[int, ...]:
    """The processes that a process has started, its oldest first."""
    return tuple(int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def parent_of(pid: int) -> int:
    """The process that has started it."""
    return read_parent(Path(f"/proc/{pid}/stat").read_text())


def read_parent(stat: str) -> int:
    """ppid (field 4 of proc(5)); the name before it may hold blanks and brackets."""
    return int(stat.rpartition(")")[2].split()[1])


def cpu_s(pids: Sequence[int]) -> float:
    """The processor time of these processes, all threads, in user and in kernel mode."""
    return sum(read_cpu_ticks(Path(f"/proc/{pid}/stat").read_text()) for pid in pids) / _TICKS_A_SECOND


def read_cpu_ticks(stat: str) -> int:
    """utime and stime (fields 14 and 15 of proc(5)); the name before them may hold blanks and brackets."""
    fields = stat.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def resident_mib(pid: int, *, peak: bool = False) -> float:
    """The memory that a process has, or has had at most."""
    return read_status_kib(Path(f"/proc/{pid}/status").read_text(), "VmHWM" if peak else "VmRSS") / 1024


def read_status_kib(status: str, field: str) -> int:
    """A field of /proc/PID/status in KiB. Raises ValueError where it is missing."""
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0])
    raise ValueError(f"no {field} in the status of the process")
