"""The outbox: what the scripts put in with the step that it tells of, and one gateway at a time takes out."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.intent import IntentId
from gateway.core.kept_request import KeptRequest
from gateway.core.rule import Rule
from gateway.core.webhook import Again, Dead, Received
from gateway.store.fence import FenceStore
from gateway.store.keys import notification, notifications, shard_of, shards
from gateway.store.outbox import Outbox
from gateway.store.prune import Retention, prune
from gateway.store.views.audit_views import Sought, events
from tests.store.fences import (
    ANSWER,
    HELD,
    INTENT,
    RESOURCE,
    admitted,
    bare,
    ended,
    keyed,
    opened,
    resolved,
    settled,
)
from tests.store.overdue import make_overdue
from tests.telling import TOLD, UPSTREAM, WRITE, attempted, due_of, fields_of, make_due, outbox_of, telling, unknown

WAITING = notifications(shard_of(RESOURCE), "waiting")
DEAD = notifications(shard_of(RESOURCE), "dead")


async def test_an_unknown_write_is_told(store: FenceStore, raw: Any) -> None:
    """With everything that a person needs to find it; its id is that of the step in the audit trail."""
    await unknown(store)

    (id,) = outbox_of(raw)
    told = fields_of(raw, id)
    newest = (await events(store, Sought(intent=INTENT), None)).items[0]
    assert id == f"{shard_of(RESOURCE)}{newest.at_ms}-{id.rpartition('-')[2]}"
    assert told.pop("at") == str(newest.at_ms)
    assert told == {
        "event": "unknown",
        "incident": "",
        "intent": INTENT,
        "state": "unknown",
        "upstream": "reports",
        "rule": "replace",
        "resource": RESOURCE,
        "epoch": "42",
        "holder": "A",
        "reason": "no answer within 30 s",
        "attempts": "0",
        "failure": "",
        "digest": "",
    }


@pytest.mark.parametrize("keyless", [False, True], ids=["keyed", "without a key"])
async def test_a_dead_gateways_write_is_told(store: FenceStore, raw: Any, *, keyless: bool) -> None:
    """Whoever sweeps it needs no policy: the ticket says what people are told of."""
    one = await admitted(store, bare(42, of=TOLD) if keyless else WRITE)
    make_overdue(raw, RESOURCE, one.ticket)
    await store.sweep(RESOURCE, one.ticket)

    (id,) = outbox_of(raw)
    assert fields_of(raw, id)["intent"] == (one.ticket if keyless else INTENT)
    assert fields_of(raw, id)["reason"] == "its gateway fell silent"


async def test_an_effect_that_came_twice_is_told(store: FenceStore, raw: Any) -> None:
    """As an incident of that kind, after the unknown outcome that it was before."""
    await unknown(store)
    await resolved(store, "duplicated")

    told = [fields_of(raw, id) for id in outbox_of(raw)]
    assert [(one["event"], one["incident"], one["state"]) for one in told] == [
        ("unknown", "", "unknown"),
        ("incident", "duplicate-effect", "applied"),
    ]


async def test_evidence_against_a_resolution_is_told_once(store: FenceStore, raw: Any) -> None:
    """However often the late answer is settled."""
    one = await ended(store, WRITE, "unknown")
    await resolved(store, "not_applied")
    for _ in range(2):
        await settled(store, one, "applied", ANSWER)

    told = [fields_of(raw, id) for id in outbox_of(raw)]
    assert [(one["event"], one["incident"]) for one in told] == [("unknown", ""), ("incident", "late-write")]


async def test_a_write_that_waits_for_an_approval_is_told(store: FenceStore, raw: Any) -> None:
    """Once: whoever repeats it finds it waiting."""
    asks = replace(TOLD, approval_s=3600.0, parks="awaiting_approval")
    kept = KeptRequest("POST", "/mails", (), b"{}")
    for _ in range(2):
        await store.park(keyed(bare(42, of=asks)), kept)

    (told,) = [fields_of(raw, id) for id in outbox_of(raw)]
    assert (told["event"], told["state"], told["intent"]) == ("awaiting_approval", "awaiting_approval", INTENT)


@pytest.mark.parametrize(
    ("of", "count"),
    [
        pytest.param(HELD, 0, id="no notify at all"),
        pytest.param(telling(HELD, "incident"), 0, id="another event"),
        pytest.param(telling(HELD, "unknown"), 1, id="this event"),
    ],
)
async def test_nobody_is_told_of_what_the_policy_does_not_name(
    store: FenceStore, raw: Any, of: Rule, count: int
) -> None:
    """An upstream without `notify` leaves nothing in the store."""
    await unknown(store, keyed(bare(42, of=of)))

    assert len(outbox_of(raw)) == len(raw.keys("fg:*:m:*")) == count


@pytest.mark.parametrize("outcome", ["applied", "not_applied"])
async def test_what_is_known_is_not_told(store: FenceStore, raw: Any, outcome: Any) -> None:
    """Most writes leave nothing behind here."""
    await ended(store, WRITE, outcome)

    assert outbox_of(raw) == []


async def test_only_what_is_of_these_upstreams_is_due(store: FenceStore, raw: Any) -> None:
    """A gateway with other policies leaves it to those that know where it goes; what no gateway wrote, to all."""
    await unknown(store)
    (id,) = outbox_of(raw)
    raw.zadd(WAITING, {b"\xff nonsense": 1, "000other-0 reports": 1})

    outbox = Outbox(store)
    assert await outbox.due({"mail"}) == []
    assert [due.id for due in await outbox.due({"mail", UPSTREAM})] == [id]


async def test_one_gateway_takes_it(store_url: str, raw: Any) -> None:
    """Of two that look at the same time, and as long as the first one may be at it."""
    async with opened(store_url) as store, opened(store_url) as other:
        await unknown(store)
        outboxes = Outbox(store), Outbox(other)
        (due,) = await due_of(outboxes[0])

        claims = await asyncio.gather(*(outbox.claim(due) for outbox in outboxes))

        taken = [claim for claim in claims if claim is not None]
        assert [claim.attempt for claim in taken] == [1]
        assert await outboxes[1].due({UPSTREAM}) == []


async def test_a_dead_gateways_attempt_is_made_by_another(store: FenceStore, raw: Any) -> None:
    """Under the same id, as the next attempt."""
    await unknown(store)
    (due,) = await due_of(Outbox(store))
    await Outbox(store).claim(due)
    make_due(raw, due.id)

    (again,) = await due_of(Outbox(store))
    claimed = await Outbox(store).claim(again)

    assert claimed is not None
    assert (claimed.notification.id, claimed.attempt) == (due.id, 2)


async def test_a_claim_whose_reply_was_lost_is_the_same_claim(store: FenceStore, raw: Any) -> None:
    """The link repeats what got no answer; the notification must not wait for nobody."""
    await unknown(store)
    outbox = Outbox(store)
    (due,) = await due_of(outbox)
    first = await outbox.claim(due)
    # It counts its calls anew: this is the same one.
    outbox = Outbox(store)

    second = await outbox.claim(due)

    assert first is not None and second is not None
    assert (first.attempt, second.attempt) == (1, 1)


async def test_what_was_received_is_gone(store: FenceStore, raw: Any) -> None:
    """Nothing of it is left."""
    await unknown(store)
    await attempted(store, Received())

    assert (outbox_of(raw), raw.keys("fg:*:m:*")) == ([], [])


async def test_what_failed_waits(store: FenceStore, raw: Any) -> None:
    """For as long as the schedule says, with the reason."""
    await unknown(store)
    id = await attempted(store, Again(300.0, "it answered 500"))

    assert fields_of(raw, id)["failure"] == "it answered 500"
    assert 295_000 < raw.zscore(WAITING, f"{id} {UPSTREAM}") - store.expected_ms() <= 300_000


async def test_the_last_failure_makes_it_a_dead_letter(store: FenceStore, raw: Any) -> None:
    """It is kept for a month, and not sent any more."""
    await unknown(store)
    id = await attempted(store, Dead("it answered 410"))

    assert (outbox_of(raw), outbox_of(raw, "dead")) == ([], [id])
    assert 2_591_000 < raw.ttl(notification(id[:3], id)) <= 2_592_000


async def test_a_late_report_does_not_end_a_newer_attempt(store: FenceStore, raw: Any) -> None:
    """Unless the receiver has it: then it is over for all."""
    await unknown(store)
    outbox = Outbox(store)
    (due,) = await due_of(outbox)
    first = await outbox.claim(due)
    make_due(raw, due.id)
    second = await Outbox(store).claim(due)
    assert first is not None and second is not None

    await outbox.report(first, Dead("no answer within 15 s"))
    assert outbox_of(raw) == [due.id]
    await outbox.report(first, Received())
    assert outbox_of(raw) == []
    await outbox.report(second, Again(5.0, "it answered 500"))
    assert raw.keys("fg:*:m:*") == []


async def test_a_shards_dead_letters_are_bounded(store: FenceStore, raw: Any) -> None:
    """The oldest make room, with all that was kept of them."""
    old = {f"{shard_of(RESOURCE)}{number}-0": number for number in range(1000)}
    raw.zadd(DEAD, old)
    raw.hset(notification(shard_of(RESOURCE), next(iter(old))), "event", "unknown")
    await unknown(store)
    id = await attempted(store, Dead("it answered 410"))

    dead = outbox_of(raw, "dead")
    assert (len(dead), dead[-1]) == (1000, id)
    assert raw.keys("fg:*:m:*") == [notification(id[:3], id).encode()]


async def test_pruning_ends_what_nobody_sends(store: FenceStore, raw: Any) -> None:
    """A week after its time it is a dead letter; what is dead for a month leaves the list; the others stay."""
    ids = [await _told(store, raw, f"k-{number:<20}") for number in range(2)]
    week_ago, month_ago = store.expected_ms() - 604_900_000, store.expected_ms() - 2_592_100_000
    raw.zadd(WAITING, {f"{ids[0]} {UPSTREAM}": week_ago, f"{shard_of(RESOURCE)}1-0 gone": week_ago})
    raw.zadd(DEAD, {f"{shard_of(RESOURCE)}2-0": month_ago})

    await prune(store, Retention(604_800.0, 500_000))

    assert (outbox_of(raw), outbox_of(raw, "dead")) == ([ids[1]], [ids[0]])
    assert "no gateway sent it" in fields_of(raw, ids[0])["failure"]


async def _told(store: FenceStore, raw: Any, digest: str) -> str:
    before = set(outbox_of(raw))
    await unknown(store, keyed(bare(42, of=TOLD), digest=f"{digest:<22}"))
    (id,) = set(outbox_of(raw)) - before
    return id


async def _settle_unknown(store: FenceStore, raw: Any) -> object:
    return await settled(store, await admitted(store, WRITE), "unknown")


async def _sweep(store: FenceStore, raw: Any) -> object:
    one = await admitted(store, WRITE)
    make_overdue(raw, RESOURCE, one.ticket)
    return await store.sweep(RESOURCE, one.ticket)


@pytest.mark.parametrize("step", [_settle_unknown, _sweep], ids=["settle", "sweep"])
async def test_a_list_of_the_wrong_type_leaves_no_step_half_done(store: FenceStore, raw: Any, step: Any) -> None:
    """The step fails whole: nothing happens of which nobody is told."""
    raw.set(WAITING, "no list")

    with pytest.raises(StoreUnavailable, match="WRONGTYPE"):
        await step(store, raw)
    assert await store.recall(IntentId(INTENT)) is not None
    assert raw.zcard(f"fg:{{{shard_of(RESOURCE)}}}:s:unknown") == 0
    assert len((await events(store, Sought(intent=INTENT), None)).items) == 1


async def test_all_shards_are_looked_at(store: FenceStore, raw: Any) -> None:
    """The one that waited longest comes first."""
    for at, shard in enumerate(reversed(shards()[:3])):
        raw.zadd(notifications(shard, "waiting"), {f"{shard}{at}-0 {UPSTREAM}": at})

    assert [due.id[:3] for due in await Outbox(store).due({UPSTREAM})] == ["002", "001", "000"]


def _crowd(raw: Any, count: int, upstream: str = "gone") -> str:
    """So many notifications of another upstream, all older than the one of this resource's own; returns its shard."""
    shard = shard_of(RESOURCE)
    raw.zadd(notifications(shard, "waiting"), {f"{shard}{number}-0 {upstream}": number for number in range(count)})
    return shard


async def test_what_nobody_sends_hides_nothing(store: FenceStore, raw: Any) -> None:
    """Of an upstream that has no `notify` any more; nothing moves it before it is pruned."""
    _crowd(raw, 350)
    await unknown(store)

    (due,) = await due_of(Outbox(store))
    assert due.upstream == UPSTREAM


async def test_a_look_goes_on_where_the_last_one_stopped(
    store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that none costs more than it may, and all is seen at some time: again and again, whoever comes meanwhile."""
    monkeypatch.setattr("gateway.store.outbox._PAGES", 1)
    shard = _crowd(raw, 350)
    raw.zadd(notifications(shard, "waiting"), {f"{shard}999-0 {UPSTREAM}": 999})
    raw.zadd(notifications("000", "waiting"), {f"000{number}-0 gone": number for number in range(250)})
    outbox = Outbox(store)

    found = [len(await outbox.due({UPSTREAM})) for _ in range(15)]

    assert set(found) == {0, 1}
    assert 2 <= sum(found) <= 3


async def test_a_shard_that_cannot_be_read_hides_nothing(store: FenceStore, raw: Any) -> None:
    """The others' notifications are found all the same."""
    raw.set(notifications("000" if shard_of(RESOURCE) != "000" else "001", "waiting"), "no list")
    await unknown(store)

    assert len(await due_of(Outbox(store))) == 1
