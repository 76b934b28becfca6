"""Queues: in order, one deliverer at a time, nothing lost and nothing sent twice."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.delivery import Again, Conclusion, Dropped, GivenUp
from gateway.core.intent import IntentId, KeptAnswer
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted, Waiting
from gateway.store.deliveries import leave_hints
from gateway.store.fence import FenceStore
from gateway.store.intents import pause, resume
from gateway.store.keys import HINTS, PARKED_BYTES, shard_of
from gateway.store.parking import recount_parked, request_of, retry
from tests.store.fences import (
    ANSWER,
    RESOURCE,
    admitted,
    ask,
    bare,
    name_of,
    opened,
    resolved,
    state_of,
)
from tests.store.overdue import make_overdue
from tests.store.parked import (
    REQUEST,
    as_kept,
    begin,
    begun,
    delivered,
    delivering,
    id_of,
    mail,
    make_due,
    make_older,
    parked,
    queued,
    refused,
    reword,
    taken,
)

ONE, TWO = mail("one"), mail("two")


async def test_what_is_queued_is_kept_whole(store: FenceStore) -> None:
    """Record and request are there before anybody is told that it was taken."""
    record = await parked(store, ONE)

    assert (record.state, record.attempts, record.epoch, record.holder) == ("queued", 0, 42, "A")
    assert record.parking is not None and (record.parking.failures, record.parking.approval) == (0, None)
    assert await request_of(store, record.id) == REQUEST


async def test_a_repeat_finds_what_is_queued(store: FenceStore, raw: Any) -> None:
    """It takes no second place."""
    first = await parked(store, ONE)
    second = await parked(store, ONE)

    assert second == first
    assert await queued(store, raw) == [first.id]


async def test_another_request_under_the_key_is_refused(store: FenceStore) -> None:
    """As for any intent."""
    await parked(store, ONE)

    assert await refused(store, mail("one", says=b"another")) == "intent-mismatch"


async def test_what_nobody_knows_of_a_key_is_not_queued_under_it(store: FenceStore, raw: Any) -> None:
    """Its rule sent at once when it was tried, and queues by now."""
    at_once = replace(ONE, rule=replace(ONE.rule, parks=None))
    await store.settle(await admitted(store, at_once), "unknown", "no answer", None)

    assert await refused(store, ONE) == "outcome-unknown"
    assert await queued(store, raw) == []


async def test_a_queue_is_emptied_in_the_order_of_arrival(store: FenceStore, raw: Any) -> None:
    """The head is the only one that can be taken, and the next one is due at once when it has ended."""
    await parked(store, ONE)
    await parked(store, TWO)
    async with delivering(store) as queue:
        assert await queue.due() == [RESOURCE]
        first = await delivered(queue, ONE, "applied", kept=ANSWER)
        second = await delivered(queue, TWO, "applied")

        assert [first.record.id, second.record.id] == [id_of(ONE), id_of(TWO)]
        assert first.request == REQUEST
        assert await queue.take(RESOURCE) is None
        assert await queue.due() == []
    assert await state_of(store, id_of(ONE)) == await state_of(store, id_of(TWO)) == "applied"
    assert await refused(store, ONE) == "replayed"


async def test_one_deliverer_has_the_head_at_a_time(store: FenceStore, store_url: str, raw: Any) -> None:
    """A second one finds nothing; once the first has been silent for long, what it took comes back."""
    await parked(store, ONE)
    async with delivering(store) as queue, opened(store_url) as other, delivering(other) as rival:
        await taken(queue)
        assert await rival.take(RESOURCE) is None

        make_due(raw)
        await taken(rival)

        assert isinstance(await begin(rival, ONE), Admitted)
        assert name_of(await begin(queue, ONE)) == "intent-in-progress"


async def test_of_many_who_deliver_one_gets_the_ticket(store: FenceStore) -> None:
    """However many have taken it."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        replies = await asyncio.gather(*(begin(queue, ONE) for _ in range(20)))

        assert sorted(map(name_of, replies)) == ["Admitted"] + 19 * ["intent-in-progress"]


async def test_a_ticket_whose_reply_was_lost_is_found_again(store: FenceStore) -> None:
    """The script knows its own request."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        ticket = queue.new_ticket(RESOURCE)
        one = await as_kept(store, ONE)
        replies = [await queue.admit(one, ticket, ttl_s=30, queued=False, behind=0) for _ in range(2)]

        assert replies[0] == replies[1] and isinstance(replies[0], Admitted)


async def test_what_is_proved_not_applied_is_queued_again(store: FenceStore, raw: Any) -> None:
    """At the head, and due when the deliverer says; what is behind it waits."""
    await parked(store, ONE)
    await parked(store, TWO)
    async with delivering(store) as queue:
        await delivered(queue, ONE, "not_applied", Again(60.0))

        assert await queued(store, raw) == [id_of(ONE), id_of(TWO)]
        assert await queue.take(RESOURCE) is None
        make_due(raw)
        again = await taken(queue)
        assert (again.record.id, again.record.attempts, again.record.reason) == (id_of(ONE), 1, "it was not_applied")
        assert again.record.parking is not None and again.record.parking.failures == 1
        await begun(queue, ONE)


async def test_a_settling_that_is_repeated_counts_once(store: FenceStore) -> None:
    """The first reply was lost."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        one = await taken(queue)
        attempt = await begun(queue, ONE)
        conclusion = Conclusion("not_applied", "away", None, Again(5.0))
        settled = [await queue.end(one, attempt, conclusion) for _ in range(2)]

    assert settled[0] == settled[1] and settled[0].outcome == "not_applied"
    record = await store.recall(id_of(ONE))
    assert record is not None and record.parking is not None
    assert (record.state, record.parking.failures) == ("queued", 1)


async def test_what_is_given_up_leaves_the_queue_and_its_key(store: FenceStore, raw: Any) -> None:
    """It has failed; the next one is due, and a repeat queues it anew."""
    await parked(store, ONE)
    await parked(store, TWO)
    async with delivering(store) as queue:
        await delivered(queue, ONE, "not_applied", GivenUp())

        assert await state_of(store, id_of(ONE)) == "failed"
        assert (await taken(queue)).record.id == id_of(TWO)
    assert (await parked(store, ONE)).state == "queued"
    assert await queued(store, raw) == [id_of(TWO), id_of(ONE)]


async def test_what_nobody_knows_leaves_the_queue_and_is_never_repeated(store: FenceStore, raw: Any) -> None:
    """It is unknown as any other write, and the next one goes on."""
    await parked(store, ONE)
    await parked(store, TWO)
    async with delivering(store) as queue:
        await delivered(queue, ONE, "unknown")

        assert await refused(store, ONE) == "outcome-unknown"
        assert await queued(store, raw) == [id_of(TWO)]
        await resolved(store, "applied", IntentId(id_of(ONE)))
    assert await refused(store, ONE) == "replayed"


async def test_a_deliverer_that_died_in_the_middle_leaves_an_unknown_write(store: FenceStore, raw: Any) -> None:
    """Its ticket is swept; nobody sends that one again, and the queue goes on."""
    await parked(store, ONE)
    await parked(store, TWO)
    async with delivering(store) as queue:
        await taken(queue)
        attempt = await begun(queue, ONE)
        make_due(raw)
        assert await queue.take(RESOURCE) is None

        make_overdue(raw, RESOURCE, attempt.ticket)
        await store.sweep(RESOURCE, attempt.ticket)

        assert await state_of(store, id_of(ONE)) == "unknown"
        assert (await taken(queue)).record.id == id_of(TWO)


async def test_late_evidence_ends_what_was_queued_again(store: FenceStore, raw: Any) -> None:
    """It had happened after all: it must not be sent a second time, and somebody has to know."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        one = await taken(queue)
        attempt = await begun(queue, ONE)
        await queue.end(one, attempt, Conclusion("not_applied", "refused", None, Again(0.0)))

        settled = await queue.end(one, attempt, Conclusion("applied", "answered 200, late", ANSWER, Again(0.0)))

        assert settled.incident == "late-write"
        assert await state_of(store, id_of(ONE)) == "applied"
        assert await queue.take(RESOURCE) is None and await queued(store, raw) == []


async def test_an_admission_without_an_answer_is_due_again(store: FenceStore, raw: Any) -> None:
    """Nothing was sent under its ticket."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        await taken(queue)
        ticket = queue.new_ticket(RESOURCE)
        await queue.admit(await as_kept(store, ONE), ticket, ttl_s=30, queued=False, behind=0)

        await queue.abandon(ONE, ticket)

        assert await state_of(store, id_of(ONE)) == "queued"
        make_due(raw)
        await delivered(queue, ONE, "applied")


async def test_a_refusal_is_kept_until_it_is_sent_again(store: FenceStore) -> None:
    """Who made it learns why; and what is sent again has no answer yet."""
    await parked(store, ONE)
    why = KeptAnswer(422, (), b"no such box")
    async with delivering(store) as queue:
        await delivered(queue, ONE, "not_applied", GivenUp(), why)
        failed = await store.recall(id_of(ONE))
        assert failed is not None and failed.answer == why

        again = await retry(store, failed, note="a box was made", by="operator")

        assert isinstance(again, IntentRecord) and again.answer is None


async def test_a_delivery_waits_for_older_writes_in_flight(store: FenceStore) -> None:
    """G3 holds for it as for any write."""
    older = await admitted(store, bare(41))
    await parked(store, ONE)
    async with delivering(store) as queue:
        assert isinstance(await begin(queue, ONE), Waiting)
        await store.settle(older, "applied", "answered 200", None)
        assert isinstance(await begin(queue, ONE, waited=True), Admitted)


async def test_a_delivery_waits_for_another_write_of_its_epoch(store: FenceStore) -> None:
    """Where the rule is serial; the write that came later waits for it then."""
    busy = await admitted(store, bare(42))
    await parked(store, ONE)
    async with delivering(store) as queue:
        assert isinstance(await begin(queue, ONE), Waiting)
        await store.settle(busy, "applied", "answered 200", None)
        await begun(queue, ONE, waited=True)
        assert isinstance(await ask(store, bare(42)), Waiting)


async def test_what_is_not_delivered_in_its_time_has_failed(store: FenceStore, raw: Any) -> None:
    """The rule's `intent.retain` is the longest that anybody waits for it."""
    await parked(store, ONE)
    reword(raw, ONE, "since", 1000)
    async with delivering(store) as queue:
        dropped = await queue.take(RESOURCE)

    assert isinstance(dropped, Dropped) and dropped.record.state == "failed"


async def test_what_no_policy_takes_fails_and_makes_room(store: FenceStore, raw: Any) -> None:
    """With the reason; its request is kept for whoever sends it again, and its key is free."""
    await parked(store, ONE)
    await parked(store, TWO)
    make_older(raw, id_of(ONE), 60)
    async with delivering(store) as queue:
        assert await queue.fail(await taken(queue), "no rule takes it")

        record = await store.recall(id_of(ONE))
        assert record is not None and (record.state, record.reason) == ("failed", "no rule takes it")
        assert await request_of(store, id_of(ONE)) == REQUEST
        assert (await taken(queue)).record.id == id_of(TWO)
    assert (await parked(store, ONE)).state == "queued"


async def test_what_was_queued_just_now_does_not_fail_yet(store: FenceStore, raw: Any) -> None:
    """A gateway that has read newer policies may have taken it: it is due again, for that one."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        one = await taken(queue)
        assert not await queue.fail(one, "no rule takes it")

        assert await state_of(store, id_of(ONE)) == "queued" and await queue.take(RESOURCE) is None
        make_due(raw)
        assert (await taken(queue)).record.id == id_of(ONE)


async def test_a_hint_that_is_lost_loses_nothing(store: FenceStore, raw: Any) -> None:
    """Whoever sweeps looks into every shard now and then."""
    await parked(store, ONE)
    raw.delete(HINTS)
    async with delivering(store) as queue:
        assert await queue.due() == []
        await leave_hints(store)
        assert await queue.due() == [RESOURCE]


@pytest.mark.parametrize("keep", [False, True], ids=["without its record", "with another state"])
async def test_a_queue_that_a_failover_brought_back_lets_go_of_what_has_ended(
    keep: bool, store: FenceStore, raw: Any
) -> None:
    """Its head is nothing that can be sent; what is behind it is."""
    await parked(store, ONE)
    await parked(store, TWO)
    async with delivering(store) as queue:
        if keep:
            await delivered(queue, ONE, "applied")
            raw.lpush(f"fg:{{{shard_of(RESOURCE)}}}:q:{RESOURCE}", id_of(ONE))
        else:
            raw.delete(f"fg:{{{shard_of(RESOURCE)}}}:i:{id_of(ONE)}")

        assert await queue.take(RESOURCE) is None
        assert (await taken(queue)).record.id == id_of(TWO)


async def test_what_waits_has_bounds_and_is_counted(store: FenceStore, raw: Any) -> None:
    """Beyond them a write is refused before anybody relies on it; what was delivered makes room."""
    record = await parked(store, ONE)
    used = int(raw.get(PARKED_BYTES))
    assert used == await recount_parked(store) > 1000

    store.parked_bytes = used + 100
    assert await refused(store, TWO) == "no-room"
    assert await state_of(store, id_of(TWO)) is None
    async with delivering(store) as queue:
        await delivered(queue, ONE, "applied")
        assert await queue.due() == []
        assert int(raw.get(PARKED_BYTES)) == 0
    assert record.id and await recount_parked(store) == 0
    assert (await parked(store, TWO)).state == "queued"


async def test_a_pause_holds_deliveries(store: FenceStore) -> None:
    """Of its resource; a wider one is judged before."""
    await parked(store, ONE)
    paused = await pause(store, RESOURCE, id="p", reason="stop", by="operator")
    async with delivering(store) as queue:
        await taken(queue)
        assert name_of(await begin(queue, ONE)) == "paused"
        await resume(store, paused)
        assert isinstance(await begin(queue, ONE), Admitted)


async def test_nothing_is_left_behind(store: FenceStore, raw: Any) -> None:
    """Of a queue that is empty only the records are there, the lists of states, and the trail."""
    await parked(store, ONE)
    async with delivering(store) as queue:
        await queue.due()
        await delivered(queue, ONE, "applied")
        await queue.take(RESOURCE)
        await queue.due()
        await queue.due()

    prefix = f"fg:{{{shard_of(RESOURCE)}}}:"
    left = {key.decode().removeprefix(prefix) for key in raw.keys(f"{prefix}*")}
    assert left == {f"f:{RESOURCE}", f"i:{id_of(ONE)}", "s:applied", "a", "n"}
