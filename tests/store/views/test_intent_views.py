"""What operators see of intents."""

from typing import Any

import pytest

from gateway.core.record import IntentRecord
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolve, resolve
from gateway.store.keys import in_state, shard_of
from gateway.store.views.intent_views import Flight, Listed, flight, in_flight, intents
from gateway.store.views.page import PAGE, BadCursor
from tests.intending import ANSWER, SEVEN, begun, ended, intended
from tests.store.overdue import make_overdue


async def test_each_intent_is_in_the_list_of_its_state(store: FenceStore) -> None:
    """With all that its record says."""
    unknown = await ended(store, intended("k-1"), "unknown")
    await ended(store, intended("k-2"), "applied", ANSWER)
    await ended(store, intended("k-3"), "not_applied")

    found = {state: [record.key for record in await _all(store, state)] for state in _states()}
    (record,) = await _all(store, "unknown")

    assert found == {"unknown": ["k-1"], "applied": ["k-2"], "not_applied": ["k-3"]}
    assert (record.id, record.state, record.rule, record.resource) == (unknown.intent, "unknown", "write", SEVEN)
    assert (record.tenant, record.target, record.attempts) == ("default", "PUT /reports/7", 1)
    assert (record.epoch, record.holder, record.reason) == (41, "agent-a", "no answer within 30 s")


async def test_a_write_without_a_key_is_listed_once_it_is_unknown(store: FenceStore) -> None:
    """Its id is the one that its caller was told; an applied one leaves nothing."""
    unknown = await ended(store, intended(None), "unknown")
    await ended(store, intended(None), "applied")

    (record,) = await _all(store, "unknown")

    assert (record.id, record.key, record.tenant) == (unknown.ticket, None, "")
    assert await _all(store, "applied") == []


async def test_an_intent_moves_from_list_to_list(store: FenceStore) -> None:
    """It is in one at a time."""
    unknown = await ended(store, intended("k-1"), "unknown")
    record = await store.recall(unknown.intent)
    assert record is not None

    await resolve(store, record, Resolve("applied", "operator", "found at the upstream", "operator"))

    assert await _all(store, "unknown") == []
    assert [(found.id, found.resolved_by) for found in await _all(store, "applied")] == [(unknown.intent, "operator")]


async def test_a_list_leaves_answers_out(store: FenceStore) -> None:
    """A hundred of them may be gigabytes; one intent is shown with its answer."""
    admitted = await ended(store, intended("k-1"), "applied", ANSWER)

    (listed,) = await _all(store, "applied")
    alone = await store.recall(admitted.intent)

    assert alone is not None
    assert (listed.answer, alone.answer) == (None, ANSWER)


async def test_intents_are_listed_newest_first(store: FenceStore, raw: Any) -> None:
    """Page after page, over all shards, those that ended in one millisecond included, each once."""
    made = [await begun(store, intended(None)) for _ in range(PAGE + 20)]
    for one in made:
        make_overdue(raw, SEVEN, one.ticket)
    await store.sweep(SEVEN, made[0].ticket)
    later = [
        await ended(store, intended(None, ResourceKey(f"report/{number}")), "unknown") for number in range(PAGE + 5)
    ]

    listed = await _all(store, "unknown")

    assert sorted(record.id for record in listed) == sorted(one.intent for one in (*made, *later))
    instants = [record.updated_at_ms for record in listed]
    assert instants == sorted(instants, reverse=True)


async def test_an_entry_whose_record_has_gone_is_passed_over(store: FenceStore, raw: Any) -> None:
    """Its time was over and it is not pruned yet; what is behind it is shown."""
    gone = [await ended(store, intended(f"g-{number}"), "applied") for number in range(PAGE)]
    older = intended("k-1", ResourceKey("report/8"))
    raw.zadd(in_state(shard_of(SEVEN), "applied"), {one.intent: 2**50 for one in gone})
    kept = await ended(store, older, "applied")
    for one in gone:
        raw.delete(f"fg:{{{shard_of(SEVEN)}}}:i:{one.intent}")

    page = await intents(store, "applied", None)

    assert [record.id for record in page.items] == [kept.intent]


async def test_an_entry_that_leads_to_another_state_is_passed_over(store: FenceStore, raw: Any) -> None:
    """An ended intent expired, and its key was used again before the list was pruned."""
    admitted = await begun(store, intended("k-1"))
    raw.zadd(in_state(shard_of(SEVEN), "applied"), {admitted.intent: 1000})

    assert await _all(store, "applied") == []


async def test_an_entry_that_no_gateway_wrote_is_passed_over(store: FenceStore, raw: Any) -> None:
    """It hides none of the others."""
    unknown = await ended(store, intended("k-1"), "unknown")
    raw.zadd(in_state(shard_of(SEVEN), "unknown"), {b"\xff\xfe": 2**50, "zzz": 2**50})

    assert [record.id for record in await _all(store, "unknown")] == [unknown.intent]


async def test_writes_in_flight_are_listed_with_and_without_a_key(store: FenceStore) -> None:
    """The ticket says until when; the record, where there is one, says all else."""
    keyed = await begun(store, intended("k-1"))
    keyless = await begun(store, intended(None, ResourceKey("report/8 and more")))

    found = {one.ticket.id: one for one in (await in_flight(store, None)).items}

    assert set(found) == {keyed.ticket, keyless.ticket}
    record = found[keyed.ticket].record
    assert record is not None
    assert (record.id, record.key, record.state, found[keyed.ticket].resource) == (
        keyed.intent,
        "k-1",
        "in_flight",
        SEVEN,
    )
    assert (found[keyless.ticket].record, found[keyless.ticket].resource) == (None, "report/8 and more")


async def test_what_is_in_flight_is_paged(store: FenceStore) -> None:
    """As the other lists are."""
    made = {(await begun(store, intended(None))).ticket for _ in range(PAGE + 3)}

    page = await in_flight(store, None)
    rest = await in_flight(store, page.next)

    assert (len(page.items), rest.next) == (PAGE, None)
    assert {one.ticket.id for one in (*page.items, *rest.items)} == made


async def test_a_write_in_flight_is_found_by_its_ticket(store: FenceStore, raw: Any) -> None:
    """Among as many as there are, and not by the beginning of its id; once it has ended it is not."""
    many = {f"{shard_of(SEVEN)}x{number} {SEVEN}": number for number in range(3000)}
    raw.zadd(f"fg:{{{shard_of(SEVEN)}}}:d", many)
    keyless = await begun(store, intended(None))

    found = await flight(store, keyless.ticket)

    assert isinstance(found, Flight)
    assert (found.ticket.id, found.resource) == (keyless.ticket, SEVEN)
    assert await flight(store, keyless.ticket[:-1]) is None
    await store.settle(keyless, "applied", "answered 200", None)
    assert await flight(store, keyless.ticket) is None


@pytest.mark.parametrize("id", ["", "x", "400abc", "3ff*", "3ff?bc", "3ff " + "a" * 90, "3FFabc", "é" * 30])
async def test_what_is_no_id_leads_nowhere(id: str, store: FenceStore) -> None:
    """The store is not asked for it."""
    assert await flight(store, id) is None
    assert await store.recall(id) is None


async def test_a_cursor_that_was_not_handed_out_is_an_error(store: FenceStore) -> None:
    """In every list."""
    with pytest.raises(BadCursor):
        await intents(store, "unknown", "next please")
    with pytest.raises(BadCursor):
        await in_flight(store, "next please")


def _states() -> tuple[Listed, ...]:
    return ("unknown", "applied", "not_applied")


async def _all(store: FenceStore, state: Listed) -> list[IntentRecord]:
    page = await intents(store, state, None)
    found = list(page.items)
    while page.next is not None:
        page = await intents(store, state, page.next)
        found += page.items
    return found
