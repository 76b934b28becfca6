"""What one gateway has seen by itself, without any mark: a record that is behind it admits nothing older."""

from typing import Any

from gateway.core.decision import STALE_EPOCH, Refused
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.loss import losses
from tests.store.fences import OTHER_SECRET, RESOURCE, admitted, ask, bare, granted, leased, name_of, opened, settled
from tests.store.losing import remembering
from tests.store.lost import all_landed, lose
from tests.store.parked import delivering, mail, parked, taken


async def test_a_record_behind_what_was_seen_admits_nothing_older(store: FenceStore, raw: Any) -> None:
    """The takeover that this gateway has heard of is lost; it does not let the former holder in again."""
    former = await granted(store)
    kept = raw.dump(resource_keys(RESOURCE)[0])
    last = await granted(store, "B", OTHER_SECRET, takeover=True)
    raw.restore(resource_keys(RESOURCE)[0], 0, kept, replace=True)

    assert name_of(await ask(store, leased(former.epoch))) == "store-regressed"
    assert name_of(await store.peek(leased(former.epoch))) == "store-regressed"
    assert name_of(await ask(store, leased(last.epoch, OTHER_SECRET))) == "store-regressed"
    new = await granted(store, "C", OTHER_SECRET)
    assert new.epoch > last.epoch
    assert name_of(await ask(store, leased(new.epoch, OTHER_SECRET))) == "Admitted"


async def test_a_refusal_is_heard_too(store_url: str, raw: Any) -> None:
    """Another gateway granted the takeover; this one has refused somebody for it, and remembers why."""
    async with opened(store_url) as one, opened(store_url) as other:
        former = await granted(one)
        kept = raw.dump(resource_keys(RESOURCE)[0])
        await granted(other, "B", OTHER_SECRET, takeover=True)
        assert name_of(await ask(one, leased(former.epoch))) == "stale-epoch"
        raw.restore(resource_keys(RESOURCE)[0], 0, kept, replace=True)

        assert name_of(await ask(one, leased(former.epoch))) == "store-regressed"


async def test_epochs_from_elsewhere_that_were_seen(store: FenceStore, raw: Any) -> None:
    """The newest that was seen is admitted and repairs the record; an older one is not."""
    await settled(store, await admitted(store, bare(43, "B")), "applied")
    raw.delete(resource_keys(RESOURCE)[0])

    assert name_of(await ask(store, bare(42))) == "store-regressed"
    assert name_of(await store.peek(bare(42))) == "store-regressed"
    await settled(store, await admitted(store, bare(43, "B")), "applied")
    assert name_of(await ask(store, bare(42))) == "stale-epoch"


async def test_once_a_loss_is_accepted_an_older_epoch_is_only_stale(store_url: str, raw: Any) -> None:
    """Whoever was overtaken stays so, by what the gateway has seen; the newest repairs the record."""
    async with remembering(store_url) as one:
        store = one.store
        await one.mark_no_more()
        await settled(store, await admitted(store, bare(60, "H")), "applied")
        one.incarnation.recent.forget(1)
        one.incarnation.recent.origins.clear()
        raw.flushall()
        lose(raw, store.expected_ms())
        assert name_of(await ask(store, bare(55, "H"))) == "store-regressed"
        assert name_of(await store.peek(bare(55, "H"))) == "store-regressed"
        await losses.accept(store, note="looked", by="operator")

        stale = await ask(store, bare(55, "H"))
        assert name_of(await store.peek(bare(55, "H"))) == "stale-epoch"
        assert isinstance(stale, Refused)
        assert (stale.decision, stale.facts.highest_epoch, stale.facts.holder) == (STALE_EPOCH, 60, None)
        assert stale.detail.startswith("Not forwarded: epoch 60 rules report/7, and epoch 55 is not newer.")
        all_landed(store)
        assert name_of(await ask(store, bare(61, "H"), ttl_s=0.0)) == "Admitted"


async def test_a_token_of_nothing_is_no_sign_of_a_loss(store_url: str) -> None:
    """What the store has never had it cannot have lost."""
    async with remembering(store_url) as one:
        assert name_of(await ask(one.store, leased(7))) == "token-invalid"

        assert list(one.incarnation.recent.proofs(0.0)) == []


async def test_a_token_that_was_never_good_stays_invalid(store: FenceStore) -> None:
    """Only a record that is behind what was seen makes it another matter."""
    lease = await granted(store)

    assert name_of(await ask(store, leased(lease.epoch, OTHER_SECRET))) == "token-invalid"
    assert name_of(await ask(store, leased(lease.epoch + 5, OTHER_SECRET))) == "token-invalid"


async def test_a_queued_write_of_an_overtaken_epoch_is_not_delivered(store: FenceStore, raw: Any) -> None:
    """The store has forgotten who overtook it; this gateway has not."""
    await parked(store, mail("one"))
    kept = raw.dump(resource_keys(RESOURCE)[0])
    await store.register(RESOURCE, bare(50).epoch, "B", watch=False)
    raw.restore(resource_keys(RESOURCE)[0], 0, kept, replace=True)
    async with delivering(store) as queue:
        await taken(queue)
        reply = await queue.admit(mail("one"), store.new_ticket(RESOURCE), ttl_s=30.0, queued=False, behind=0)

    assert name_of(reply) == "store-regressed"
