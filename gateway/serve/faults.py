"""Bugs that no caller hears of: in what goes on beside requests, in tasks and callbacks that nobody awaits.

asyncio prints them to standard error, in its own form and with the values that were handled. Here they are lines of the
log, and counted.
"""

import asyncio
import traceback
from collections.abc import Mapping
from typing import Any, Protocol

from gateway.flow.tasks import LOGGED
from gateway.log import Log
from gateway.ongoing import ONGOING

# Where the context has a connection or a listener: what fails there with an OSError is the network's.
_OF_THE_NETWORK = ("transport", "protocol", "socket")


class Faults(Protocol):
    """Who counts them."""

    def fault(self) -> None: ...


def report_faults(log: Log, counts: Faults) -> None:
    """From now on the running event loop tells the log what nobody else hears of."""

    def report(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and any(part in context for part in _OF_THE_NETWORK):
            log.warning("a connection failed", kind=type(error).__name__, errno=error.errno)
            return
        counts.fault()
        if LOGGED in context:
            return
        kind = None if error is None else type(error).__name__
        # Not the context's message: it may spell an exception, or a callback with its arguments.
        log.error(_event(context), task=context.get(ONGOING), kind=kind, where=place_of(error))

    asyncio.get_running_loop().set_exception_handler(report)


def place_of(error: BaseException | None) -> str | None:
    """Where it happened, without the values that were handled there."""
    places = traceback.extract_tb(None if error is None else error.__traceback__)
    return f"{places[-1].filename}:{places[-1].lineno}" if places else None


def _event(context: Mapping[str, Any]) -> str:
    if ONGOING in context:
        return "background work failed by a bug; it begins anew"
    if "task" in context or "future" in context:
        return "a task failed by a bug"
    return "a callback failed by a bug" if "handle" in context else "the event loop met a fault"
