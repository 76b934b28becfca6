"""Leases: grants, their repeats, renewal, release, epochs granted elsewhere, an operator's advance."""

from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.epoch import HIGHEST, Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.lease import Lease
from gateway.core.quota import Counted, lease_entry
from gateway.store.fence import ADVANCE, FenceStore
from gateway.store.keys import resource_keys
from tests.store.fences import (
    LEASE_MS,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    admitted,
    ask,
    bare,
    granted,
    leased,
    name_of,
)
from tests.store.overdue import make_overdue


async def grant(store: FenceStore, secret: bytes, *, takeover: bool = False) -> Lease | Refused:
    return await store.grant(RESOURCE, "B", secret, ttl_ms=LEASE_MS, takeover=takeover, watch=False)


async def test_a_grant_repeated_is_the_same_lease(store: FenceStore) -> None:
    """A 201 that was lost: the same secret gets the same epoch and end; no second lease leaks."""
    lease = await granted(store)

    assert await granted(store) == lease


async def test_a_held_lease_is_refused_with_its_holder_and_end(store: FenceStore) -> None:
    """A held lease is anybody's but the asker's, the same holder name included."""
    lease = await granted(store, "B")

    reply = await grant(store, OTHER_SECRET)

    assert isinstance(reply, Refused)
    assert (reply.decision.name, reply.facts.holder) == ("lease-held", "B")
    assert reply.facts.expires_at_ms == lease.expires_at_ms
    assert reply.facts.retry_after_s is not None
    assert 1 <= reply.facts.retry_after_s <= LEASE_MS // 1000


async def test_from_the_grant_on_the_older_epoch_is_refused(store: FenceStore) -> None:
    """G2: even if the new holder has written nothing; and the older lease neither renews nor releases."""
    older = await granted(store)
    newer = await granted(store, "B", OTHER_SECRET, takeover=True)

    assert newer.epoch > older.epoch
    assert name_of(await ask(store, leased(older.epoch))) == "stale-epoch"
    assert name_of(await store.renew(RESOURCE, older.epoch, SECRET)) == "lease-lost"
    assert name_of(await store.release(RESOURCE, older.epoch, SECRET)) == "lease-lost"
    assert await store.lookup(RESOURCE) == newer


async def test_an_epoch_is_not_behind_the_stores_clock(store: FenceStore) -> None:
    """Epochs go on growing after a restore: the first one is the clock's millisecond."""
    lease = await granted(store)

    assert lease.epoch == lease.expires_at_ms - LEASE_MS


async def test_a_store_that_lost_an_epoch_grants_a_larger_one(store: FenceStore, raw: Any) -> None:
    """This gateway has seen an epoch ahead of the clock; the store has forgotten it; the next grant exceeds it."""
    await store.register(RESOURCE, Epoch(2**62), "A", watch=False)
    raw.flushall()

    assert (await granted(store)).epoch == 2**62 + 1


async def test_epochs_can_run_out(store: FenceStore) -> None:
    """After the largest epoch no lease is granted, and the largest one goes on."""
    await admitted(store, bare(HIGHEST))

    assert name_of(await grant(store, SECRET)) == "epochs-exhausted"
    assert name_of(await store.advance(RESOURCE, None, "one")) == "epochs-exhausted"


async def test_a_grant_counts_what_it_has_to_wait_for(store: FenceStore, raw: Any) -> None:
    """Older writes in flight are counted; those whose gateway is dead have ended by then."""
    first = await granted(store)
    ticket = await admitted(store, leased(first.epoch))

    second = await granted(store, "B", OTHER_SECRET, takeover=True)
    assert (second.in_flight, second.drained) == (1, False)

    make_overdue(raw, RESOURCE, ticket.ticket)
    assert (await granted(store, "B", OTHER_SECRET)).drained


async def test_renewal_moves_the_end_and_nothing_else(store: FenceStore) -> None:
    """The renewed lease has the same epoch and term."""
    lease = await granted(store)

    renewed = await store.renew(RESOURCE, lease.epoch, SECRET)

    assert isinstance(renewed, Lease)
    assert renewed.expires_at_ms >= lease.expires_at_ms
    assert (renewed.epoch, renewed.holder, renewed.ttl_ms) == (lease.epoch, lease.holder, lease.ttl_ms)


async def test_only_the_live_token_renews(store: FenceStore, raw: Any) -> None:
    """Another secret or a larger epoch is invalid; an expired lease is lost for good."""
    lease = await granted(store)
    assert name_of(await store.renew(RESOURCE, lease.epoch, OTHER_SECRET)) == "token-invalid"
    assert name_of(await store.renew(RESOURCE, Epoch(lease.epoch + 1), SECRET)) == "token-invalid"

    raw.hset(resource_keys(RESOURCE)[0], "x", 1)

    assert name_of(await store.renew(RESOURCE, lease.epoch, SECRET)) == "lease-lost"


async def test_a_release_repeated_answers_as_the_first_time(store: FenceStore) -> None:
    """And the next one gets the lease at once."""
    lease = await granted(store)
    released = await store.release(RESOURCE, lease.epoch, SECRET)
    assert isinstance(released, Lease)

    assert await store.release(RESOURCE, lease.epoch, SECRET) == released
    assert await store.lookup(RESOURCE) is None
    assert isinstance(await grant(store, OTHER_SECRET), Lease)


async def test_an_expired_lease_that_nobody_overtook_is_released(store: FenceStore, raw: Any) -> None:
    """Its holder came late, and nothing is wrong with that."""
    lease = await granted(store)
    raw.hset(resource_keys(RESOURCE)[0], "x", 1)

    assert isinstance(await store.release(RESOURCE, lease.epoch, SECRET), Lease)


async def test_registering_refuses_older_epochs_before_any_write(store: FenceStore) -> None:
    """The registered epoch is the highest, and its own holder may register it again."""
    older = await admitted(store, bare(41))

    assert await store.register(RESOURCE, Epoch(42), "B", watch=False) == 1
    assert name_of(await store.register(RESOURCE, Epoch(41), "A", watch=False)) == "stale-epoch"
    assert name_of(await store.register(RESOURCE, Epoch(42), "A", watch=False)) == "holder-mismatch"
    await store.settle(older, "applied", "answered 200", None)
    assert await store.register(RESOURCE, Epoch(42), "B", watch=False) == 0


async def test_an_advance_that_is_executed_late_ends_nobody_who_came_since(store: FenceStore) -> None:
    """It was given up and called again, and somebody else has the lease by now."""
    first = await granted(store)
    late = RESOURCE, "", "request 1", "0", "0", "operator", "by-clock", str(first.epoch), str(store.given_up_ms())
    await store.advance(RESOURCE, None, "request 2")
    second = await granted(store, "B", OTHER_SECRET)

    assert (await store.run(ADVANCE, resource_keys(RESOURCE), *late)).word == "seen"
    assert name_of(await ask(store, leased(second.epoch, OTHER_SECRET))) == "Admitted"


async def test_where_epochs_are_counted_elsewhere_the_next_one_is_the_next_number(store: FenceStore) -> None:
    """Those that are granted there from now on are not shut out; who has the largest of all leaves no next one."""
    await store.register(RESOURCE, Epoch(7), "A", watch=False)

    assert await store.advance(RESOURCE, None, "request 1", by_clock=False) == 8
    assert await store.register(RESOURCE, Epoch(9), "B", watch=False) == 0
    await store.register(RESOURCE, HIGHEST, "C", watch=False)
    assert name_of(await store.advance(RESOURCE, None, "request 2", by_clock=False)) == "epochs-exhausted"


async def test_an_advance_ends_whoever_writes(store: FenceStore) -> None:
    """Lease and epoch are dead; repeated with the same request it raises nothing; the first who comes has the epoch."""
    lease = await granted(store)
    epoch = await store.advance(RESOURCE, None, "request 1")
    assert isinstance(epoch, int)

    assert epoch > lease.epoch
    assert await store.advance(RESOURCE, None, "request 1") == epoch
    assert name_of(await store.advance(RESOURCE, lease.epoch, "request 2")) == "stale-epoch"
    assert name_of(await ask(store, leased(lease.epoch))) == "stale-epoch"
    assert name_of(await ask(store, bare(epoch, "C"))) == "Admitted"
    assert name_of(await ask(store, bare(epoch, "D"))) == "holder-mismatch"


async def test_a_grant_that_is_executed_late_evicts_nobody(
    store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection stood still until the call was given up: nobody would have the lease."""
    held = await granted(store)
    monkeypatch.setattr(store, "given_up_ms", lambda *_: store.expected_ms() - 1)
    with pytest.raises(StoreUnavailable):
        await granted(store, "B", OTHER_SECRET, takeover=True)

    assert raw.hget(resource_keys(RESOURCE)[0], "e") == b"%d" % held.epoch


async def test_a_clock_that_has_just_stepped_grants_all_the_same(store: FenceStore) -> None:
    """The first answer tells how far it is."""
    clock = store._clock
    assert clock._offset_s is not None
    clock._offset_s -= 3600
    clock._last_s = clock._furthest_s = clock._offset_s

    assert (await granted(store)).holder == "A"


async def test_a_lease_is_held_by_anyone_the_same_name_included(store: FenceStore) -> None:
    """Two tasks with one holder name never share a token: the first attempt's renew, release and write all fail."""
    first = await granted(store)
    assert name_of(await grant(store, OTHER_SECRET)) == "lease-held"
    taken = await granted(store, "A", OTHER_SECRET, takeover=True)

    assert name_of(await store.renew(RESOURCE, first.epoch, SECRET)) == "lease-lost"
    assert name_of(await store.release(RESOURCE, first.epoch, SECRET)) == "lease-lost"
    assert name_of(await ask(store, leased(first.epoch))) == "stale-epoch"
    assert name_of(await store.renew(RESOURCE, taken.epoch, OTHER_SECRET)) == "Lease"


async def test_the_fence_record_never_has_a_time_to_live(store: FenceStore, raw: Any) -> None:
    """Whatever leases and writes do around it."""
    lease = await granted(store)
    write = await admitted(store, leased(lease.epoch))
    await store.renew(RESOURCE, lease.epoch, SECRET)
    await store.settle(write, "unknown", "", None)
    await store.release(RESOURCE, lease.epoch, SECRET)

    assert raw.ttl(resource_keys(RESOURCE)[0]) == -1


@pytest.mark.parametrize("end", ["none", "given back", "over", "advanced"])
async def test_whoever_takes_over_is_told_what_counted_for_whom(store: FenceStore, raw: Any, end: str) -> None:
    """Of a lease that lived and counts for a quota; the next grant knows nothing of it."""
    first = await store.grant(RESOURCE, "A", SECRET, ttl_ms=LEASE_MS, takeover=False, watch=False, counts_for="ada")
    assert isinstance(first, Lease) and first.overtakes is None
    match end:
        case "given back":
            await store.release(RESOURCE, first.epoch, SECRET)
        case "over":
            raw.hset(resource_keys(RESOURCE)[0], "x", "1")
        case "advanced":
            await store.advance(RESOURCE, None, "call-1")
    second = await grant(store, OTHER_SECRET, takeover=True)
    third = await grant(store, SECRET, takeover=True)

    assert isinstance(second, Lease) and isinstance(third, Lease)
    told = Counted("ada", lease_entry(RESOURCE, first.epoch, SECRET))
    assert second.overtakes == (told if end == "none" else None)
    assert third.overtakes is None
