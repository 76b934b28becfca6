"""A process of the run's own, which the nemesis may stop, continue and kill."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def children(pid: int) -> list[int]:
    """The processes that a process has started and that run, as far as the system tells."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in listed.split()]


def signal_all(pids: list[int], number: signal.Signals) -> None:
    """Those that have ended meanwhile are passed over."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


async def start(module: str, *words: str, log: Path) -> asyncio.subprocess.Process:
    """A module of the tests as a program; what it complains of goes to `log`."""
    with log.open("ab") as errors:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", module, *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
        )


async def end(process: asyncio.subprocess.Process | None, number: signal.Signals = signal.SIGKILL) -> None:
    """Whatever state it is in; one that does not heed `number` within five seconds is killed."""
    if process is None or process.returncode is not None:
        return
    signal_all([process.pid], signal.SIGCONT)
    signal_all([process.pid], number)
    try:
        await asyncio.wait_for(process.wait(), 5)
    except TimeoutError:
        process.kill()
        await process.wait()
