"""Asking about an intent: whose turn it is, since when it has been unknown, and that it is resolved once."""

from typing import Any

import pytest

from gateway.core.intent import State
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolution
from gateway.store.questions import Questions
from gateway.store.views.pause_views import pause_of
from tests.store.asked import age, asked_rule, has_been_up, id_of, in_doubt, keyed, listed, make_due
from tests.store.fences import RESOURCE, ask, name_of, opened

WRITE = keyed("a")
ID = id_of(WRITE)


async def test_one_gateway_asks(store: FenceStore, store_url: str, raw: Any) -> None:
    """Whoever takes the turn first has it; the next one comes later than the last did."""
    await in_doubt(store, WRITE)
    make_due(raw, ID)
    async with opened(store_url) as another:
        assert await Questions(another).take(ID) is not None

        assert await Questions(store).take(ID) is None
        assert listed(raw) == [ID]


async def test_it_is_not_asked_about_before_its_time(store: FenceStore, raw: Any) -> None:
    """The first question comes as long after the attempt's end as its rule says."""
    await in_doubt(store, keyed("a", asked_rule(ask_after_s=60.0)))

    assert await Questions(store).take(ID) is None


async def test_whoever_dies_with_the_question_is_followed_by_another(store: FenceStore, raw: Any) -> None:
    """The intent is still unknown, and due again later: nothing else remembers the question."""
    await in_doubt(store, WRITE)
    make_due(raw, ID)
    first = await Questions(store).take(ID)
    make_due(raw, ID)

    second = await Questions(store).take(ID)

    assert first is not None and second is not None
    assert second.record == first.record


async def test_how_long_it_has_been_unknown(store: FenceStore, raw: Any) -> None:
    """By the store's clock, from the end of the attempt."""
    await in_doubt(store, WRITE)
    age(raw, ID, 90)
    has_been_up(store)
    make_due(raw, ID)

    taken = await Questions(store).take(ID)

    assert taken is not None
    assert 90 <= taken.unknown_for_s < 100


async def test_a_clock_that_jumped_makes_no_early_no(store: FenceStore, raw: Any) -> None:
    """This gateway has just come up, and cannot know of steps before that; what it sees of them is in test_clock."""
    await in_doubt(store, WRITE)
    age(raw, ID, 3600)
    make_due(raw, ID)

    taken = await Questions(store).take(ID)

    assert taken is not None
    assert taken.unknown_for_s < 10


@pytest.mark.parametrize(
    ("outcome", "state", "repeated"),
    [
        pytest.param("applied", "applied", "Replayed", id="applied"),
        pytest.param("not_applied", "not_applied", "Admitted", id="not applied frees the key"),
        pytest.param("duplicated", "applied", "paused", id="duplicated pauses the resource"),
    ],
)
async def test_an_intent_is_resolved(
    store: FenceStore, raw: Any, outcome: Resolution, state: State, repeated: str
) -> None:
    """With what was answered; it is asked about no more, and its repeat is answered accordingly."""
    await in_doubt(store, WRITE)
    record = await store.recall(ID)
    assert record is not None

    assert await Questions(store).resolve(record, outcome, "the query answered 200", b'{"n":1}')

    resolved = await store.recall(ID)
    assert resolved is not None
    assert (resolved.state, resolved.resolved_by, resolved.evidence) == (state, "query", b'{"n":1}')
    assert (await pause_of(store, RESOURCE) is not None) == (outcome == "duplicated")
    assert listed(raw) == []
    assert name_of(await ask(store, WRITE)) == repeated


async def test_what_was_resolved_meanwhile_stays(store: FenceStore) -> None:
    """The write's own answer came after all, while the query was under way."""
    attempt = await in_doubt(store, WRITE)
    record = await store.recall(ID)
    assert record is not None
    await store.settle(attempt, "applied", "answered 201, late", None)

    assert not await Questions(store).resolve(record, "not_applied", "the query answered 404", b"")

    settled = await store.recall(ID)
    assert settled is not None and settled.state == "applied"


async def test_what_is_no_longer_unknown_is_not_asked_about(store: FenceStore, raw: Any) -> None:
    """An entry whose record is gone, or in another state, leaves the list."""
    await in_doubt(store, WRITE)
    make_due(raw, ID)
    raw.delete(f"fg:{{{ID[:3]}}}:i:{ID}")

    assert await Questions(store).recall(ID) is None
    assert await Questions(store).take(ID) is None
    assert listed(raw) == []


async def test_what_was_learnt_of_one_attempt_says_nothing_of_the_next(store: FenceStore) -> None:
    """An operator freed the key while a query was under way, and the next attempt ended unknown too: the old no must
    not free the key a second time."""
    await in_doubt(store, WRITE)
    asked_about = await store.recall(ID)
    assert asked_about is not None
    assert await Questions(store).resolve(asked_about, "not_applied", "an operator looked", b"")
    await in_doubt(store, WRITE)

    assert not await Questions(store).resolve(asked_about, "not_applied", "the query answered 404", b"")

    record = await store.recall(ID)
    assert record is not None and (record.state, record.attempts) == ("unknown", 2)
