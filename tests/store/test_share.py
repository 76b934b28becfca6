"""Room for what waits: no more is taken than there is, however many come at once, and no principal takes all of it."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import GivenUp
from gateway.core.faults import StoreUnavailable
from gateway.core.record import IntentRecord
from gateway.core.write import Write
from gateway.store.fence import FenceStore
from gateway.store.keys import PARKED_BY, PARKED_BYTES
from gateway.store.parking import recount_parked
from gateway.store.share import counted_so_far, put_right
from tests.store.parked import APPROVED, REQUEST, delivered, delivering, mail, parked

# Packed it is as large as it is here: its bytes do not deflate. What the store spends on each comes to it.
BODY = bytes(range(256)) * 16
SIZE = 2_000


def mails(count: int, principal: str) -> list[Write]:
    return [replace(mail(f"{principal}-{at}", of=APPROVED), principal=principal) for at in range(count)]


async def taken(store: FenceStore, *writes: Write) -> Counter[str]:
    """What is said of them, all at once."""
    request = replace(REQUEST, body=BODY)
    replies = await asyncio.gather(*(store.park(write, request) for write in writes))
    return Counter(reply.decision.name if isinstance(reply, Refused) else "taken" for reply in replies)


async def test_many_at_once_take_no_more_than_there_is(store: FenceStore, raw: Any) -> None:
    """Each takes its room before it is taken itself, and gives it back where there is none."""
    await parked(store, mail("one"), replace(REQUEST, body=BODY))
    size = int(raw.get(PARKED_BYTES))
    store.parked_bytes = 10 * size

    told = await taken(store, *mails(50, "anonymous"))

    assert told["taken"] <= 9 and told["no-room"] == 50 - told["taken"]
    assert int(raw.get(PARKED_BYTES)) == await recount_parked(store) <= store.parked_bytes
    assert (await taken(store, *mails(50, "anonymous")))["taken"] >= told["taken"]
    assert await recount_parked(store) > 8 * size


async def test_one_principal_leaves_room_for_the_others(store: FenceStore, raw: Any) -> None:
    """It has a quarter of all room at most, and is told so; whoever it is that sends nothing has the rest."""
    store.parked_bytes = 400_000

    assert (await taken(store, *mails(90, "ada")))["no-room"] > 0
    used = int(raw.hget(PARKED_BY, "ada"))
    assert 90_000 < used <= 100_000
    refused = await store.park(mails(91, "ada")[-1], replace(REQUEST, body=BODY))
    assert isinstance(refused, Refused) and refused.decision.name == "no-room"
    assert "principal ada" in refused.detail and "100000 bytes" in refused.detail
    assert (await taken(store, *mails(10, "ben"))) == Counter(taken=10)
    assert raw.hkeys(PARKED_BY) == [b"ada", b"ben"]


async def test_a_repeat_needs_no_room(store: FenceStore) -> None:
    """What waits is found, and takes no more."""
    [write] = mails(1, "ada")
    await parked(store, write)
    before = await counted_so_far(store.link)
    store.parked_bytes = 0

    assert isinstance(await store.park(write, REQUEST), IntentRecord)
    assert await counted_so_far(store.link) == before


async def test_what_has_failed_counts_and_what_was_sent_does_not(store: FenceStore) -> None:
    """For as long as its request is kept."""
    first, second = (replace(mail(name), principal="ada") for name in ("one", "two"))
    await parked(store, first)
    one = await counted_so_far(store.link)
    await parked(store, second)
    async with delivering(store) as queue:
        await delivered(queue, first, "not_applied", GivenUp())
        await delivered(queue, second, "applied")
        await queue.due()

    assert await counted_so_far(store.link) == one
    assert await recount_parked(store) == one.all
    assert await counted_so_far(store.link) == one


async def test_what_is_taken_while_it_is_counted_is_not_forgotten(store: FenceStore, raw: Any) -> None:
    """Whether or not it was seen: rather too much is counted, until the next time."""
    before = await counted_so_far(store.link)
    await parked(store, replace(mail("one"), principal="ada"))
    after = await counted_so_far(store.link)

    assert await put_right(store.link, before, before) == after.all
    assert await counted_so_far(store.link) == after
    assert await put_right(store.link, after, before) == 0
    assert not raw.exists(PARKED_BY)


async def test_what_came_too_late_leaves_room_for_what_is_smaller(store: FenceStore) -> None:
    """Its own room is kept until all is counted anew; what fits beside it is taken at once."""
    store.parked_bytes = 400_000
    store.answers_within_s = -60.0
    for write in mails(3, "ada"):
        with pytest.raises(StoreUnavailable):
            await store.park(write, replace(REQUEST, body=BODY))
    store.answers_within_s = 60.0

    assert isinstance(await store.park(mails(4, "ada")[-1], replace(REQUEST, body=BODY)), IntentRecord)
    assert await recount_parked(store) < 2 * SIZE + len(BODY)
