"""The parent's policies: read again when an operator says so or when the files change, all or nothing.

Files are read, and their rules compiled, beside the event loop: of thousands of rules it takes seconds, in which
operators and probes want answers.
"""

import asyncio
import contextlib
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.policy.finding import Finding
from gateway.policy.reload import PolicyHolder, Reloaded
from gateway.serve.edition import SILENT_AFTER_S, Editions
from gateway.serve.snapshot import Snapshot

# A change is taken at the second look after it: what was saved, and a credential that was rotated, is in force within
# two seconds, in the workers too. A look costs one system call for each file.
_LOOK_EVERY_S = 0.5
# One wrong indentation can make a hundred findings.
_SHOWN = 10
# Between two tries to give the workers what their parent has in force already.
_AGAIN_AFTER_S = 5.0
# Apart from asyncio's own threads, which look up names: a resolver that is away must not hold a withdrawal up.
_READING = ThreadPoolExecutor(1, "policies")


class Policies:
    """Reloads the parent's set first: only what is valid there is handed on to the workers, by `on_loaded`.

    It is told in how many seconds the files were read. `editions` is told of each look: workers go by it, and refuse
    when the last one is long ago. It is told of none while workers lack what is in force already: a key that was
    withdrawn would live on with them.
    """

    def __init__(
        self,
        holder: PolicyHolder,
        snapshot: Snapshot,
        log: Log,
        metrics: ParentMetrics,
        on_loaded: Callable[[float], None],
        editions: Editions,
    ) -> None:
        self._holder = holder
        self._snapshot = snapshot
        self._log = log
        self._metrics = metrics
        self._on_loaded = on_loaded
        self._editions = editions
        # One reading at a time, and no look at files that are being read.
        self._turn = asyncio.Lock()
        self._told = asyncio.Event()
        self._again_at = math.inf
        self._is_handed_on = True

    def tell(self) -> None:
        """Somebody says that the files have changed: they are read by `watch`, whatever it sees of them."""
        self._told.set()

    async def reload(self) -> tuple[Finding, ...]:
        """Read the files; returns what is wrong with them. Then the set in force stays."""
        async with self._turn:
            return await self._reload()

    async def watch(self) -> None:
        """Reload whenever told to, or the files have changed or did not reach the workers. Does not end."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY_S):
                    await self._told.wait()
            async with self._turn:
                if self._told.is_set() or self._holder.changed() or monotonic() >= self._again_at:
                    await self._reload()
                if self._is_handed_on:
                    self._editions.looked(is_current=self._holder.is_current)

    async def _reload(self) -> tuple[Finding, ...]:
        self._told.clear()
        if not self._is_handed_on:
            self._again_at = monotonic() + _AGAIN_AFTER_S
        began = monotonic()
        try:
            with self._editions.reading() if self._is_handed_on else contextlib.nullcontext():
                reloaded = await asyncio.get_running_loop().run_in_executor(_READING, self._holder.reload)
        except BaseException:
            # What begins this anew finds that it was told.
            self._told.set()
            raise
        read_within_s = monotonic() - began
        return self._failed(reloaded) if isinstance(reloaded, tuple) else self._hand_on(reloaded, read_within_s)

    def _hand_on(self, reloaded: Reloaded, read_within_s: float) -> tuple[Finding, ...]:
        try:
            # Files that changed since they were read are read again by `watch`.
            is_whole = self._snapshot.take()
        except OSError as error:
            self._is_handed_on, self._again_at = False, monotonic() + _AGAIN_AFTER_S
            return self._failed((_not_copied(self._snapshot.current, error),))
        if is_whole:
            self._is_handed_on, self._again_at = True, math.inf
            self._on_loaded(read_within_s)
        self._metrics.policies_reloaded("loaded")
        self._log.info("the policies were reloaded", upstreams=reloaded.upstreams, rules=reloaded.rules)
        if reloaded.tenants_gone:
            self._log.warning(
                "tenants are gone or renamed: the same request makes another intent now, and runs again",
                tenants=", ".join(reloaded.tenants_gone),
                what_to_do="resolve their unknown intents before their agents repeat anything: fencegate intents list",
            )
        if reloaded.upstreams_moved:
            self._log.warning(
                "upstreams have another `mount.host`: the same request makes another intent now, and runs again",
                upstreams=", ".join(reloaded.upstreams_moved[:_SHOWN]),
                what_to_do="resolve their unknown intents before their agents repeat anything: fencegate intents list",
            )
        if reloaded.rules_renaming:
            self._log.warning(
                "rules find other resources now: leases, epochs and intents of the old names hold nothing back under "
                "the new ones, and what is in flight or in session under them is not waited for",
                rules=", ".join(reloaded.rules_renaming[:_SHOWN]),
                what_to_do="pause their upstreams for `timeouts.total`, and before the reload the next time",
            )
        return ()

    def _failed(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Say that the set in force stays, and why."""
        self._metrics.policies_reloaded("failed")
        self._log.error("the policies were not reloaded; the set in force stays", findings=len(findings))
        for finding in findings[:_SHOWN]:
            self._log.error("policy finding", finding=str(finding))
        return findings


def _not_copied(copy: Path, error: OSError) -> Finding:
    """The files are in order, and the workers cannot be given them."""
    why = f"the workers cannot be given a copy ({error.strerror}), and refuse writes after {SILENT_AFTER_S:g} s"
    return Finding(str(copy), 1, 1, f"{why}; make room there, and it is tried again by itself")
