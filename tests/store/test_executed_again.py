"""Calls that the network delivers once more, long after they were answered: they change nothing of what came since."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.budget import Budget
from gateway.core.pause import Scope, WidePause
from gateway.store.audit_seals import seal_shard
from gateway.store.fence import FenceStore
from gateway.store.intents import question
from gateway.store.keys import WIDE_PAUSES, questions, shard_keys, shard_of
from gateway.store.links.link import Reply
from gateway.store.links.topology import Servers
from gateway.store.loss import losses
from gateway.store.loss.incarnation import REGRESS, REGRESS_SHARD
from gateway.store.parking import expire
from gateway.store.pauses import PauseRecords, begin_pause, end_pause, new_pause_id
from gateway.store.script import Script
from tests.lateness import late, quarantined
from tests.store.compensating import applied, begun
from tests.store.fences import (
    INTENT,
    OTHER_SECRET,
    RESOURCE,
    RETRIED,
    SECRET,
    admitted,
    bare,
    ended,
    granted,
    keyed,
    leased,
    resolved,
    settled,
    unknown_is,
)
from tests.store.lost import lose
from tests.store.overdue import make_overdue
from tests.store.parked import (
    APPROVED,
    delivered,
    delivering,
    id_of,
    mail,
    make_expired,
    make_older,
    parked,
    taken,
)
from tests.store.resetting import forget
from tests.store.test_late_calls import recorded

Story = Callable[[FenceStore, Any], AsyncIterator[None]]
Sent = tuple[Script, Sequence[str], Sequence[str | bytes]]

ONE = mail("one")
COSTING = replace(keyed(bare(42, of=replace(RETRIED, budgets=(Budget("tenant", 1000, count=2),)))), costs=(0,))
_LONG_AGO_MS = 1000


# Up to its `yield` each makes the call; behind it comes what happened since.


async def an_outcome(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await ended(store, keyed(bare(42)), "applied")
    yield
    await ended(store, bare(43, "B"), "applied")


async def an_outcome_of_a_key_that_is_free(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await ended(store, keyed(bare(42)), "not_applied")
    yield
    await ended(store, keyed(bare(42)), "applied")


async def an_outcome_before_a_reset(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await ended(store, bare(42), "applied")
    yield
    await forget(store)
    await ended(store, bare(3, "B"), "applied")


async def an_outcome_of_one_that_was_swept_before_a_reset(store: FenceStore, raw: Any) -> AsyncIterator[None]:
    one = await admitted(store, bare(42))
    make_overdue(raw, RESOURCE, one.ticket)
    await store.sweep(RESOURCE, one.ticket)
    await settled(store, one, "applied")
    yield
    await forget(store)
    await ended(store, bare(3, "B"), "applied")


async def the_end_of_a_compensation_before_a_reset(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await settled(store, await begun(store, await applied(store)), "applied")
    yield
    await forget(store)
    await ended(store, bare(3, "B"), "applied")


async def a_sweep(store: FenceStore, raw: Any) -> AsyncIterator[None]:
    one = await admitted(store, keyed(bare(42)))
    make_overdue(raw, RESOURCE, one.ticket)
    await store.sweep(RESOURCE, one.ticket)
    yield
    await settled(store, one, "applied")
    await admitted(store, bare(43, "B"))


async def an_extension(store: FenceStore, _: Any) -> AsyncIterator[None]:
    one = await admitted(store, leased((await granted(store)).epoch))
    await store.extend(one, ttl_s=5.0)
    yield
    await settled(store, one, "applied")


async def a_release(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await store.release(RESOURCE, (await granted(store)).epoch, SECRET)
    yield
    await granted(store, "B", OTHER_SECRET)


async def what_a_deliverer_took(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await parked(store, ONE)
    async with delivering(store) as queue:
        await delivered(queue, ONE, "applied")
        yield
        assert await queue.take(RESOURCE) is None


async def a_failure(store: FenceStore, raw: Any) -> AsyncIterator[None]:
    await parked(store, ONE)
    make_older(raw, id_of(ONE), 60)
    async with delivering(store) as queue:
        assert await queue.fail(await taken(queue), "no rule takes it")
        yield
        await parked(store, ONE)


async def an_expiry(store: FenceStore, raw: Any) -> AsyncIterator[None]:
    one = mail("one", of=APPROVED)
    await parked(store, one)
    make_expired(raw, one)
    await expire(store, id_of(one))
    yield
    await parked(store, one)


async def a_turn_to_ask(store: FenceStore, raw: Any) -> AsyncIterator[None]:
    await ended(store, keyed(bare(42, of=unknown_is("query"))), "unknown")
    raw.zadd(questions(shard_of(RESOURCE)), {INTENT: _LONG_AGO_MS}, xx=True)
    assert await question(store, INTENT) is not None
    yield
    await resolved(store, "applied")


async def what_was_given_back(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await settled(store, await admitted(store, COSTING), "not_applied")
    yield
    await settled(store, await admitted(store, COSTING), "applied")


async def a_reset(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await ended(store, bare(42), "applied")
    await forget(store)
    yield
    await ended(store, bare(3, "B"), "applied")
    await ended(store, bare(5, "C"), "applied")


async def the_acceptance_of_a_loss(store: FenceStore, raw: Any) -> AsyncIterator[None]:
    lose(raw, floor := store.expected_ms())
    await losses.accept(store, note="looked", by="operator", looked_at=floor)
    yield
    lose(raw, floor + 60_000)
    raw.hset(f"{shard_keys('000')[6]}store", "incarnation", "c")


async def word_of_a_loss(store: FenceStore, raw: Any) -> AsyncIterator[None]:
    await ended(store, bare(42), "applied")
    at, floor = store.expected_ms(), str(store.expected_ms() + 1000)
    await store.run(REGRESS, shard_keys("000"), "", "b", "it is empty", "one", "", str(at))
    await store.run(REGRESS_SHARD, shard_keys(shard_of(RESOURCE)), floor, "5000", str(at))
    yield
    lose(raw, int(floor))
    await losses.accept(store, note="looked", by="operator")


async def a_pause_that_was_written_back(store: FenceStore, raw: Any) -> AsyncIterator[None]:
    records = PauseRecords(store)
    pause = await begin_pause(store, Scope("all"), id=new_pause_id(), reason="a drill", by="operator")
    assert isinstance(pause, WidePause)
    await records.in_force()
    raw.delete(WIDE_PAUSES)
    assert pause in (await records.in_force()).values()
    yield
    await end_pause(store, pause, "operator")


async def a_seal(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await ended(store, bare(42), "applied")
    await seal_shard(store, shard_of(RESOURCE))
    yield
    await ended(store, bare(43, "B"), "applied")
    await seal_shard(store, shard_of(RESOURCE))


async def what_was_kept_for_people(store: FenceStore, _: Any) -> AsyncIterator[None]:
    await quarantined(store, late())
    yield
    await quarantined(store, late(epoch=40))


STORIES: list[tuple[str, Story]] = [
    ("settle", an_outcome),
    ("settle", an_outcome_of_a_key_that_is_free),
    ("settle", an_outcome_before_a_reset),
    ("settle", an_outcome_of_one_that_was_swept_before_a_reset),
    ("settle", the_end_of_a_compensation_before_a_reset),
    ("sweep", a_sweep),
    ("extend", an_extension),
    ("release", a_release),
    ("take", what_a_deliverer_took),
    ("fail", a_failure),
    ("expire", an_expiry),
    ("ask", a_turn_to_ask),
    ("give_back", what_was_given_back),
    ("reset", a_reset),
    ("accept", the_acceptance_of_a_loss),
    ("accept_shard", the_acceptance_of_a_loss),
    ("regress", word_of_a_loss),
    ("regress_shard", word_of_a_loss),
    ("restore_pauses", a_pause_that_was_written_back),
    ("seal", a_seal),
    ("quarantine", what_was_kept_for_people),
]


@pytest.mark.parametrize(("script", "story"), STORIES, ids=[f"{script}-{story.__name__}" for script, story in STORIES])
async def test_what_is_executed_once_more_changes_nothing_that_came_since(
    store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch, script: str, story: Story
) -> None:
    """Its connection stood still while it was asked again over another one; and there is no time by which it ends."""
    sent, run = list[Sent](), Script.run

    async def seen(one: Script, link: Servers, keys: Sequence[str], arguments: Sequence[str | bytes]) -> Reply:
        if one.name == script:
            sent.append((one, keys, arguments))
        return await run(one, link, keys, arguments)

    monkeypatch.setattr(Script, "run", seen)
    told = story(store, raw)
    await anext(told)
    monkeypatch.undo()
    async for _ in told:
        pass
    before = recorded(raw)

    for one, keys, arguments in sent:
        await run(one, store.link, keys, arguments)

    assert sent and recorded(raw) == before
