"""The lease scripts: grant, renew, release, register, advance."""

import redis

from gateway.core.decision import Refused
from gateway.core.epoch import HIGHEST, Epoch
from gateway.core.lease import Lease
from gateway.core.write import Admitted
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from tests.store.fences import OTHER_SECRET, RESOURCE, SECRET, admitted, ask, bare, leased, opened


async def _grant(
    store: FenceStore, holder: str, secret: bytes, *, ttl_ms: int = 60_000, takeover: bool = False
) -> Lease:
    lease = await store.grant(RESOURCE, holder, secret, ttl_ms=ttl_ms, takeover=takeover, watch=False)
    assert isinstance(lease, Lease), lease
    return lease


def _word(reply: object) -> str | None:
    return reply.decision.name if isinstance(reply, Refused) else None


async def test_grants_go_on_from_the_highest_epoch_and_the_stores_clock(store_url: str) -> None:
    """max(highest + 1, the clock in milliseconds): larger than every epoch before, whoever gave it."""
    async with opened(store_url) as store:
        first = await _grant(store, "A", SECRET)
        await store.advance(RESOURCE, Epoch(first.epoch + 10**15), "r1")
        second = await _grant(store, "B", OTHER_SECRET)

        assert first.epoch > 1_700_000_000_000
        assert second.epoch == first.epoch + 10**15 + 1


async def test_a_lease_is_held_by_anyone_the_same_name_included(store_url: str) -> None:
    """Two tasks with one holder name never share a token: only the live token renews."""
    async with opened(store_url) as store:
        first = await _grant(store, "A", SECRET)
        held = await store.grant(RESOURCE, "A", OTHER_SECRET, ttl_ms=1000, takeover=False, watch=False)
        taken = await _grant(store, "A", OTHER_SECRET, takeover=True)

        assert _word(held) == "lease-held"
        assert _word(await store.renew(RESOURCE, first.epoch, SECRET)) == "lease-lost"
        assert _word(await store.release(RESOURCE, first.epoch, SECRET)) == "lease-lost"
        assert _word(await ask(store, leased(first.epoch))) == "stale-epoch"
        assert isinstance(await store.renew(RESOURCE, taken.epoch, OTHER_SECRET), Lease)


async def test_an_expired_lease_is_never_renewed(store_url: str) -> None:
    """Even if nobody has taken over; its write is told to take a new one."""
    async with opened(store_url) as store:
        lease = await _grant(store, "A", SECRET, ttl_ms=1)
        while await store.lookup(RESOURCE) is not None:
            pass

        assert _word(await store.renew(RESOURCE, lease.epoch, SECRET)) == "lease-lost"
        assert _word(await ask(store, leased(lease.epoch))) == "lease-expired"


async def test_a_released_token_is_dead_for_good(store_url: str) -> None:
    """A second release answers as the first; nothing else works with it again."""
    async with opened(store_url) as store:
        lease = await _grant(store, "A", SECRET)
        releases = [await store.release(RESOURCE, lease.epoch, SECRET) for _ in range(2)]

        assert all(isinstance(released, Lease) for released in releases)
        assert _word(await store.release(RESOURCE, lease.epoch, OTHER_SECRET)) == "token-invalid"
        assert _word(await store.renew(RESOURCE, lease.epoch, SECRET)) == "lease-lost"
        assert _word(await ask(store, leased(lease.epoch))) == "lease-expired"
        assert await store.lookup(RESOURCE) is None


async def test_a_grant_tells_how_many_older_writes_are_in_flight(store_url: str) -> None:
    """The count falls as they end; the same secret asks again without taking a new epoch."""
    async with opened(store_url) as store:
        first = await _grant(store, "A", SECRET)
        write = await admitted(store, leased(first.epoch))
        second = await _grant(store, "B", OTHER_SECRET, takeover=True)
        settled = await store.settle(write, "applied", "")
        again = await _grant(store, "B", OTHER_SECRET)

        assert (second.in_flight, second.drained) == (1, False)
        assert settled.overtaken
        assert (again.epoch, again.in_flight) == (second.epoch, 0)


async def test_registering_an_epoch_refuses_the_older_ones(store_url: str) -> None:
    """Before any write of it; registering again changes nothing."""
    async with opened(store_url) as store:
        await admitted(store, bare(41))
        in_flight = [await store.register(RESOURCE, Epoch(42), "B", watch=False) for _ in range(2)]

        assert in_flight == [1, 1]
        assert _word(await ask(store, bare(41))) == "stale-epoch"
        assert _word(await store.register(RESOURCE, Epoch(41), "A", watch=False)) == "stale-epoch"
        assert _word(await store.register(RESOURCE, Epoch(42), "C", watch=False)) == "holder-mismatch"


async def test_an_operator_advances_once_for_each_request(store_url: str) -> None:
    """The lease and its holder are gone; a repeat of the same request raises nothing more; not larger is refused."""
    async with opened(store_url) as store:
        lease = await _grant(store, "A", SECRET)
        advanced = [await store.advance(RESOURCE, None, "request-1") for _ in range(2)]

        assert isinstance(advanced[0], int) and advanced[0] > lease.epoch
        assert advanced[0] == advanced[1]
        assert _word(await ask(store, leased(lease.epoch))) == "stale-epoch"
        assert _word(await store.advance(RESOURCE, lease.epoch, "request-2")) == "stale-epoch"


async def test_epochs_can_run_out(store_url: str) -> None:
    """After 2^64-1 nothing is granted and nothing wraps round."""
    async with opened(store_url) as store:
        assert await store.advance(RESOURCE, Epoch(HIGHEST), "r1") == HIGHEST
        granted = await store.grant(RESOURCE, "A", SECRET, ttl_ms=1000, takeover=True, watch=False)

        assert _word(granted) == "epochs-exhausted"
        assert isinstance(await ask(store, bare(HIGHEST)), Admitted)


async def test_the_fence_record_never_has_a_time_to_live(store_url: str) -> None:
    """Whatever leases and writes do around it."""
    async with opened(store_url) as store:
        lease = await _grant(store, "A", SECRET, ttl_ms=1000)
        write = await admitted(store, leased(lease.epoch))
        await store.renew(RESOURCE, lease.epoch, SECRET)
        await store.settle(write, "unknown", "")
        await store.release(RESOURCE, lease.epoch, SECRET)

        with redis.Redis.from_url(store_url) as client:
            assert client.ttl(resource_keys(RESOURCE)[0]) == -1


async def test_the_secret_is_not_in_the_store(store_url: str) -> None:
    """Only a digest of it is."""
    async with opened(store_url) as store:
        secret = await store.lease_secret("default", "key-1", RESOURCE, "A")
        await _grant(store, "A", SECRET)

        assert secret == await store.lease_secret("default", "key-1", RESOURCE, "A")
        assert secret != await store.lease_secret("other", "key-1", RESOURCE, "A")
        with redis.Redis.from_url(store_url) as client:
            fields = client.hgetall(resource_keys(RESOURCE)[0])
            assert b"a-secret-of-one-holder-0123456789" not in b"".join(fields.values())
