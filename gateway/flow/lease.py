"""Lease calls: granted at once or after waiting for the lease to be free and for older writes to end."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from gateway.core.clock import Clock
from gateway.core.decision import GRANT_IN_PROGRESS, LEASE_HELD, LEASE_LOST, STORE_UNAVAILABLE, Facts, Refused
from gateway.core.epoch import Epoch
from gateway.core.faults import CallerGone, PoliciesChanged, StoreUnavailable
from gateway.core.lease import Lease, LeaseSecret
from gateway.core.places import Places, overloaded
from gateway.core.quota import Quota, Spending, lease_entry
from gateway.core.term import Term
from gateway.core.token import digest_secret
from gateway.core.write import ResourceKey
from gateway.flow.admission import RETRY_AFTER_S, store_is_away
from gateway.flow.ports import Store
from gateway.flow.quota import Quotas
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes

# A gateway that waits is heard of at least twice a second; one that is silent for a second is not woken.
_RECHECK_S = 0.5
# How often a call looks for the lease that its own repeat was granted a moment ago: it is there at the second look.
_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Ask:
    """What a lease is asked for. `wait_s`: how long the call may wait; `key`: the call's own idempotency key.

    `term`: of the policies by which the caller may ask.
    """

    resource: ResourceKey
    holder: str
    ttl_ms: int
    wait_s: float = 0.0
    takeover: bool = False
    key: str | None = None
    tenant: str = ""
    principal: str = ""
    quota: Quota | None = None
    term: Term = field(default_factory=Term)


@dataclass(frozen=True, slots=True)
class Foreign:
    """An epoch that was granted elsewhere, and how long its call may wait for older writes to end.

    `term`: of the policies by which the caller may register it.
    """

    resource: ResourceKey
    epoch: Epoch
    holder: str
    wait_s: float = 0.0
    term: Term = field(default_factory=Term)


@dataclass(frozen=True, slots=True)
class Granted:
    """A lease and its token, which is shown this once."""

    lease: Lease
    token: str
    secret_digest: bytes


class Leases:
    """The lease calls. `new_secret` makes 128 bits or more of randomness, in base64url."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        wakes: Wakes,
        tasks: Tasks,
        quotas: Quotas,
        new_secret: Callable[[], str],
        places: Places | None = None,
    ) -> None:
        self._places = places or Places()
        self._store = store
        self._quotas = quotas
        self._clock = clock
        self._wakes = wakes
        self._tasks = tasks
        self._new_secret = new_secret

    async def grant(self, ask: Ask, is_gone: Callable[[], bool]) -> Granted | Refused:
        """Grant, or refuse with `lease-held` when `wait_s` has passed. A lease is granted even when older writes are
        still in flight then: it says how many. Raises CallerGone when the caller left before anything was granted;
        one that left later is granted at once what is there, for `release_unseen` to end. Raises PoliciesChanged when
        the policies changed before anything was granted."""
        if ask.wait_s <= 0:
            return await self._granted(ask, is_gone)
        with self._places.taken("lease") as has_place:
            return await self._granted(ask, is_gone) if has_place else overloaded(Facts(resource=ask.resource))

    async def _granted(self, ask: Ask, is_gone: Callable[[], bool]) -> Granted | Refused:
        if ask.key is None:
            secret = LeaseSecret(self._new_secret())
            try:
                return _with_token(await self._grant_within_quota(ask, secret, is_gone), secret)
            except StoreUnavailable as away:
                self._tasks.spawn(self._release_unheard(ask, secret.digest))
                return _perhaps_done(away)
            except asyncio.CancelledError:
                # The gateway is stopped: nobody will be told what was granted.
                self._tasks.spawn(self._release_unheard(ask, secret.digest))
                raise
        try:
            return await self._granted_once(ask, ask.key, is_gone)
        except StoreUnavailable as away:
            return _perhaps_done(away)

    async def _granted_once(self, ask: Ask, key: str, is_gone: Callable[[], bool]) -> Granted | Refused:
        """What this call's key is granted, or was granted to its repeat."""
        looks = 0
        while True:
            looks += 1
            secret = await self._store.lease_secret(ask.tenant, ask.principal, key, ask.resource, ask.holder)
            lease = await self._grant_within_quota(ask, secret, is_gone)
            if looks == _LOOKS or not isinstance(lease, Refused) or lease.decision is not GRANT_IN_PROGRESS:
                return _with_token(lease, secret)

    async def _grant_within_quota(self, ask: Ask, secret: LeaseSecret, is_gone: Callable[[], bool]) -> Lease | Refused:
        if ask.quota is None or await self._counts(ask, secret):
            return await self._grant(ask, secret, is_gone)
        # Under a name of this call's own, so that no other call of the same key gives its place away.
        place = digest_secret(self._new_secret())
        longest_ms = ask.ttl_ms + round(ask.wait_s * 1000)
        spending = Spending(resource=ask.resource, lease=place, lease_ms=longest_ms)
        exceeded = await self._quotas.spend(ask.quota, spending)
        if exceeded is not None:
            return exceeded
        try:
            lease = await self._grant(ask, secret, is_gone)
        except BaseException:
            self._quotas.free_later(ask.quota, place)
            raise
        if isinstance(lease, Refused):
            await self._quotas.free(ask.quota, place)
        else:
            entry = lease_entry(ask.resource, lease.epoch, secret.digest)
            await self._quotas.hold(ask.quota, entry, lease.expires_at_ms, instead=place)
        return lease

    async def _counts(self, ask: Ask, secret: LeaseSecret) -> bool:
        """Whether the call was granted its lease before, and that counts: it is not granted another."""
        if secret.mark is None or not secret.mark.repeats or ask.quota is None or ask.quota.leases is None:
            return False
        live = await self._store.lookup(ask.resource)
        if live is None:
            return False
        return await self._quotas.holds(ask.quota, lease_entry(ask.resource, live.epoch, secret.digest))

    async def _grant(self, ask: Ask, secret: LeaseSecret, is_gone: Callable[[], bool]) -> Lease | Refused:
        end = self._clock.after(ask.wait_s)
        granted = False
        with self._wakes.interest(ask.resource) as interest:
            while True:
                interest.forget()
                if not granted and is_gone():
                    raise CallerGone("the caller left before its lease was granted")
                if not granted and ask.term.is_over:
                    raise PoliciesChanged
                asked = self._clock.after(ask.ttl_ms / 1000 - _RECHECK_S)
                watch = self._clock.left(end) > 0
                takeover = ask.takeover and not granted
                reply = await self._store.grant(
                    *(ask.resource, ask.holder, secret.digest),
                    ttl_ms=ask.ttl_ms,
                    takeover=takeover,
                    watch=watch,
                    mark=secret.mark,
                    counts_for=None if ask.quota is None or ask.quota.leases is None else ask.quota.principal,
                )
                left = self._clock.left(end)
                if isinstance(reply, Refused):
                    # A lease that a third has taken from this call is not waited for a second time.
                    if granted or reply.decision is not LEASE_HELD or left <= 0:
                        return reply
                else:
                    if not granted:
                        # From here on the call only watches its own lease, and no longer than that lives.
                        granted, end = True, min(end, asked, key=self._clock.left)
                        left = self._clock.left(end)
                        if reply.overtakes is not None:
                            await self._quotas.free_overtaken(reply.overtakes)
                    if reply.drained or left <= 0 or is_gone():
                        return reply
                await interest.wait(min(left, _RECHECK_S))

    async def renew(
        self, resource: ResourceKey, epoch: Epoch, digest: bytes, quota: Quota | None = None
    ) -> Lease | Refused:
        """A renewed lease goes on counting for its principal's quota, and is never too much for it.

        A lost one no longer counts: its entry is named after this very epoch, which never comes back.
        """
        try:
            lease = await self._store.renew(resource, epoch, digest)
        except StoreUnavailable as away:
            return _perhaps_done(away)
        if isinstance(lease, Lease):
            await self._quotas.hold(quota, lease_entry(resource, epoch, digest), lease.expires_at_ms)
        elif lease.decision is LEASE_LOST:
            await self._quotas.free(quota, lease_entry(resource, epoch, digest))
        return lease

    async def release(
        self, resource: ResourceKey, epoch: Epoch, digest: bytes, quota: Quota | None = None
    ) -> Lease | Refused:
        try:
            lease = await self._store.release(resource, epoch, digest)
        except StoreUnavailable as away:
            return _perhaps_done(away)
        if isinstance(lease, Lease) or lease.decision is LEASE_LOST:
            await self._quotas.free(quota, lease_entry(resource, epoch, digest))
        return lease

    async def spend_resource(self, quota: Quota | None, resource: ResourceKey) -> Refused | None:
        """Before an epoch granted elsewhere is recorded: the resource may be a new one."""
        return await self._quotas.spend(quota, Spending(resource=resource))

    def release_unseen(self, granted: Granted, quota: Quota | None = None) -> None:
        """Release a lease whose answer reached nobody; if the store is away, it ends by its term."""

        async def release() -> None:
            await self.release(ResourceKey(granted.lease.resource), granted.lease.epoch, granted.secret_digest, quota)

        self._tasks.spawn(release())

    async def _release_unheard(self, ask: Ask, digest: bytes) -> None:
        """The store may have granted what nobody heard of, or what is not as safe as it has to be: whoever asks again
        should not be told that the lease is held. With a key the same lease is found again.
        """
        with contextlib.suppress(StoreUnavailable):
            live = await self._store.lookup(ask.resource)
            # Another's lease under this name has another secret, and is not ended by this one.
            if live is not None and live.holder == ask.holder:
                await self._store.release(ask.resource, live.epoch, digest)

    async def lookup(self, resource: ResourceKey) -> Lease | Refused | None:
        try:
            return await self._store.lookup(resource)
        except StoreUnavailable as away:
            return store_is_away(away, "Not shown")

    async def register(self, foreign: Foreign, is_gone: Callable[[], bool]) -> int | Refused:
        """Record an epoch granted elsewhere; how many older writes are in flight when `wait_s` has passed, or when the
        caller has left.

        Raises CallerGone and PoliciesChanged, as `grant`, before anything was recorded.
        """
        if foreign.wait_s <= 0:
            return await self._register(foreign, is_gone)
        with self._places.taken("lease") as has_place:
            if not has_place:
                return overloaded(Facts(resource=foreign.resource, epoch=foreign.epoch))
            return await self._register(foreign, is_gone)

    async def _register(self, foreign: Foreign, is_gone: Callable[[], bool]) -> int | Refused:
        end, registered = self._clock.after(foreign.wait_s), False
        try:
            with self._wakes.interest(foreign.resource) as interest:
                while True:
                    interest.forget()
                    if not registered and is_gone():
                        raise CallerGone("the caller left before its epoch was registered")
                    if not registered and foreign.term.is_over:
                        raise PoliciesChanged
                    watch = self._clock.left(end) > 0
                    reply = await self._store.register(foreign.resource, foreign.epoch, foreign.holder, watch=watch)
                    left = self._clock.left(end)
                    if isinstance(reply, Refused) or reply == 0 or left <= 0 or is_gone():
                        return reply
                    registered = True
                    await interest.wait(min(left, _RECHECK_S))
        except StoreUnavailable as away:
            return _perhaps_done(away)


def _perhaps_done(away: StoreUnavailable) -> Refused:
    """The answer may be all that was lost."""
    detail = "Nobody knows whether it was done: the store is away. Repeat the call later; that does no harm."
    return Refused(STORE_UNAVAILABLE, detail, Facts(retry_after_s=RETRY_AFTER_S), str(away))


def _with_token(lease: Lease | Refused, secret: LeaseSecret) -> Granted | Refused:
    return lease if isinstance(lease, Refused) else Granted(lease, f"{lease.epoch}.{secret.text}", secret.digest)
