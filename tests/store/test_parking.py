"""Approvals: used once, for one request, by somebody else, while no newer epoch rules; and what failed, sent again."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import GivenUp
from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.parking import Approval
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted
from gateway.store.fence import FenceStore
from gateway.store.keys import PARKED_BYTES, approvals, kept_request, shard_of
from gateway.store.parking import Decide, decide, expire, recount_parked, request_of, retry
from gateway.store.resets import reset
from gateway.store.sweep import take_turn
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
    make_expired,
    make_older,
    parked,
    queued,
    refused,
    taken,
)

ONE = mail("one", of=APPROVED)
YES = Decide("approve", "anna", "anna", "looks right")
NO = Decide("deny", "anna", "anna", "not this month")


async def decided(store: FenceStore, verdict: Decide) -> IntentRecord | Refused:
    record = await store.recall(id_of(ONE))
    assert record is not None and record.parking is not None
    return await decide(store, record, replace(verdict, digest=verdict.digest or record.parking.digest))


async def test_what_wants_an_approval_waits_with_its_request(store: FenceStore, raw: Any) -> None:
    """It is in no queue, and says until when it waits, and how much is at stake."""
    record = await parked(store, ONE)

    assert record.state == "awaiting_approval" and record.parking is not None
    approval = record.parking.approval
    assert approval == Approval("awaited", record.created_at_ms + 600_000)
    assert record.parking.risk == "high" and len(record.parking.digest) == 43
    assert await request_of(store, record.id) == REQUEST
    assert await queued(store, raw) == []


async def test_what_is_approved_is_queued_and_sent(store: FenceStore, raw: Any) -> None:
    """Once; and the record says who approved it."""
    await parked(store, ONE)
    record = await decided(store, YES)

    assert isinstance(record, IntentRecord) and record.parking is not None and record.parking.approval is not None
    assert (record.state, record.parking.approval.by, record.reason) == ("queued", "anna", "looks right")
    assert raw.zcard(approvals(shard_of(RESOURCE))) == 0
    async with delivering(store) as queue:
        assert await queue.due() == [RESOURCE]
        assert (await delivered(queue, ONE, "applied")).request == REQUEST
    assert name_of(await decided(store, YES)) == "wrong-state"


async def test_deliverers_are_told_of_an_approval_once(store: FenceStore) -> None:
    """Each of them, to see to it first; of a denial nobody need know."""
    await parked(store, ONE)
    async with delivering(store) as first, delivering(store) as second:
        assert await first.approved() == []
        await decided(store, YES)
        assert [await first.approved(), await first.approved(), await second.approved()] == [[RESOURCE], [], [RESOURCE]]
        await delivered(first, ONE, "applied")

        other = await parked(store, mail("two", of=APPROVED))
        assert other.parking is not None
        await decide(store, other, replace(NO, digest=other.parking.digest))
        assert await first.approved() == []


async def test_what_is_denied_is_never_sent(store: FenceStore, raw: Any) -> None:
    """Whoever repeats it is told so; its request goes."""
    await parked(store, ONE)
    record = await decided(store, NO)

    assert isinstance(record, IntentRecord) and record.state == "denied"
    assert await refused(store, ONE) == "approval-denied"
    assert await queued(store, raw) == [] and await request_of(store, id_of(ONE)) is None
    assert raw.pttl(f"fg:{{{shard_of(RESOURCE)}}}:i:{id_of(ONE)}") > 0
    assert name_of(await decided(store, YES)) == "wrong-state"


async def test_of_two_who_decide_at_once_one_wins(store: FenceStore) -> None:
    """The other is told what has become of it."""
    await parked(store, ONE)
    other = Decide("deny", "ben", "ben", "no")
    replies = await asyncio.gather(decided(store, YES), decided(store, other))

    assert sorted(map(name_of, replies)) == ["IntentRecord", "wrong-state"]


async def test_a_decision_that_is_repeated_is_answered_alike(store: FenceStore) -> None:
    """The first answer was lost."""
    await parked(store, ONE)
    first, second = await decided(store, YES), await decided(store, YES)

    assert first == second and isinstance(first, IntentRecord)


@pytest.mark.parametrize("verdict", [YES, NO], ids=["approve", "deny"])
async def test_nobody_decides_about_their_own_request(verdict: Decide, store: FenceStore) -> None:
    """The principal that made it is in the record."""
    await parked(store, replace(ONE, principal="anna"))

    assert name_of(await decided(store, verdict)) == "forbidden"
    assert isinstance(await decided(store, replace(verdict, by="ben", principal="ben")), IntentRecord)


async def test_an_operator_is_nobodys_principal(store: FenceStore) -> None:
    """Without principals the approver differs by definition."""
    await parked(store, ONE)

    assert isinstance(await decided(store, Decide("approve", "operator", None, "ok")), IntentRecord)


async def test_an_approval_is_for_the_request_that_was_looked_at(store: FenceStore) -> None:
    """Another digest is refused, and nothing is sent; its own is taken."""
    record = await parked(store, ONE)
    assert record.parking is not None
    other = Decide("approve", "anna", "anna", "ok", "another-digest")

    assert name_of(await decided(store, other)) == "wrong-state"
    assert await state_of(store, id_of(ONE)) == "awaiting_approval"
    same = Decide("approve", "anna", "anna", "ok", record.parking.digest)
    assert isinstance(await decided(store, same), IntentRecord)


async def test_an_approval_is_for_no_request_that_has_taken_the_place_of_the_one_looked_at(
    store: FenceStore, raw: Any
) -> None:
    """An expired intent leaves its key free, and another request has its id: only its own digest approves it."""
    first = await parked(store, ONE)
    assert first.parking is not None
    make_expired(raw, ONE)
    await expire(store, IntentId(id_of(ONE)))
    evil = await parked(store, mail("one", of=APPROVED, says=b"two"), replace(REQUEST, body=b'{"to": "evil"}'))
    assert evil.id == first.id and evil.parking is not None

    looked_at = Decide("approve", "anna", "anna", "ok", first.parking.digest)
    assert name_of(await decide(store, evil, looked_at)) == "wrong-state"
    assert name_of(await decide(store, evil, replace(looked_at, digest=None))) == "wrong-state"
    assert await state_of(store, id_of(ONE)) == "awaiting_approval"
    assert isinstance(await decide(store, evil, replace(looked_at, digest=evil.parking.digest)), IntentRecord)
    assert name_of(await decide(store, evil, looked_at)) == "wrong-state"


async def test_an_approval_that_is_executed_late_is_used_no_second_time(store: FenceStore) -> None:
    """The request failed and was repeated: it says the same, and waits for an approval of its own."""
    found = await parked(store, ONE)
    assert found.parking is not None
    yes = Decide("approve", "anna", "anna", "ok", found.parking.digest)
    assert isinstance(await decide(store, found, yes), IntentRecord)
    async with delivering(store) as queue:
        await delivered(queue, ONE, "not_applied", GivenUp())
    again = await parked(store, ONE)
    assert again.parking is not None and again.parking.digest == found.parking.digest

    assert name_of(await decide(store, found, replace(yes, note="late"))) == "wrong-state"
    assert await state_of(store, id_of(ONE)) == "awaiting_approval"
    assert isinstance(await decide(store, again, yes), IntentRecord)


async def test_who_denies_may_name_no_request(store: FenceStore) -> None:
    """Whichever it is, it is not sent."""
    record = await parked(store, ONE)

    denied = [await decide(store, record, NO) for _ in range(2)]
    assert denied[0] == denied[1] and isinstance(denied[0], IntentRecord) and denied[0].state == "denied"


async def test_an_approval_after_a_takeover_supersedes(store: FenceStore, raw: Any) -> None:
    """Only the epoch counts, and a newer one rules: nothing is sent, the key is free."""
    await parked(store, ONE)
    await admitted(store, bare(43, "B"))

    reply = await decided(store, YES)

    assert isinstance(reply, Refused) and reply.facts.intent_state == "superseded"
    assert await queued(store, raw) == []
    assert (await parked(store, mail("one", 43, of=APPROVED, holder="B"))).state == "awaiting_approval"


async def test_a_successor_takes_over_what_waits_with_the_approval_given(store: FenceStore) -> None:
    """By repeating it: before the approval, and after it."""
    await parked(store, ONE)
    adopted = await parked(store, mail("one", 43, of=APPROVED, holder="B"))
    assert (adopted.epoch, adopted.state) == (43, "awaiting_approval")
    await decided(store, YES)
    newest = await parked(store, mail("one", 44, of=APPROVED, holder="C"))

    assert newest.parking is not None and newest.parking.approval is not None
    assert (newest.epoch, newest.holder, newest.state) == (44, "C", "queued")
    assert newest.parking.approval.verdict == "given"
    async with delivering(store) as queue:
        await delivered(queue, mail("one", 44, of=APPROVED, holder="C"), "applied")


async def test_what_nobody_approves_in_time_expires(store: FenceStore, raw: Any) -> None:
    """The sweeping turn finds it; afterwards nobody can approve it, and the key is free."""
    await parked(store, ONE)
    await expire(store, IntentId(id_of(ONE)))
    assert await state_of(store, id_of(ONE)) == "awaiting_approval"

    make_expired(raw, ONE)
    due = await take_turn(store)
    assert due is not None and due.approvals == (id_of(ONE),)
    await expire(store, due.approvals[0])

    assert await state_of(store, id_of(ONE)) == "expired"
    assert name_of(await decided(store, YES)) == "wrong-state"
    assert raw.zcard(approvals(shard_of(RESOURCE))) == 0
    assert (await parked(store, ONE)).state == "awaiting_approval"


async def test_an_approval_that_comes_too_late_is_refused(store: FenceStore, raw: Any) -> None:
    """Also where no sweeping turn has come by."""
    await parked(store, ONE)
    make_expired(raw, ONE)

    reply = await decided(store, YES)

    assert isinstance(reply, Refused) and reply.facts.intent_state == "expired"


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
    await parked(store, ONE)
    await decided(store, YES)
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
    await parked(store, ONE)
    await decided(store, YES)
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


async def test_what_is_kept_is_counted_anew(store: FenceStore, raw: Any) -> None:
    """What was denied is off, what failed and waits for its operator is still on."""
    await parked(store, ONE)
    before = await recount_parked(store)
    await decided(store, NO)

    assert before > 0 and await recount_parked(store) == 0 == int(raw.get(PARKED_BYTES))
