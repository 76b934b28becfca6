"""Secrets of leases that were asked for with a key."""

from typing import Any

from gateway.core.token import digest_secret
from gateway.store.fence import FenceStore
from gateway.store.keys import PEPPER
from gateway.store.lease_secrets import LeaseSecrets
from tests.store.fences import LEASE_MS, RESOURCE

CALL = ("default", "ada", "key-1")


async def test_a_call_has_one_secret_while_its_lease_lives(store: FenceStore) -> None:
    """Through whichever gateway it comes again; once the lease has ended, another."""
    one, two = LeaseSecrets(store.link), LeaseSecrets(store.link)
    now_ms = store.expected_ms()
    first = await one.secret_of(CALL, RESOURCE, "A", now_ms)
    digest = digest_secret(first.text)
    await store.grant(RESOURCE, "A", digest, ttl_ms=LEASE_MS, takeover=False, watch=False, mark=first.mark)

    assert (await two.secret_of(CALL, RESOURCE, "A", now_ms)).text == first.text
    assert (await two.secret_of(CALL, RESOURCE, "A", now_ms + 2 * LEASE_MS)).text != first.text
    for other in (("default", "bob", "key-1"), ("default", "ada", "key-2"), ("another", "ada", "key-1")):
        assert (await two.secret_of(other, RESOURCE, "A", now_ms)).text != first.text


async def test_the_key_is_made_once_and_stays(store: FenceStore, raw: Any) -> None:
    """Only the store has it."""
    await LeaseSecrets(store.link).secret_of(CALL, RESOURCE, "A", 0)
    pepper = raw.get(PEPPER)
    await LeaseSecrets(store.link).secret_of(CALL, RESOURCE, "A", 0)

    assert len(pepper) == 32
    assert raw.get(PEPPER) == pepper


async def test_a_store_that_was_emptied_has_another_one_for_all(store: FenceStore, raw: Any) -> None:
    """Whoever lived through it finds the same secret as whoever was started since."""
    before, now_ms = LeaseSecrets(store.link), store.expected_ms()
    await before.secret_of(CALL, RESOURCE, "A", now_ms)
    raw.delete(PEPPER)
    first = await LeaseSecrets(store.link).secret_of(CALL, RESOURCE, "A", now_ms)
    digest = digest_secret(first.text)
    await store.grant(RESOURCE, "A", digest, ttl_ms=LEASE_MS, takeover=False, watch=False, mark=first.mark)

    assert (await before.secret_of(CALL, RESOURCE, "A", now_ms)).text == first.text
