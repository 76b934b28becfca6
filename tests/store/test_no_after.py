"""How long no query's no counts: as the rule said that an attempt was sent by, whatever a reload has made of it."""

from dataclasses import replace
from typing import Any

from gateway.core.record import IntentRecord
from gateway.core.rule import NativeKey, OnUnknown, Rule
from gateway.core.write import Write
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.questions import Questions
from tests.intending import SEVEN, begun
from tests.store.asked import asked_rule, id_of, in_doubt, keyed
from tests.store.fences import ask, name_of
from tests.store.overdue import make_overdue
from tests.store.parked import QUEUED, delivering, mail, parked, taken
from tests.store.parked import begun as delivery_begun

LONG_S, SHORT_S = 61.0, 2.0
LASTS_S = 45.0


def sent_by(no_after_s: float, on_unknown: OnUnknown = "query") -> Write:
    rule = asked_rule()
    terms = replace(rule.intent, no_after_s=no_after_s, on_unknown=on_unknown)
    upstream = replace(rule.upstream, native_key=NativeKey(b"X-Key"))
    return keyed("a", replace(rule, intent=terms, upstream=upstream))


def queued_by(no_after_s: float) -> Rule:
    return replace(QUEUED, intent=replace(QUEUED.intent, on_unknown="query", ask_after_s=1.0, no_after_s=no_after_s))


ID = id_of(sent_by(LONG_S))


async def recalled(store: FenceStore, id: str = ID) -> IntentRecord:
    record = await store.recall(id)
    assert record is not None
    return record


def lose_tickets(raw: Any) -> None:
    raw.delete(*resource_keys(SEVEN)[1:3])


async def test_it_is_as_the_rule_said_that_the_attempt_was_sent_by(store: FenceStore) -> None:
    """And in doubt, of two attempts the longer; none of before counts once the key was free."""
    await in_doubt(store, sent_by(LONG_S, "retry"))
    await in_doubt(store, sent_by(SHORT_S, "retry"))
    assert (await recalled(store)).no_after_s == LONG_S

    assert await Questions(store).resolve(await recalled(store), "not_applied", "looked", b"")
    await in_doubt(store, sent_by(SHORT_S))

    assert (await recalled(store)).no_after_s == SHORT_S


async def test_it_is_counted_from_the_end_that_a_sweeper_finds(store: FenceStore, raw: Any) -> None:
    """Its gateway has died: nothing was sent after its time."""
    attempt = await begun(store, sent_by(LONG_S))
    make_overdue(raw, SEVEN, attempt.ticket)

    assert await store.sweep(SEVEN, attempt.ticket) == 1

    assert ((await recalled(store)).state, (await recalled(store)).no_after_s) == ("unknown", LONG_S)


async def test_an_attempt_whose_ticket_was_lost_may_last_yet(store: FenceStore, raw: Any) -> None:
    """It may have been sent just now, by any rule."""
    store.writes_last(lambda: LASTS_S)
    await begun(store, sent_by(LONG_S))
    lose_tickets(raw)

    assert name_of(await ask(store, sent_by(LONG_S))) == "outcome-unknown"

    assert (await recalled(store)).no_after_s == LONG_S + LASTS_S


async def test_a_result_whose_admission_was_lost_tells_it(store: FenceStore, raw: Any) -> None:
    """Nothing is left of its record."""
    attempt = await begun(store, sent_by(LONG_S))
    raw.flushall()

    await store.settle(attempt, "unknown", "no answer", None)

    assert (await recalled(store)).no_after_s == LONG_S


async def test_a_delivery_is_sent_by_the_rule_in_force_then(store: FenceStore) -> None:
    """It may have waited for days."""
    record = await parked(store, mail("one", of=queued_by(SHORT_S)))
    async with delivering(store) as queue:
        await taken(queue)
        await delivery_begun(queue, mail("one", of=queued_by(LONG_S)))

    assert (await recalled(store, record.id)).no_after_s == LONG_S
