"""A deliverer that stalled: what it took is not what is kept under the key by now."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.delivery import Again, GivenUp
from gateway.core.kept_request import KeptRequest
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted, Write
from gateway.store.fence import FenceStore
from gateway.store.parking import Decide, decide
from tests.store.fences import (
    RESOURCE,
    name_of,
    state_of,
)
from tests.store.parked import (
    APPROVED,
    REQUEST,
    begin,
    delivered,
    delivering,
    id_of,
    mail,
    make_due,
    make_older,
    parked,
    taken,
)

ONE = mail("one")


async def test_what_is_no_longer_what_was_taken_does_not_fail(store: FenceStore, raw: Any) -> None:
    """A successor has it now, and is judged by itself."""
    await parked(store, ONE)
    make_older(raw, id_of(ONE), 60)
    async with delivering(store) as queue:
        one = await taken(queue)
        await parked(store, mail("one", 43, holder="B"))

        assert not await queue.fail(one, "no rule takes it")
    assert await state_of(store, id_of(ONE)) == "queued"


@pytest.mark.parametrize(
    ("write", "request_"),
    [
        (mail("one", says=b"another"), replace(REQUEST, body=b"{}")),
        (ONE, replace(REQUEST, headers=((b"Content-Type", b"application/merge-patch+json"),))),
        (ONE, REQUEST),
    ],
    ids=["another body", "the same body under other fields", "the same request"],
)
async def test_what_was_taken_is_not_what_is_kept_under_its_key_later(
    write: Write, request_: KeptRequest, store: FenceStore, raw: Any
) -> None:
    """A deliverer that was silent meanwhile gets no ticket for it, cannot end it, and finds it by looking again."""
    await parked(store, ONE)
    make_older(raw, id_of(ONE), 60)
    async with delivering(store) as queue:
        old = await taken(queue)
        make_due(raw)
        await delivered(queue, ONE, "not_applied", GivenUp())
        await parked(store, write, request_)
        make_older(raw, id_of(ONE), 30)

        assert name_of(await begin(queue, replace(ONE, keeping=old.record.keeping))) == "intent-in-progress"
        assert not await queue.fail(old, "no rule takes it")
        assert await state_of(store, id_of(ONE)) == "queued"
        new = await delivered(queue, write, "applied")
    assert new.request == request_


@pytest.mark.parametrize("is_approved", [False, True], ids=["it waits", "it is approved"])
async def test_what_was_taken_is_not_what_is_approved_under_its_key_later(
    is_approved: bool, store: FenceStore, raw: Any
) -> None:
    """The approval was for what was looked at, and was used up: what a deliverer took under it before is not sent under
    the next one, nor while the next one waits for its own.
    """
    first, second = mail("one", of=APPROVED), mail("one", of=APPROVED, says=b"another")
    request = replace(REQUEST, body=b"{}")
    await parked(store, first)
    await approve(store)
    async with delivering(store) as queue:
        old = await taken(queue)
        make_due(raw)
        await delivered(queue, first, "not_applied", GivenUp())
        await parked(store, second, request)
        if is_approved:
            await approve(store)
        state = await state_of(store, id_of(first))

        assert not isinstance(await begin(queue, replace(first, keeping=old.record.keeping)), Admitted)
        assert not await queue.fail(old, "no rule takes it")
        assert await state_of(store, id_of(first)) == state == ("queued" if is_approved else "awaiting_approval")
        if is_approved:
            new = await delivered(queue, second, "applied")
            assert (new.request, old.request) == (request, REQUEST)
        else:
            assert await queue.take(RESOURCE) is None


async def approve(store: FenceStore) -> None:
    """What waits now, by its digest."""
    record = await store.recall(id_of(ONE))
    assert record is not None and record.parking is not None
    decided = await decide(store, record, Decide("approve", "anna", "anna", "ok", record.parking.digest))
    assert isinstance(decided, IntentRecord), decided


async def test_what_was_delivered_in_vain_since_is_not_sent_before_its_time(store: FenceStore, raw: Any) -> None:
    """Another deliverer was told to come later; the one that took it before does not know."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        old = await taken(queue)
        make_due(raw)
        await delivered(queue, ONE, "not_applied", Again(60.0))

        assert name_of(await begin(queue, replace(ONE, keeping=old.record.keeping))) == "intent-in-progress"
        assert await queue.take(RESOURCE) is None
