"""Waiting for a condition of another process: the one place that looks again and again, with a deadline."""

import asyncio
import time
from collections.abc import Awaitable, Callable

_LOOK_EVERY_S = 0.01
# A process starts in a second, and has taken twenty on a machine that others kept busy.
STARTS_WITHIN_S = 60.0


async def until(condition: Callable[[], bool | Awaitable[bool]], *, within_s: float = 30.0) -> None:
    """Return as soon as `condition` holds. Raises TimeoutError if it does not within `within_s` seconds."""
    async with asyncio.timeout(within_s):
        while True:
            holds = condition()
            if holds if isinstance(holds, bool) else await holds:
                return
            await asyncio.sleep(_LOOK_EVERY_S)


def soon(condition: Callable[[], bool], *, within_s: float = 30.0) -> None:
    """The same for fixtures that no event loop runs."""
    gives_up_at = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > gives_up_at:
            raise TimeoutError
        time.sleep(_LOOK_EVERY_S)
