"""What the system's signals ask of a gateway."""

import asyncio
import contextlib
import signal
from collections.abc import Callable

from gateway.log import Log


class Signals:
    """SIGHUP reloads; the first SIGTERM or SIGINT stops, a second one hurries. Main thread only."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self.on_reload: Callable[[], object] | None = None
        self.on_hurry: Callable[[], object] | None = None
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)

    async def drained(self, within_s: float, log: Log) -> None:
        """Callers are still taken until whoever sends them has seen that it should not. A second signal hurries."""
        if not within_s:
            return
        log.info("draining: not ready any more, and callers are still taken", seconds=within_s)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._hurry.wait()

    def _reload(self) -> None:
        # Before there is anything to reload, the files are still to be read.
        if self.on_reload is not None:
            self.on_reload()

    def _stop(self) -> None:
        if self.stop.is_set() and self.on_hurry is not None:
            self._hurry.set()
            self.on_hurry()
        self.stop.set()
