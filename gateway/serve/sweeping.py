"""The parent's own work at the store, once a second: of all gateways on one store, one sweeps, asks and prunes."""

import asyncio
from collections.abc import Awaitable, Callable

from gateway.core.faults import PartUnavailable, StoreUnavailable
from gateway.flow.inquiry import Inquiry
from gateway.flow.tasks import Tasks, count_fault
from gateway.log import Log
from gateway.policy.ruleset import RuleSet
from gateway.store.audit_seals import seal
from gateway.store.deliveries import leave_hints
from gateway.store.fence import FenceStore
from gateway.store.parking import expire_all, recount_parked
from gateway.store.prune import Retention, prune
from gateway.store.reservations import judge_reservations
from gateway.store.sweep import sweep, take_turn
from gateway.store.views.quarantine import recount

# A dead gateway's tickets end at most this much after their grace.
_EVERY_S = 1.0
# Between two rounds. One costs the store 20 ms where nothing has ended yet, and 450 ms with long lists in all shards.
_PRUNE_EVERY_S = 60.0
# What was queued leaves a hint for those who deliver; one that is lost is found again within this. Where no rule sends
# anything later there are only other gateways' hints, and those of older policies.
_HINT_EVERY_S = 10.0
_HINT_SELDOM_S = 60.0


class Sweeping:
    """Ends the tickets of gateways that died; beside that, has intents asked about, lets approvals expire, and has what
    is over pruned.
    """

    def __init__(
        self, store: FenceStore, inquiry: Inquiry, retention: Retention, rules: Callable[[], RuleSet], log: Log
    ) -> None:
        self._store = store
        self._inquiry = inquiry
        self._retention = retention
        self._rules = rules
        self._log = log
        self._tasks = Tasks()
        self._told = ""
        self._is_pruning = False
        self._prune_at = 0.0
        self._hint_at = 0.0

    async def run(self) -> None:
        """Does not end by itself; a store that is away is asked again."""
        try:
            while True:
                await self._one()
                await asyncio.sleep(_EVERY_S)
        finally:
            await self._tasks.drain(0)

    async def _one(self) -> None:
        try:
            self._found(await self._turned())
        except Exception as error:  # noqa: BLE001  # a gateway must not end because a record cannot be swept
            self._log.error("sweeping failed", kind=type(error).__name__)
            count_fault(error)

    async def _turned(self) -> StoreUnavailable | None:
        """Which of the store's servers are away: a turn does not tell, and another gateway's would not be heard of."""
        failed = None
        try:
            await self._turn()
        except StoreUnavailable as away:
            failed = away
        try:
            await self._store.ping()
        except StoreUnavailable as away:
            return away
        return failed

    async def _turn(self) -> None:
        due = await take_turn(self._store)
        if due is None:
            return
        self._inquiry.begin(due.intents)
        now = asyncio.get_running_loop().time()
        if now >= self._prune_at and not self._is_pruning:
            self._prune_at = now + _PRUNE_EVERY_S
            self._is_pruning = True
            self._tasks.spawn(self._prune())
        await sweep(self._store, due.tickets)
        await expire_all(self._store, due.approvals)
        if now >= self._hint_at:
            parks = any(entry.rule.parks for entry in self._rules().entries)
            self._hint_at = now + (_HINT_EVERY_S if parks else _HINT_SELDOM_S)
            await leave_hints(self._store)
        for entry in self._rules().entries:
            if entry.rule.budgets:
                await judge_reservations(self._store, entry.rule)

    async def _prune(self) -> None:
        try:
            # The trail is cut behind its seals.
            await self._tried(seal(self._store))
            await self._tried(prune(self._store, self._retention))
            await self._tried(recount(self._store))
            await self._tried(recount_parked(self._store))
        finally:
            self._is_pruning = False

    async def _tried(self, work: Awaitable[object]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001  # what cannot be pruned must not end the gateway
            self._log.warning("pruning failed; it is tried again in a minute", why=f"{type(error).__name__}: {error}")
            if not isinstance(error, StoreUnavailable):
                count_fault(error)

    def _found(self, away: StoreUnavailable | None) -> None:
        """Say it once when the store goes away, and once when it is back."""
        before, self._told = self._told, _told(away)
        if self._told and self._told != before:
            self._log.warning(self._told, why=str(away))
        elif before and not self._told:
            self._log.info("the store is back: writes pass again")


def _told(away: StoreUnavailable | None) -> str:
    match away:
        case None:
            return ""
        case PartUnavailable():
            return "a part of the store is away: writes of its resources are refused until it is back"
        case _:
            return "the store is away: writes are refused until it is back"
