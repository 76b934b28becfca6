"""Work that goes on for as long as its process, or its connection, does. Nobody awaits it, so that nobody would hear of
its end.

A bug ends a turn of it and not the work: the event loop's exception handler is told, behind which a service has its log
and its metrics (serve/faults.py), and the work begins anew after a pause.
"""

import asyncio
from collections.abc import Callable, Coroutine

# What is told of late after a bug: wide pauses are judged by for a second, and read by whoever finds them older. The
# longest keeps a bug that stays from filling the log.
_PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0)
# What has gone on for so long has recovered: its next fault is the first one again.
_STEADY_AFTER_S = 10.0
# Between two cancellations, should the first one get lost.
_TICK_S = 0.02
ONGOING = "ongoing"
"""Where the exception handler's context has the name of the work that failed."""

Work = Callable[[], Coroutine[None, None, None]]
OnFault = Callable[[], object]


def ongoing(name: str, work: Work, on_fault: OnFault | None = None) -> asyncio.Task[None]:
    """Begin the work; it ends when `work` returns, or the task is cancelled. `name` is what the log calls it;
    `on_fault` is told of each fault.
    """
    return asyncio.get_running_loop().create_task(_go_on(name, work, on_fault), name=name)


async def stop(*tasks: asyncio.Task[None]) -> None:
    """Cancel them, and return once all have ended."""
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            # Before Python 3.12 asyncio.wait_for, through which redis-py sends, may swallow a cancellation.
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_TICK_S)


async def _go_on(name: str, work: Work, on_fault: OnFault | None) -> None:
    loop, this, in_a_row = asyncio.get_running_loop(), asyncio.current_task(), 0
    assert this is not None
    while True:
        began_at = loop.time()
        try:
            return await work()
        except (Exception, asyncio.CancelledError) as error:  # nobody else would begin it anew, whatever it was
            if isinstance(error, asyncio.CancelledError) and this.cancelling():
                raise
            loop.call_exception_handler({"message": f"{name} failed by a bug", "exception": error, ONGOING: name})
        if this.cancelling():
            # What it failed by came in the place of the cancellation.
            raise asyncio.CancelledError
        in_a_row = 1 if loop.time() - began_at > _STEADY_AFTER_S else in_a_row + 1
        if on_fault is not None:
            on_fault()
        await asyncio.sleep(_PAUSES_S[min(in_a_row, len(_PAUSES_S)) - 1])
