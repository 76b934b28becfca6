"""The parent's policies: read again when an operator says so or when the files change, all or nothing."""

import asyncio
from collections.abc import Callable
from time import monotonic

from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.policy.finding import Finding
from gateway.policy.reload import PolicyHolder
from gateway.serve.snapshot import Snapshot

# A change is taken at the second look after it: what was saved, and a credential that was rotated, is in force within
# two seconds, in the workers too. A look costs one system call for each file.
_LOOK_EVERY_S = 0.5
# One wrong indentation can make a hundred findings.
_SHOWN = 10


class Policies:
    """Reloads the parent's set first: only what is valid there is handed on to the workers, by `on_loaded`.

    It is told in how many seconds the files were read.
    """

    def __init__(
        self,
        holder: PolicyHolder,
        snapshot: Snapshot,
        log: Log,
        metrics: ParentMetrics,
        on_loaded: Callable[[float], None],
    ) -> None:
        self._holder = holder
        self._snapshot = snapshot
        self._log = log
        self._metrics = metrics
        self._on_loaded = on_loaded

    def reload(self) -> tuple[Finding, ...]:
        """Read the files; returns what is wrong with them. Then the set in force stays."""
        began = monotonic()
        reloaded = self._holder.reload()
        read_within_s = monotonic() - began
        if isinstance(reloaded, tuple):
            self._metrics.policies_reloaded("failed")
            log_findings(self._log, reloaded)
            return reloaded
        # Files that changed since they were read are read again by `watch`.
        if self._snapshot.take():
            self._on_loaded(read_within_s)
        self._metrics.policies_reloaded("loaded")
        self._log.info("the policies were reloaded", upstreams=reloaded.upstreams, rules=reloaded.rules)
        if reloaded.tenants_gone:
            self._log.warning(
                "tenants are gone or renamed: the same request makes another intent now, and runs again",
                tenants=", ".join(reloaded.tenants_gone),
                what_to_do="resolve their unknown intents before their agents repeat anything: fencegate intents list",
            )
        return ()

    async def watch(self) -> None:
        """Reload whenever the files have changed. Does not end."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            if self._holder.changed():
                self.reload()


def log_findings(log: Log, findings: tuple[Finding, ...]) -> None:
    """Say that the set in force stays, and why."""
    log.error("the policies were not reloaded; the set in force stays", findings=len(findings))
    for finding in findings[:_SHOWN]:
        log.error("policy finding", finding=str(finding))
