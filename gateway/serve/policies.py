"""The parent's policies: read again when an operator says so or when the files change, all or nothing."""

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.policy.finding import Finding
from gateway.policy.reload import PolicyHolder
from gateway.serve.edition import Editions
from gateway.serve.snapshot import Snapshot

# A change is taken at the second look after it: what was saved, and a credential that was rotated, is in force within
# two seconds, in the workers too. A look costs one system call for each file.
_LOOK_EVERY_S = 0.5
# One wrong indentation can make a hundred findings.
_SHOWN = 10
# Between two tries to give the workers what their parent has in force already.
_AGAIN_AFTER_S = 5.0


class Policies:
    """Reloads the parent's set first: only what is valid there is handed on to the workers, by `on_loaded`.

    It is told in how many seconds the files were read. `editions` is told of each look: workers go by it.
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
        self._again_at = math.inf

    def reload(self) -> tuple[Finding, ...]:
        """Read the files; returns what is wrong with them. Then the set in force stays."""
        with self._editions.reading():
            return self._reload()

    async def watch(self) -> None:
        """Reload whenever the files have changed, or did not reach the workers. Does not end."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            if self._holder.changed() or monotonic() >= self._again_at:
                self.reload()
            self._editions.looked(is_current=self._holder.is_current)

    def _reload(self) -> tuple[Finding, ...]:
        began = monotonic()
        reloaded = self._holder.reload()
        read_within_s = monotonic() - began
        if isinstance(reloaded, tuple):
            return self._failed(reloaded)
        try:
            # Files that changed since they were read are read again by `watch`.
            is_whole = self._snapshot.take()
        except OSError as error:
            self._again_at = monotonic() + _AGAIN_AFTER_S
            return self._failed((_not_copied(self._snapshot.current, error),))
        self._again_at = math.inf
        if is_whole:
            self._on_loaded(read_within_s)
        self._metrics.policies_reloaded("loaded")
        self._log.info("the policies were reloaded", upstreams=reloaded.upstreams, rules=reloaded.rules)
        if reloaded.tenants_gone:
            self._log.warning(
                "tenants are gone or renamed: the same request makes another intent now, and runs again",
                tenants=", ".join(reloaded.tenants_gone),
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
    why = f"the workers cannot be given a copy ({error.strerror}), and go on with the old one"
    return Finding(str(copy), 1, 1, f"{why}; make room there, and it is tried again by itself")
