"""Tasks that outlive the call that started them: settling under cancellation, abandoned tickets. None is ever lost."""

import asyncio
from collections.abc import Coroutine

LOGGED = "logged"
"""In the context of the event loop's exception handler: the log has the bug already."""


class Tasks:
    """Keeps a reference to every task until it ends; `drain` waits for all of them."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Begin it. Nobody has to wait for it; whoever does by a shield leaves it running when it is cancelled."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def drain(self, within_s: float) -> int:
        """Wait for all, then cancel the rest; returns how many had to be cancelled."""
        if not self._running:
            return 0
        _, pending = await asyncio.wait(set(self._running), timeout=within_s)
        for task in pending:
            task.cancel()
        return len(pending)


def count_fault(error: Exception) -> None:
    """A bug beside requests was caught and logged: whoever counts such hears of it (serve/faults.py)."""
    context = {"message": "a bug was caught", "exception": error, LOGGED: True}
    asyncio.get_running_loop().call_exception_handler(context)
