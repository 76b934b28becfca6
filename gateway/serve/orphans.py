"""What process 1 of a container owes the others: it becomes the parent of whoever outlives its own there, such as a
store's rewriting child, and a process that nobody waits for is kept in the system's table when it ends.
"""

import asyncio
import contextlib
import os
from pathlib import Path

# The table has room for tens of thousands, and an orphan comes along once in a store's crash.
_LOOK_EVERY_S = 5.0


async def reap_orphans(look_every_s: float = _LOOK_EVERY_S) -> None:
    """Wait for children that have ended and that nobody else waits for. Linux only; does not end.

    Those that this process has started are waited for by asyncio at once, which wants to have their exit status: only
    what is still there at the second look is an orphan.
    """
    before: frozenset[int] = frozenset()
    while True:
        await asyncio.sleep(look_every_s)
        ended = _ended_children()
        for pid in ended & before:
            _reap(pid)
        before = ended


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _ended_children() -> frozenset[int]:
    """Processes that this one has still to wait for."""
    own = b"%d" % os.getpid()
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # Behind the name, which is in brackets and may hold any bytes: the state, and the parent.
            state, parent = (process / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state == b"Z" and parent == own:
                found.add(int(process.name))
    return frozenset(found)
