"""What principals have used of their quotas: implements `gateway.flow.quota.QuotaStore`."""

import hashlib
import itertools
from dataclasses import dataclass
from math import ceil

from gateway.core.decision import QUOTA_EXCEEDED, Facts, Refused
from gateway.core.quota import Quota, Spending
from gateway.core.write import ResourceKey
from gateway.store.answer import number, unknown_word
from gateway.store.fence import FenceStore
from gateway.store.keys import Used, used
from gateway.store.script import Script

SPEND = Script("spend", parts=())
HOLD = Script("hold", parts=())

_MINUTE_MS = 60_000
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class _Cost:
    """One entry more of what is limited: for how many milliseconds it counts, and may count at most, and what is told
    where it is too much."""

    used: Used
    limit: int
    entry: str | bytes
    kept_ms: int
    most_ms: int
    why: str


class QuotaUse:
    """Every call raises StoreUnavailable. Limits hold across gateways: what was used is in the store alone."""

    def __init__(self, store: FenceStore) -> None:
        self._store = store
        self._writes = itertools.count(1)

    async def spend(self, quota: Quota, spending: Spending) -> Refused | None:
        """Spend all of it or nothing."""
        costs = await self._costs(quota, spending)
        if not costs:
            return None
        keys = [used(quota.principal, cost.used) for cost in costs]
        told = [(str(cost.limit), cost.entry, str(cost.kept_ms), str(cost.most_ms)) for cost in costs]
        arguments = [word for words in told for word in words]
        answer = await self._store.run(SPEND, keys, *arguments)
        match answer.word:
            case "spent":
                return None
            case "quota-exceeded":
                at, left_ms = map(number, answer.rest)
                return _exceeded(quota, costs[at - 1], left_ms)
            case _:
                raise unknown_word(answer)

    async def _costs(self, quota: Quota, spending: Spending) -> list[_Cost]:
        costs = []
        if spending.write and quota.writes_per_minute is not None:
            limit, entry = quota.writes_per_minute, f"{self._store.gateway}{next(self._writes):x}"
            why = f"has made {limit} writes within a minute"
            costs.append(_Cost("writes", limit, entry, _MINUTE_MS, _MINUTE_MS, why))
        if spending.lease is not None and quota.leases is not None:
            limit = quota.leases
            why = f"has {limit} live leases"
            costs.append(_Cost("leases", limit, spending.lease, spending.lease_ms, _DAY_MS, why))
        if spending.resource is not None and quota.resources is not None:
            resource, limit = ResourceKey(spending.resource), quota.resources
            if not await self._store.knows(resource):
                entry = hashlib.sha256(resource.encode()).hexdigest()[:32]
                why = f"has come to {limit} new resources within a day"
                costs.append(_Cost("resources", limit, entry, _DAY_MS, _DAY_MS, why))
        return costs

    async def hold(self, quota: Quota, lease: bytes, until_ms: int, *, instead: bytes | None) -> None:
        keys = [used(quota.principal, "leases")]
        await self._store.run_in_time(HOLD, keys, lease, str(until_ms), instead or b"")

    async def holds(self, quota: Quota, lease: bytes) -> bool:
        return await self._store.link.call("ZSCORE", used(quota.principal, "leases"), lease) is not None

    async def free(self, quota: Quota, lease: bytes) -> None:
        await self._store.link.call("ZREM", used(quota.principal, "leases"), lease)


def _exceeded(quota: Quota, cost: _Cost, left_ms: int) -> Refused:
    after_s = max(1, ceil(left_ms / 1000))
    detail = f"Nothing was done: principal {quota.principal} {cost.why}, as many as it may. Retry in {after_s} s."
    return Refused(QUOTA_EXCEEDED, detail, Facts(retry_after_s=after_s))
