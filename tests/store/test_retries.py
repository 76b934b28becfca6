"""What has failed, sent again when an operator says so: as it came, once, while its own epoch rules."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import GivenUp
from gateway.core.epoch import Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import IntentId
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted
from gateway.store.fence import FenceStore
from gateway.store.keys import kept_request, shard_of
from gateway.store.parking import Decide, decide, retry
from gateway.store.resets import reset
from tests.store.fences import RESOURCE, admitted, bare, ended, granted, name_of, resolved, state_of
from tests.store.lost import lose
from tests.store.parked import (
    APPROVED,
    REQUEST,
    begin,
    delivered,
    delivering,
    id_of,
    mail,
    make_older,
    parked,
    queued,
    taken,
)

ONE = mail("one", of=APPROVED)


async def parked_and_approved(store: FenceStore) -> None:
    record = await parked(store, ONE)
    assert record.parking is not None
    approved = await decide(store, record, Decide("approve", "anna", "anna", "looks right", record.parking.digest))
    assert isinstance(approved, IntentRecord)


async def test_what_has_failed_is_sent_again_by_an_operator(store: FenceStore, raw: Any) -> None:
    """The same request, from the first attempt on; the call that is repeated does it once."""
    write = mail("one")
    await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
        record = await store.recall(id_of(write))
        assert record is not None and record.state == "failed"
        again = [await retry(store, record, note="the key is renewed", by="operator") for _ in range(2)]

        assert again[0] == again[1] and isinstance(again[0], IntentRecord)
        assert again[0].parking is not None and (again[0].state, again[0].parking.failures) == ("queued", 0)
        assert await queued(store, raw) == [id_of(write)]
        assert raw.pttl(kept_request(shard_of(RESOURCE), id_of(write))) == -1
        await delivered(queue, write, "applied")


async def test_a_retry_that_is_executed_late_queues_nothing(store: FenceStore, raw: Any) -> None:
    """It was sent again, and has failed again since."""
    write = mail("one")
    await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
        seen = await store.recall(id_of(write))
        assert seen is not None
        assert isinstance(await retry(store, seen, note="again", by="operator"), IntentRecord)
        await delivered(queue, write, "not_applied", GivenUp())

    assert name_of(await retry(store, seen, note="again", by="operator")) == "wrong-state"
    assert await queued(store, raw) == []


async def test_a_retry_is_for_the_request_that_was_looked_at(store: FenceStore, raw: Any) -> None:
    """Another one may have failed under its key since: it is refused, and told which one that is."""
    write, other = mail("one"), mail("one", says=b"another")
    async with delivering(store) as queue:
        await parked(store, write)
        await delivered(queue, write, "not_applied", GivenUp())
        seen = await store.recall(id_of(write))
        await parked(store, other, replace(REQUEST, body=b"{}"))
        await delivered(queue, other, "not_applied", GivenUp())
    now = await store.recall(id_of(write))
    assert seen is not None and now is not None and seen.parking is not None and now.parking is not None

    by_record = await retry(store, seen, note="again", by="operator")
    by_digest = await retry(store, now, note="again", by="operator", digest=seen.parking.digest)

    assert by_record == by_digest and isinstance(by_record, Refused)
    assert by_record.decision.name == "wrong-state" and now.parking.digest in by_record.detail
    assert await queued(store, raw) == []
    assert isinstance(await retry(store, now, note="again", by="operator", digest=now.parking.digest), IntentRecord)


@pytest.mark.parametrize(
    ("after_ms", "accepted", "told"),
    [(60_000, False, "store-regressed"), (60_000, True, "wrong-state"), (-60_000, True, "queued")],
    ids=["not accepted", "accepted", "it failed after the loss"],
)
async def test_what_failed_before_a_loss_is_not_sent_again(
    store: FenceStore, raw: Any, after_ms: int, accepted: bool, told: str
) -> None:
    """G4: it may have been sent again since, and that lost, also when an operator has accepted the loss."""
    write = mail("one")
    await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    failed = await store.recall(id_of(write))
    assert failed is not None
    lose(raw, store.expected_ms() + after_ms, accepted=accepted)

    reply = await retry(store, failed, note="again", by="operator")

    assert (reply.decision.name if isinstance(reply, Refused) else reply.state) == told
    assert len(await queued(store, raw)) == (told == "queued")


async def test_what_was_approved_and_has_failed_is_not_sent_again_by_an_operator(store: FenceStore, raw: Any) -> None:
    """Its approval is used up: whoever repeats the request waits for another one."""
    await parked_and_approved(store)
    async with delivering(store) as queue:
        await delivered(queue, ONE, "not_applied", GivenUp())
    record = await store.recall(id_of(ONE))
    assert record is not None and record.state == "failed"

    told = await retry(store, record, note="again", by="operator")

    assert isinstance(told, Refused) and told.decision.name == "wrong-state" and "approved again" in told.detail
    assert await queued(store, raw) == []
    assert (await parked(store, ONE)).state == "awaiting_approval"


async def test_an_approval_that_was_not_used_stays(store: FenceStore, raw: Any) -> None:
    """No policy took the write, so that nothing was sent: an operator may have it sent, once."""
    await parked_and_approved(store)
    make_older(raw, id_of(ONE), 60)
    async with delivering(store) as queue:
        await queue.fail(await taken(queue), "no rule takes it")
        failed = await store.recall(id_of(ONE))
        assert failed is not None and failed.state == "failed"
        again = await retry(store, failed, note="the policy is mended", by="operator")
        assert isinstance(again, IntentRecord) and again.parking is not None and again.parking.approval is not None
        assert (again.state, again.parking.approval.by) == ("queued", "anna")

        await delivered(queue, ONE, "not_applied", GivenUp())
        assert name_of(await retry(store, failed, note="again", by="operator")) == "wrong-state"


async def test_what_was_resolved_as_not_applied_can_be_sent_again(store: FenceStore) -> None:
    """Its request is kept as long as its record."""
    write = mail("one")
    await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "unknown")
        await resolved(store, "not_applied", IntentId(id_of(write)))
        record = await store.recall(id_of(write))
        assert record is not None
        assert isinstance(await retry(store, record, note="again", by="operator"), IntentRecord)
        assert (await taken(queue)).request == REQUEST
        assert isinstance(await begin(queue, write), Admitted)


async def test_what_was_overtaken_or_never_failed_is_not_sent_again(store: FenceStore, raw: Any) -> None:
    """Whoever has the resource now has to repeat it; what waits or was done is no failure."""
    write = mail("one")
    record = await parked(store, write)
    assert name_of(await retry(store, record, note="again", by="operator")) == "wrong-state"
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    raw.delete(kept_request(shard_of(RESOURCE), record.id))
    assert name_of(await retry(store, record, note="again", by="operator")) == "wrong-state"
    await admitted(store, bare(43, "B"))
    assert name_of(await retry(store, record, note="again", by="operator")) == "wrong-state"
    assert await state_of(store, record.id) == "failed"


@pytest.mark.parametrize("by", ["a write", "a lease", "an operator"])
async def test_what_failed_under_an_overtaken_epoch_is_not_sent_again(store: FenceStore, raw: Any, by: str) -> None:
    """Though its request is kept: whoever rules now may have written since, and repeats it if it is wanted."""
    write = mail("one")
    record = await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    if by == "a write":
        await admitted(store, bare(43, "B"))
    elif by == "a lease":
        await granted(store, "B")
    else:
        await store.advance(RESOURCE, Epoch(43), "r")

    told = await retry(store, record, note="again", by="operator")

    assert isinstance(told, Refused) and told.decision.name == "wrong-state"
    assert "newer" in told.detail
    assert await queued(store, raw) == []


async def test_what_failed_before_its_epoch_was_forgotten_is_not_sent_again(store: FenceStore) -> None:
    """Whoever began anew may have written since; the old epoch would rule again."""
    write = mail("one")
    record = await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
    assert await reset(store, RESOURCE, note="a test", by="operator") == 42
    await ended(store, bare(3, "B"), "applied")

    assert name_of(await retry(store, record, note="again", by="operator")) == "wrong-state"
    assert await state_of(store, record.id) == "failed"


async def test_what_is_executed_after_its_call_was_given_up_does_nothing(store: FenceStore) -> None:
    """Its connection stood still: whoever decided was told that nothing is known, and may be nobody by now."""
    record = await parked(store, ONE)
    assert record.parking is not None
    other = mail("two")
    await parked(store, other)
    async with delivering(store) as queue:
        await delivered(queue, other, "not_applied", GivenUp())
    failed = await store.recall(id_of(other))
    assert failed is not None
    store.answers_within_s = -60.0

    with pytest.raises(StoreUnavailable, match="later than it was asked"):
        await decide(store, record, Decide("approve", "anna", "anna", "looks right", record.parking.digest))
    with pytest.raises(StoreUnavailable, match="later than it was asked"):
        await retry(store, failed, note="again", by="operator")

    assert (await state_of(store, id_of(ONE)), await state_of(store, id_of(other))) == ("awaiting_approval", "failed")
