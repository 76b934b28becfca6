"""The parent's side of its workers: it starts them, hears when they are ready, and replaces those that die.

What passes between them: the assignment goes to a worker's standard input, which stays open for as long as the parent
lives; `ready` comes back on its standard output; SIGHUP says "read the policies again", SIGTERM "stop". A worker's
standard error is the parent's.
"""

import asyncio
import contextlib
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.ongoing import ongoing
from gateway.serve.assignment import Assignment

# A worker that dies at once would otherwise be started hundreds of times a second.
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
# One that has served for this long did not die of its start.
_STEADY_AFTER_S = 10.0

READY = b"ready\n"


@dataclass(slots=True, eq=False)
class _Worker:
    process: Process
    # The generation of the policies that it has certainly read.
    generation: int
    is_ready: bool = False

    def tell(self, number: signal.Signals) -> None:
        # It may have ended a moment ago.
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)


class Workers:
    """`count` worker processes, each replaced when it ends before it was told to. Start them from the main thread.

    `assignment`: what one that starts now is told.
    """

    def __init__(
        self,
        count: int,
        assignment: Callable[[], Assignment],
        environment: Mapping[str, str],
        log: Log,
        metrics: ParentMetrics,
    ) -> None:
        self._count = count
        self._assignment = assignment
        self._environment = environment
        self._log = log
        self._metrics = metrics
        self._running: set[_Worker] = set()
        self._keepers: list[asyncio.Task[None]] = []
        self._generation = 0
        self._stopping = asyncio.Event()
        self._became_ready = asyncio.Event()

    @property
    def ready(self) -> int:
        """How many accept requests now."""
        return sum(worker.is_ready for worker in self._running)

    def start(self) -> None:
        self._keepers = [ongoing("keeping a worker", self._keep_one) for _ in range(self._count)]

    async def wait_ready(self) -> None:
        """Until all of them accept requests."""
        while self.ready < self._count:
            self._became_ready.clear()
            await self._became_ready.wait()

    def reload(self) -> None:
        """Have every worker read the policies again; one that is still starting is told as soon as it is ready."""
        self._generation += 1
        for worker in self._running:
            self._bring_up_to_date(worker)

    async def stop(self, within_s: float) -> None:
        """No new requests. Returns when all have ended: by force after `within_s` seconds, or after `kill`."""
        self._stopping.set()
        for worker in self._running:
            worker.tell(signal.SIGTERM)
        _, busy = await asyncio.wait(self._keepers, timeout=within_s)
        if busy:
            self._log.warning("workers were still busy when the grace period ended: they are killed", workers=len(busy))
            self.kill()
            await asyncio.wait(busy)

    def kill(self) -> None:
        """End all of them at once, whatever they are doing. What they had in flight ends as unknown."""
        self._stopping.set()
        for worker in self._running:
            worker.tell(signal.SIGKILL)

    async def _keep_one(self) -> None:
        pause_s = _FIRST_PAUSE_S
        loop = asyncio.get_running_loop()
        while not self._stopping.is_set():
            started = loop.time()
            try:
                pid, code = await self._run_one()
            except OSError as error:
                self._log.error("a worker could not be started", reason=str(error), pause_s=pause_s)
            else:
                self._keep_counts(pid)
                if self._stopping.is_set():
                    return
                self._metrics.worker_died()
                self._log.error("a worker died; it is replaced", pid=pid, exit_code=code, pause_s=pause_s)
            if loop.time() - started > _STEADY_AFTER_S:
                pause_s = _FIRST_PAUSE_S
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _keep_counts(self, pid: int) -> None:
        """What a worker has counted is worth less than the one that takes its place."""
        try:
            self._metrics.worker_ended(pid)
        except Exception as error:  # noqa: BLE001  # nobody else would start another worker
            self._log.error("what a worker counted is lost", pid=pid, why=f"{type(error).__name__}: {error}")

    async def _run_one(self) -> tuple[int, int]:
        """Start a worker and stay with it to its end: its process id and exit code."""
        process = await asyncio.create_subprocess_exec(
            # -P: a directory named `gateway` in the current one is not ours.
            *(sys.executable, "-P", "-m", "gateway.serve.worker"),
            stdin=PIPE,
            stdout=PIPE,
            env=self._environment,
            # Ctrl-C in a terminal goes to its whole foreground group, and is the parent's to hear.
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        worker = _Worker(process, self._generation)
        self._running.add(worker)
        try:
            process.stdin.write(self._assignment().line())
            if self._stopping.is_set():
                worker.tell(signal.SIGTERM)
            if await process.stdout.readline() == READY:
                worker.is_ready = True
                self._bring_up_to_date(worker)
                self._became_ready.set()
                self._log.info("worker ready", pid=process.pid)
            return process.pid, await process.wait()
        finally:
            self._running.discard(worker)
            process.stdin.close()

    def _bring_up_to_date(self, worker: _Worker) -> None:
        if worker.is_ready and worker.generation < self._generation:
            worker.generation = self._generation
            worker.tell(signal.SIGHUP)
