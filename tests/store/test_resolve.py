"""Resolving an unknown intent: once, by a query or an operator, and never into anything else."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.intent import IntentId, ResolvedBy
from gateway.core.outcome import Outcome
from gateway.core.record import IntentRecord
from gateway.core.write import Replayed, Write
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolution, Resolve, pause, resolve
from gateway.store.keys import questions, shard_of
from gateway.store.views.audit_views import Sought, events
from gateway.store.views.pause_views import pause_of
from tests.store.fences import (
    ANSWER,
    HELD,
    INTENT,
    RESOURCE,
    RETRIED,
    admitted,
    ask,
    bare,
    ended,
    everything,
    keyed,
    name_of,
    settled,
    state_of,
    unknown_is,
)

WRITE = keyed(bare(42, of=HELD))
OPERATOR = Resolve("applied", "operator", "seen in the mailbox", "operator")


async def recalled(store: FenceStore, id: str = INTENT) -> IntentRecord:
    record = await store.recall(id)
    assert record is not None
    return record


@pytest.mark.parametrize("by", ["operator", "query"])
@pytest.mark.parametrize(
    ("outcome", "state", "repeated"),
    [
        pytest.param("applied", "applied", "Replayed", id="applied"),
        pytest.param("not_applied", "not_applied", "Admitted", id="not applied"),
        pytest.param("duplicated", "applied", "paused", id="duplicated"),
    ],
)
async def test_an_unknown_intent_becomes_what_somebody_found_out(
    store: FenceStore, outcome: Resolution, state: str, repeated: str, by: ResolvedBy
) -> None:
    """The record says who and why, the trail too; its repeat is answered accordingly."""
    await ended(store, WRITE, "unknown")

    reply = await resolve(store, await recalled(store), Resolve(outcome, by, "found out", "somebody", b'{"n":1}'))

    assert reply == await recalled(store)
    assert (reply.state, reply.resolved_by, reply.reason, reply.evidence) == (state, by, "found out", b'{"n":1}')
    trail = (await events(store, Sought(intent=INTENT), None)).items
    assert [(event.before, event.after, event.by) for event in trail if event.before == "unknown"] == [
        ("unknown", state, "somebody")
    ]
    assert name_of(await ask(store, WRITE)) == repeated


@pytest.mark.parametrize("is_own", [False, True], ids=["of whatever has the key", "of this very intent"])
async def test_what_a_query_answered_is_for_agents_only_if_it_is_their_own(store: FenceStore, is_own: bool) -> None:
    """Operators see it all the same."""
    await ended(store, WRITE, "unknown")
    await resolve(store, await recalled(store), Resolve("applied", "query", "found out", "one", b'{"n":1}', is_own))

    replayed, record = await ask(store, WRITE), await recalled(store)

    assert isinstance(replayed, Replayed)
    assert (replayed.resolved_by, replayed.evidence) == ("query", b'{"n":1}' if is_own else b"")
    assert (record.resolved_by, record.evidence, record.evidence_is_own) == ("query", b'{"n":1}', is_own)


@pytest.mark.parametrize("outcome", [None, "applied", "not_applied"])
async def test_only_an_unknown_intent_is_resolved(store: FenceStore, raw: Any, outcome: Outcome | None) -> None:
    """Whoever comes late is told what it is, and changes nothing."""
    one = await admitted(store, WRITE)
    if outcome is not None:
        await settled(store, one, outcome)
    before = everything(raw)

    reply = await resolve(store, await recalled(store), OPERATOR)

    assert isinstance(reply, Refused)
    assert (reply.decision.name, reply.facts.intent_state) == ("wrong-state", outcome or "in_flight")
    assert everything(raw) == before


async def test_what_is_known_of_one_attempt_says_nothing_of_the_next(store: FenceStore, raw: Any) -> None:
    """The operator looked at the first attempt; meanwhile a second one was sent, and is unknown too."""
    write = keyed(bare(42, of=RETRIED))
    await ended(store, write, "unknown")
    seen = await recalled(store)
    await ended(store, write, "unknown")
    before = everything(raw)

    assert name_of(await resolve(store, seen, replace(OPERATOR, outcome="not_applied"))) == "wrong-state"
    assert everything(raw) == before


@pytest.mark.parametrize("outcome", ["applied", "not_applied", "duplicated"])
async def test_a_resolution_repeated_is_the_same(store: FenceStore, raw: Any, outcome: Resolution) -> None:
    """The answer was lost; another resolver, or another reason, comes too late."""
    await ended(store, WRITE, "unknown")
    seen, mine = await recalled(store), replace(OPERATOR, outcome=outcome)
    first = await resolve(store, seen, mine)
    before = everything(raw)

    assert await resolve(store, seen, mine) == first
    assert name_of(await resolve(store, seen, replace(mine, reason="heard of it"))) == "wrong-state"
    assert name_of(await resolve(store, seen, replace(mine, by="query"))) == "wrong-state"
    other: Resolution = "applied" if outcome == "not_applied" else "not_applied"
    assert name_of(await resolve(store, seen, replace(mine, outcome=other))) == "wrong-state"
    assert everything(raw) == before


async def test_what_took_effect_more_than_once_stops_its_resource(store: FenceStore) -> None:
    """An incident, told by the trail; no write of the resource is admitted until somebody has looked."""
    await ended(store, WRITE, "unknown")

    await resolve(store, await recalled(store), replace(OPERATOR, outcome="duplicated", by="query"))

    begun = await pause_of(store, RESOURCE)
    assert begun is not None
    assert (begun.id, begun.resource, begun.by) == (INTENT, RESOURCE, "operator")
    trail = (await events(store, Sought(intent=INTENT), None)).items
    assert [event.after for event in trail[:2]] == ["paused", "applied"]
    assert trail[1].reason.startswith("duplicate-effect: ")
    assert name_of(await ask(store, bare(42, of=HELD))) == "paused"


async def test_a_pause_that_lasts_is_not_replaced(store: FenceStore) -> None:
    """Whoever began it finds it under its own id."""
    await ended(store, WRITE, "unknown")
    begun = await pause(store, RESOURCE, id="p", reason="maintenance", by="operator")

    await resolve(store, await recalled(store), replace(OPERATOR, outcome="duplicated"))

    assert await pause_of(store, RESOURCE) == begun


@pytest.mark.parametrize("outcome", ["applied", "not_applied"])
async def test_a_write_without_a_key_is_kept_for_a_day_once_it_is_resolved(
    store: FenceStore, raw: Any, outcome: Resolution
) -> None:
    """Nobody will repeat it; a day is for those who read it in the morning."""
    one = await ended(store, bare(42), "unknown")

    await resolve(store, await recalled(store, one.intent), replace(OPERATOR, outcome=outcome))

    assert await state_of(store, one.intent) == outcome
    left_ms = raw.pttl(f"fg:{{{shard_of(RESOURCE)}}}:i:{one.intent}")
    assert 0 <= 86_400_000 - left_ms < 60_000


async def test_a_resolved_intent_is_asked_about_no_more(store: FenceStore, raw: Any) -> None:
    """It leaves the list of questions."""
    await ended(store, keyed(bare(42, of=unknown_is("query"))), "unknown")
    assert raw.zcard(questions(shard_of(RESOURCE))) == 1

    await resolve(store, await recalled(store), OPERATOR)

    assert raw.zcard(questions(shard_of(RESOURCE))) == 0


async def test_a_resolved_retry_in_doubt_frees_the_key_when_neither_was_applied(store: FenceStore) -> None:
    """Whoever resolves speaks of the intent, and not of its newest attempt alone."""
    write = keyed(bare(42, of=RETRIED))
    await ended(store, write, "unknown")
    await ended(store, write, "not_applied")

    await resolve(store, await recalled(store), replace(OPERATOR, outcome="not_applied"))

    again = await admitted(store, write)
    assert (again.attempt, again.in_doubt) == (3, False)
    assert (await settled(store, again, "applied", ANSWER)).outcome == "applied"


async def test_an_intent_that_is_no_longer_kept_cannot_be_resolved(store: FenceStore, raw: Any) -> None:
    """The call says so, and leaves nothing behind."""
    await ended(store, WRITE, "unknown")
    seen = await recalled(store)
    raw.flushall()

    assert name_of(await resolve(store, seen, OPERATOR)) == "no-such-intent"
    assert name_of(await resolve(store, replace(seen, id=IntentId("000x")), OPERATOR)) == "no-such-intent"
    assert everything(raw) == {}


@pytest.mark.parametrize("what", [WRITE, keyed(bare(43, "B", HELD))])
async def test_a_resolution_moves_no_epoch(store: FenceStore, what: Write) -> None:
    """It is no write: the fence is as it was."""
    await ended(store, WRITE, "unknown")
    fence = await store.look(RESOURCE)
    assert fence is not None

    await resolve(store, await recalled(store), OPERATOR)

    after = await store.look(RESOURCE)
    assert after is not None and replace(after, now_ms=fence.now_ms) == fence
