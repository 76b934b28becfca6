"""Whether the store is as safe as it was at the start: its settings can be changed while it runs."""

import asyncio

from gateway.core.check import Check
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.store.doctor import UNREACHABLE, examine
from gateway.store.durability import Durability
from gateway.store.links.topology import Topology

# An unsafe store is found within ten seconds, slow answers included. A look costs it a tenth of a millisecond.
_EVERY_S = 5.0


class Fitness:
    """What makes the store unsafe. `unfit` is that now, without what was allowed at the start."""

    def __init__(self, store: Topology, durability: Durability, metrics: ParentMetrics, log: Log) -> None:
        self.unfit: tuple[Check, ...] = ()
        self._store = store
        self._durability = durability
        self._metrics = metrics
        self._log = log
        self._allowed: frozenset[str] = frozenset()

    async def begin(self) -> list[Check]:
        """What is wrong at the start; who starts all the same has allowed it."""
        found = await self._found()
        self._metrics.store_examined(safe=not found)
        self._allowed = frozenset(check.name for check in found)
        return found

    async def run(self) -> None:
        """Look again and again, until it is cancelled."""
        while True:
            await asyncio.sleep(_EVERY_S)
            await self.look()

    async def look(self) -> None:
        """Say it once when the store becomes unsafe, and once when it is safe again."""
        found = await self._found()
        if any(check.name.startswith(UNREACHABLE) for check in found):
            # That a server is away is told elsewhere, and says nothing of its settings.
            return
        self._metrics.store_examined(safe=not found)
        before, self.unfit = self.unfit, tuple(check for check in found if check.name not in self._allowed)
        if self.unfit and _names(self.unfit) != _names(before):
            self._log.warning(
                "the store is unsafe: this gateway is not ready until that has changed",
                saw="; ".join(map(spelled, self.unfit)),
                what_to_do=" ".join(check.what_to_do for check in self.unfit),
            )
        elif before and not self.unfit:
            self._log.info("the store is safe again")

    async def _found(self) -> list[Check]:
        return [check for check in await examine(self._store, durability=self._durability) if not check.ok]


def spelled(check: Check) -> str:
    return f"{check.name}: {check.saw}"


def _names(checks: tuple[Check, ...]) -> set[str]:
    return {check.name for check in checks}
