"""Approvals: used once, for one request, by somebody else, while no newer epoch rules."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import GivenUp
from gateway.core.intent import IntentId
from gateway.core.parking import Approval
from gateway.core.record import IntentRecord
from gateway.store.fence import FenceStore
from gateway.store.keys import PARKED_BYTES, approvals, shard_of
from gateway.store.parking import Decide, decide, expire, recount_parked, request_of
from gateway.store.sweep import take_turn
from tests.store.fences import RESOURCE, admitted, bare, name_of, state_of
from tests.store.parked import (
    APPROVED,
    REQUEST,
    delivered,
    delivering,
    id_of,
    mail,
    make_expired,
    parked,
    queued,
    refused,
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


async def test_what_is_kept_is_counted_anew(store: FenceStore, raw: Any) -> None:
    """What was denied is off, what failed and waits for its operator is still on."""
    await parked(store, ONE)
    before = await recount_parked(store)
    await decided(store, NO)

    assert before > 0 and await recount_parked(store) == 0 == int(raw.get(PARKED_BYTES))
