"""What this gateway knows of wide pauses: all of them, as they were a moment ago.

They are read again when the store says that they have changed, and twice a second whatever it says. A write is judged
by them before the fence, so that it moves nothing, and again whenever the store is asked to admit it, so that a pause
ends the waiting of those that wait. A resource's own pause is the store's to check.
"""

import asyncio
import contextlib

from gateway.core.clock import Clock
from gateway.core.decision import Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.pause import PausesInForce, is_paused, stopping
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey, Write
from gateway.flow.ports import PauseStore, Store
from gateway.flow.waiting import Wakes

# A message may be lost; twice this, and the time that a read takes, is less than the second within which pauses hold.
_REREAD_S = 0.5
# By what was read longer ago no write is judged: a gateway that slept would let pass what was stopped meanwhile.
_FRESH_S = 1.0
# No resource has this name: whatever wakes it wakes everybody.
_NO_RESOURCE = ResourceKey("")


class Pauses:
    """Judges writes by the pauses in force."""

    def __init__(self, store: Store, records: PauseStore, clock: Clock, wakes: Wakes) -> None:
        self._store = store
        self._records = records
        self._clock = clock
        self._wakes = wakes
        self._reading = asyncio.Lock()
        self._fresh_until = 0.0
        self._names_holders = False
        self._is_away = False
        self.in_force: PausesInForce = {}
        """As last read."""
        self.open_until = 0.0
        """By the boot clock: until then no write need be judged, for nothing is paused."""

    def stops(self, rule: Rule, resource: ResourceKey | None, tenant: str, holder: str | None) -> Refused | None:
        """What is said at once of a write by what is known of it so far; `judge` has the last word."""
        pause = stopping(self.in_force, rule, tenant, holder)
        return None if pause is None else is_paused(pause, resource)

    async def judge(self, write: Write) -> Refused | None:
        """Whether a write may come before the fence now. Raises StoreUnavailable where nobody can say."""
        refused = await self._judge(write)
        if refused is not None or self._is_fresh():
            return refused
        async with self._reading:
            if not self._is_fresh():
                await self.read()
        return await self._judge(write)

    async def freshen(self) -> None:
        """Read them again where they are as they were too long ago: this process was stopped. While the store is away
        they stay as known, and nobody waits for it.
        """
        if not self._is_fresh() and not self._is_away:
            with contextlib.suppress(StoreUnavailable):
                await self.read()

    async def read(self) -> None:
        """Read all of them; who waits looks again if they have changed. Raises StoreUnavailable: they stay as known."""
        asked_at = self._clock.boot()
        try:
            in_force = await self._records.in_force()
        except StoreUnavailable:
            self._is_away = True
            raise
        self._is_away = False
        if asked_at + _FRESH_S < self._fresh_until:
            # Another call has asked later, and has its answer: this one is of a time before that.
            return
        changed = in_force != self.in_force
        self.in_force = in_force
        self._names_holders = any(scope.kind == "holder" for scope in in_force)
        self._fresh_until = asked_at + _FRESH_S
        self.open_until = 0.0 if in_force else self._fresh_until
        if changed:
            self._wakes.on_wake(None)

    async def watch(self) -> None:
        """Keep them as they are in the store, until it is cancelled."""
        with self._wakes.interest(_NO_RESOURCE) as interest:
            while True:
                interest.forget()
                # While the store is away the last ones stay, and no write is admitted anyhow.
                with contextlib.suppress(StoreUnavailable):
                    await self.read()
                await interest.wait(_REREAD_S)

    def _is_fresh(self) -> bool:
        return self._clock.boot() <= self._fresh_until

    async def _judge(self, write: Write) -> Refused | None:
        if not self.in_force:
            return None
        holder = await self._holder_of(write) if self._names_holders else write.holder
        pause = stopping(self.in_force, write.rule, write.tenant, holder)
        return None if pause is None else is_paused(pause, write.resource, write.epoch)

    async def _holder_of(self, write: Write) -> str | None:
        """Who writes with a lease's secret need not name itself. An epoch's holder never changes, so that what is asked
        here still holds when the write is admitted; what is not of this epoch the fence refuses.
        """
        if write.secret_digest is None:
            return write.holder
        lease = await self._store.lookup(write.resource)
        return write.holder if lease is None or lease.epoch != write.epoch else lease.holder
