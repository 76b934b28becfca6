"""Grants that are asked for with a key: repeated, and never made twice."""

from typing import Any

import pytest

from gateway.core.decision import GRANT_IN_PROGRESS, Refused
from gateway.core.lease import Lease, LeaseSecret
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.resets import reset
from tests.store.fences import (
    LEASE_MS,
    OTHER_SECRET,
    RESOURCE,
    ask,
    ended,
    granted,
    keyed,
    leased,
    name_of,
    opened,
)

CALL = ("default", "ada", "key-1", RESOURCE, "A")


async def grant_keyed(store: FenceStore, secret: LeaseSecret, *, takeover: bool = False) -> Lease | Refused:
    asked = (RESOURCE, "A", secret.digest)
    return await store.grant(*asked, ttl_ms=LEASE_MS, takeover=takeover, watch=False, mark=secret.mark)


async def granted_keyed(store: FenceStore, principal: str = "ada") -> tuple[LeaseSecret, Lease]:
    secret = await store.lease_secret("default", principal, "key-1", RESOURCE, "A")
    lease = await grant_keyed(store, secret)
    assert isinstance(lease, Lease)
    return secret, lease


def used_keys(secret: LeaseSecret) -> bytes:
    """Where the keys are that the principal of a call has used for the resource."""
    assert secret.mark is not None
    return f"{resource_keys(RESOURCE)[6]}g:".encode() + secret.mark.spelled[:4] + RESOURCE.encode()


async def test_a_repeatable_grant_has_the_same_secret_through_every_gateway(store: FenceStore, store_url: str) -> None:
    """While its lease lives. Tenant, principal, key, resource and holder make the call, each told apart."""
    secret, _ = await granted_keyed(store)

    async with opened(store_url) as another:
        again = await another.lease_secret(*CALL)
        assert again.text == secret.text and again.mark is not None and again.mark.repeats
    others = [
        ("default", "bob", "key-1", RESOURCE, "A"),
        ("default", "ada", "key-2", RESOURCE, "A"),
        ("default", "adakey", "-1", RESOURCE, "A"),
        ("default", "ada", "key-1", RESOURCE, "B"),
    ]
    for other in others:
        found = await store.lease_secret(*other)
        assert found.text != secret.text and found.mark is not None and not found.mark.repeats
    assert len(secret.text) == 43


@pytest.mark.parametrize("end", ["released", "expired", "taken over", "advanced", "reset"])
async def test_a_key_is_granted_once(store: FenceStore, raw: Any, end: str) -> None:
    """Its lease has ended: a repeat that comes late gets none, takeover or not, and its secret never comes back."""
    secret, lease = await granted_keyed(store)
    match end:
        case "released":
            await store.release(RESOURCE, lease.epoch, secret.digest)
        case "expired":
            raw.hset(resource_keys(RESOURCE)[0], "x", 1)
        case "taken over":
            await granted(store, "B", OTHER_SECRET, takeover=True)
        case "reset":
            await reset(store, RESOURCE, note="a test", by="operator")
        case _:
            await store.advance(RESOURCE, None, "request 1")

    again = await store.lease_secret(*CALL)
    for takeover in (False, True):
        refused = await grant_keyed(store, again, takeover=takeover)
        assert isinstance(refused, Refused) and (refused.decision.name, refused.decision.status) == ("lease-lost", 409)
    assert again.text != secret.text
    assert name_of(await grant_keyed(store, await store.lease_secret("default", "ada", "key-2", RESOURCE, "A"))) in (
        ("lease-held",) if end == "taken over" else ("Lease",)
    )


async def test_a_repeat_that_found_its_lease_is_never_granted_another(store: FenceStore, raw: Any) -> None:
    """The lease ended between the look and the grant, and nobody remembers the key any more."""
    await granted_keyed(store)
    again = await store.lease_secret(*CALL)
    await granted(store, "B", OTHER_SECRET, takeover=True)
    raw.delete(used_keys(again))

    assert name_of(await grant_keyed(store, again, takeover=True)) == "lease-lost"


async def test_two_calls_of_one_key_at_once_get_one_lease(store: FenceStore) -> None:
    """The second was told of no lease yet; it is sent back to look, takeover or not."""
    first, second = await store.lease_secret(*CALL), await store.lease_secret(*CALL)
    lease = await grant_keyed(store, first)

    assert await grant_keyed(store, first) == lease
    for takeover in (False, True):
        refused = await grant_keyed(store, second, takeover=takeover)
        assert isinstance(refused, Refused) and refused.decision is GRANT_IN_PROGRESS
    assert await grant_keyed(store, await store.lease_secret(*CALL)) == lease


async def test_a_key_is_remembered_for_a_day_and_no_other_takes_its_place(store: FenceStore, raw: Any) -> None:
    """A late duplicate of the first of many grants takes nothing over, whoever came after it."""
    secret, first = await granted_keyed(store)
    await store.release(RESOURCE, first.epoch, secret.digest)
    used = used_keys(secret)
    raw.zadd(used, {bytes([number] * 16): first.expires_at_ms + 86_400_000 + number for number in range(200)})
    later = await store.lease_secret("default", "ada", "key-2", RESOURCE, "A")
    lease = await grant_keyed(store, later)

    late = await store.lease_secret(*CALL)
    assert name_of(await grant_keyed(store, late, takeover=True)) == "lease-lost"
    assert await store.lookup(RESOURCE) == lease
    assert raw.zcard(used) == 202
    assert 86_000_000 < raw.pttl(used) <= 86_400_000


async def test_a_thousand_keys_of_a_day_are_all_that_are_granted(store: FenceStore, raw: Any) -> None:
    """A loop of grants does not fill the store: the next key waits until the first is forgotten, and moves no epoch.
    The live lease's own repeat, calls without a key, and other principals are granted as before."""
    secret, lease = await granted_keyed(store)
    now_ms = lease.expires_at_ms - LEASE_MS
    others = {number.to_bytes(16, "big"): now_ms + 3_600_000 + number for number in range(999)}
    raw.zadd(used_keys(secret), others)
    another = await store.lease_secret("default", "ada", "key-2", RESOURCE, "A")

    refused = await grant_keyed(store, another, takeover=True)

    assert isinstance(refused, Refused)
    assert (refused.decision.name, refused.decision.status) == ("quota-exceeded", 429)
    assert "Ask without an Idempotency-Key" in refused.detail
    assert refused.facts.retry_after_s is not None
    assert 3_500 < refused.facts.retry_after_s <= 3_600
    assert await grant_keyed(store, secret) == await store.lookup(RESOURCE) == lease
    assert (await granted(store, "B", OTHER_SECRET, takeover=True)).holder == "B"
    of_bob = await store.lease_secret("default", "bob", "key-1", RESOURCE, "A")
    assert isinstance(await grant_keyed(store, of_bob, takeover=True), Lease)
    raw.zadd(used_keys(secret), {next(iter(others)): now_ms})
    assert isinstance(await grant_keyed(store, another, takeover=True), Lease)
    assert raw.zcard(used_keys(secret)) == 1000


async def test_a_key_that_was_forgotten_brings_nothing_back(store: FenceStore, raw: Any) -> None:
    """A day later its repeat gets a lease of its own, of a newer epoch under another secret; what was written under the
    first one is written once, and the first one's token stays dead."""
    secret, first = await granted_keyed(store)
    write = keyed(leased(first.epoch, secret.digest, "A"))
    await ended(store, write, "applied")
    await store.release(RESOURCE, first.epoch, secret.digest)
    raw.zadd(used_keys(secret), dict.fromkeys(raw.zrange(used_keys(secret), 0, -1), 1))
    later = await store.lease_secret("default", "ada", "key-2", RESOURCE, "A")
    lease = await grant_keyed(store, later)
    assert isinstance(lease, Lease)
    await store.release(RESOURCE, lease.epoch, later.digest)

    late = await store.lease_secret(*CALL)
    again = await grant_keyed(store, late)
    assert isinstance(again, Lease)
    assert (again.epoch > lease.epoch, late.text == secret.text) == (True, False)
    assert name_of(await ask(store, write)) == "stale-epoch"
    assert name_of(await ask(store, keyed(leased(again.epoch, late.digest, "A")))) == "Replayed"
