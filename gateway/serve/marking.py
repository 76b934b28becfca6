"""What the parent knows of its store outlives it, in the data directory; and what is said of a store that lost work."""

import asyncio
import secrets
from pathlib import Path

from gateway.flow.clock import BootClock
from gateway.flow.ports import Incidents
from gateway.log import Log
from gateway.store.loss.incarnation import Incarnation, OnLoss
from gateway.store.loss.kept_marks import KeptMarks

# Each time a file is brought to the disk. What is lost with everything at once, and was not ten seconds old, is not
# missed.
_KEEP_EVERY_S = 10.0
_NAME_BYTES = 6


def teller(metrics: Incidents, log: Log) -> OnLoss:
    """Whoever finds a loss first counts it, and says what ends it."""

    def tell(why: str) -> None:
        metrics.incident("store-regressed")
        log.error(
            "the store has lost acknowledged work: leases from before it have ended, and writes with a key or an epoch "
            "from elsewhere wait",
            why=why,
            what_to_do="fencegate store; then fencegate store accept --note TEXT",
        )

    return tell


def process_name() -> str:
    """Under which the audit trail, the marks in the store and the log know a process."""
    return secrets.token_hex(_NAME_BYTES)


def begin_memory(name: str, metrics: Incidents, stopping: asyncio.Event, log: Log) -> Incarnation:
    """Of a process that admits. Where it can leave no marks it must not go on: its store may go back in time unseen."""
    incarnation = Incarnation(name, BootClock(), teller(metrics, log))

    def end() -> None:
        log.error("no mark can be left in the store: this process finishes what it accepted and ends")
        stopping.set()

    incarnation.on_silent = end
    return incarnation


class Marking:
    """The parent's memory of its store. Without a data directory, which it makes unless the store may forget, it ends
    with the parent.
    """

    def __init__(self, directory: Path, store: str, on_loss: OnLoss, log: Log, *, may_forget: bool) -> None:
        self._log = log
        self._kept = KeptMarks.open(directory, store, log.warning, make=not may_forget)
        process = self._kept.process if self._kept is not None else None
        remembered = self._kept.remembered if self._kept is not None else None
        self.incarnation = Incarnation(process, BootClock(), on_loss, remembered)

    async def run(self) -> None:
        """Keep what is known, until it is cancelled."""
        while True:
            await asyncio.sleep(_KEEP_EVERY_S)
            await asyncio.to_thread(self._keep)

    def close(self) -> None:
        """Keep it once more."""
        self._keep()
        if self._kept is not None:
            self._kept.close()

    def _keep(self) -> None:
        if self._kept is None:
            return
        try:
            self._kept.keep(dict(self.incarnation.remembered))
        except OSError as error:
            self._log.warning("the marks of the store cannot be kept", why=str(error))
