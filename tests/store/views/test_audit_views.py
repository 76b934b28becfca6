"""What operators see of the audit trail."""

from typing import Any

import pytest

from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolve, resolve
from gateway.store.keys import audit_trail, shard_of
from gateway.store.views.audit_views import Event, Sought, events
from gateway.store.views.page import PAGE, BadCursor
from tests.intending import SEVEN, begun, ended, intended

EVERYTHING = Sought()


async def test_each_step_of_a_write_is_an_event(store: FenceStore) -> None:
    """The newest first, numbered without a gap, each saying who did what to what, and why."""
    admitted = await ended(store, intended("k-1"), "unknown")
    record = await store.recall(admitted.intent)
    assert record is not None
    await resolve(store, record, Resolve("not_applied", "operator", "no such mail", "operator"))

    page = await events(store, EVERYTHING, None)

    steps = [(event.number, event.before, event.after, event.reason, event.by) for event in page.items]
    assert steps == [
        (3, "unknown", "not_applied", "no such mail", "operator"),
        (2, "in_flight", "unknown", "no answer within 30 s", store.gateway),
        (1, "", "in_flight", "admitted", store.gateway),
    ]
    event = page.items[1]
    assert (event.intent, event.resource, event.ticket) == (admitted.intent, SEVEN, admitted.ticket)
    assert (event.epoch, event.holder, event.upstream, event.rule) == ("41", "agent-a", "reports", "write")
    assert event.input == "01ff"


async def test_events_of_all_shards_are_merged(store: FenceStore) -> None:
    """Page after page, each once, the newest first."""
    for number in range(PAGE + 10):
        await ended(store, intended(f"k-{number}", ResourceKey(f"report/{number % 40}")), "applied")

    found = await _all(store, EVERYTHING)

    assert len({(shard_of(ResourceKey(event.resource)), event.number) for event in found}) == 2 * (PAGE + 10)
    assert len(found) == 2 * (PAGE + 10)
    instants = [event.at_ms for event in found]
    assert instants == sorted(instants, reverse=True)


async def test_events_of_a_resource_or_an_intent_are_sifted(store: FenceStore) -> None:
    """Others of the same shard are passed over, however many there are; both together must both hold."""
    other = _sibling()
    first = await ended(store, intended("k-1"), "applied")
    second = await ended(store, intended("k-2"), "applied")
    for number in range(2 * PAGE):
        await ended(store, intended(f"o-{number}", other), "applied")

    of_resource = await _all(store, Sought(resource=SEVEN))
    of_intent = await _all(store, Sought(intent=first.intent))

    assert [event.intent for event in of_resource] == [second.intent, second.intent, first.intent, first.intent]
    assert [event.after for event in of_intent] == ["applied", "in_flight"]
    assert await _all(store, Sought(resource=SEVEN, intent=first.intent)) == of_intent
    assert await _all(store, Sought(resource=other, intent=first.intent)) == []
    assert len(await _all(store, Sought(resource=other))) == 4 * PAGE


async def test_a_search_through_a_long_trail_is_answered_in_parts(store: FenceStore, raw: Any) -> None:
    """A page may be empty and not the last: what is sought is found in the end."""
    admitted = await begun(store, intended("k-1"))
    for first in range(0, 12_000, 1000):
        with raw.pipeline() as pipeline:
            for number in range(first, first + 1000):
                pipeline.xadd(audit_trail(shard_of(SEVEN)), _of_another(number))
            pipeline.execute()

    page = await events(store, Sought(intent=admitted.intent), None)

    assert (page.items, page.next is None) == ((), False)
    assert [event.after for event in await _all(store, Sought(intent=admitted.intent))] == ["in_flight"]


@pytest.mark.parametrize("sought", [EVERYTHING, Sought(resource=SEVEN)], ids=["over all shards", "of a resource"])
async def test_events_begin_at_an_instant(sought: Sought, store: FenceStore, raw: Any) -> None:
    """That instant included."""
    for ms in (1000, 2000, 3000):
        raw.xadd(audit_trail(shard_of(SEVEN)), _of_another(ms) | {"resource": SEVEN}, id=f"{ms}-7")

    since = Sought(sought.resource, sought.intent, since_ms=2000)

    assert [event.at_ms for event in (await events(store, since, None)).items] == [3000, 2000]
    later = Sought(sought.resource, sought.intent, since_ms=4000)
    assert (await events(store, later, None)).items == ()


async def test_events_of_one_millisecond_are_each_shown_once(store: FenceStore, raw: Any) -> None:
    """In one shard and over several, where a page ends amid them."""
    for name in (SEVEN, ResourceKey("report/8"), ResourceKey("report/9")):
        for number in range(70):
            raw.xadd(audit_trail(shard_of(name)), _of_another(number) | {"resource": name}, id=f"5000-{number}")

    found = [(event.resource, event.number) for event in await _all(store, EVERYTHING)]

    assert len(found) == len(set(found)) == 210


@pytest.mark.parametrize("intent", ["", "x", "400abc", "3ff*"])
async def test_no_event_is_of_what_is_no_id(intent: str, store: FenceStore) -> None:
    """An empty answer, and not that of another intent."""
    await ended(store, intended("k-1"), "applied")

    assert (await events(store, Sought(intent=intent), None)).items == ()


@pytest.mark.parametrize("sought", [EVERYTHING, Sought(resource=SEVEN)], ids=["over all shards", "of a resource"])
async def test_a_cursor_that_was_not_handed_out_is_an_error(sought: Sought, store: FenceStore) -> None:
    """One that could have been is no fault, whatever it says."""
    with pytest.raises(BadCursor):
        await events(store, sought, "next please")

    largest = 2**64 - 1
    for cursor in (f"{largest}.{largest}.x", "1.0.x", "1.0.\ud800"):
        assert (await events(store, sought, cursor)).items == ()


def _of_another(number: int) -> dict[str, str | int]:
    """An event of some other intent of the shard."""
    about = {"from": "", "to": "in_flight", "intent": "x", "resource": "other", "ticket": "t", "epoch": "1"}
    more = {"holder": "", "upstream": "u", "rule": "r", "input": "", "reason": "", "by": "g"}
    return {"number": number} | about | more


def _sibling() -> ResourceKey:
    """Another resource of the same shard."""
    names = (ResourceKey(f"order/{number}") for number in range(100_000))
    return next(name for name in names if shard_of(name) == shard_of(SEVEN))


async def _all(store: FenceStore, sought: Sought) -> list[Event]:
    page = await events(store, sought, None)
    found = list(page.items)
    while page.next is not None:
        page = await events(store, sought, page.next)
        found += page.items
    return found
