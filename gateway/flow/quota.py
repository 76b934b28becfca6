"""Quotas: asked before the fence, so that nothing has moved where a principal has used up what it may."""

import contextlib
from typing import Protocol

from gateway.core.decision import Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.quota import Counted, Quota, Spending
from gateway.flow.admission import store_is_away
from gateway.flow.tasks import Tasks


class QuotaStore(Protocol):
    """What principals have used of their quotas. Every call raises StoreUnavailable."""

    async def spend(self, quota: Quota, spending: Spending) -> Refused | None:
        """Take all of it, or refuse with `quota-exceeded` and take nothing. What was taken is not given back."""
        ...

    async def hold(self, quota: Quota, lease: bytes, until_ms: int, *, instead: bytes | None) -> None:
        """A lease counts until then by the store's clock, in the same step no longer under the name `instead`."""
        ...

    async def holds(self, quota: Quota, lease: bytes) -> bool:
        """Whether a lease counts."""
        ...

    async def free(self, quota: Quota, lease: bytes) -> None:
        """A lease counts no longer."""
        ...


class Quotas:
    """Costs nothing for a principal without a quota, for whom `quota` is None."""

    def __init__(self, store: QuotaStore, tasks: Tasks) -> None:
        self._store = store
        self._tasks = tasks

    async def spend(self, quota: Quota | None, spending: Spending) -> Refused | None:
        """Refused: `quota-exceeded`, and `store-unavailable`, for nobody knows then how much is left."""
        if quota is None:
            return None
        try:
            return await self._store.spend(quota, spending)
        except StoreUnavailable as away:
            return store_is_away(away)

    async def hold(self, quota: Quota | None, lease: bytes, until_ms: int, *, instead: bytes | None = None) -> None:
        """A lease counts until then, by the store's clock, and no longer under the name `instead`.

        If the store is away, until the end that is known there.
        """
        if quota is None or quota.leases is None:
            return
        try:
            await self._store.hold(quota, lease, until_ms, instead=instead)
        except StoreUnavailable:
            return

    async def holds(self, quota: Quota | None, lease: bytes) -> bool:
        """Whether a lease counts. Raises StoreUnavailable."""
        return quota is not None and quota.leases is not None and await self._store.holds(quota, lease)

    async def free(self, quota: Quota | None, lease: bytes) -> None:
        """A lease counts no longer. If the store is away, it does until its term would have ended."""
        if quota is None or quota.leases is None:
            return
        try:
            await self._store.free(quota, lease)
        except StoreUnavailable:
            return

    async def free_overtaken(self, lease: Counted) -> None:
        """As `free`, of a lease that another call has taken over, whoever's it was."""
        with contextlib.suppress(StoreUnavailable):
            await self._store.free(Quota(lease.principal), lease.entry)

    def free_later(self, quota: Quota | None, lease: bytes) -> None:
        """As `free`, for whoever cannot wait."""
        if quota is not None:
            self._tasks.spawn(self.free(quota, lease))
