"""Evidence that comes when its attempt's intent has gone on without it: what it corrects, and what it reports."""

from typing import Any

import pytest

from gateway.core.intent import KeptAnswer, State
from gateway.core.outcome import Outcome
from gateway.core.rule import Fence
from gateway.core.write import Admitted, Incident
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolution
from gateway.store.views.audit_views import Sought, events
from tests.store.fences import (
    ANSWER,
    HELD,
    INTENT,
    RESOURCE,
    RETRIED,
    admitted,
    bare,
    ended,
    keyed,
    resolved,
    rule,
    settled,
    state_of,
    unknown_is,
)
from tests.store.overdue import make_overdue

WRITE = keyed(bare(42, of=HELD))
NATIVE = keyed(bare(42, of=RETRIED))
LATER = KeptAnswer(200, (), b"later")


async def incidents(store: FenceStore) -> list[str]:
    """What the trail reports of the intent, the oldest first."""
    trail = (await events(store, Sought(intent=INTENT), None)).items
    return [event.reason.partition(":")[0] for event in reversed(trail) if event.before == event.after]


async def swept(store: FenceStore, raw: Any) -> Admitted:
    """An attempt whose gateway fell silent."""
    one = await admitted(store, WRITE)
    make_overdue(raw, RESOURCE, one.ticket)
    assert await store.sweep(RESOURCE, one.ticket) == 1
    return one


@pytest.mark.parametrize(
    ("proved", "state"),
    [
        pytest.param("applied", "applied", id="applied"),
        pytest.param("not_applied", "not_applied", id="not applied"),
        pytest.param("unknown", "unknown", id="unknown"),
    ],
)
async def test_a_swept_attempt_becomes_what_it_was(store: FenceStore, raw: Any, proved: Outcome, state: State) -> None:
    """Its gateway lives after all and knows; nobody had resolved it, and nothing is reported."""
    one = await swept(store, raw)

    told = await settled(store, one, proved, ANSWER if proved == "applied" else None)

    assert (told.outcome, told.incident, await state_of(store)) == (state, None, state)
    record = await store.recall(INTENT)
    assert record is not None and record.answer == (ANSWER if proved == "applied" else None)


@pytest.mark.parametrize(
    ("resolution", "proved", "state", "incident"),
    [
        pytest.param("applied", "applied", "applied", None, id="applied confirms applied"),
        pytest.param("applied", "not_applied", "applied", "late-write", id="not applied contradicts applied"),
        pytest.param("applied", "unknown", "applied", None, id="unknown says nothing of applied"),
        pytest.param("duplicated", "applied", "applied", None, id="applied confirms duplicated"),
        pytest.param("not_applied", "applied", "applied", "late-write", id="applied overrules not applied"),
        pytest.param("not_applied", "not_applied", "not_applied", None, id="not applied confirms not applied"),
        pytest.param("not_applied", "unknown", "not_applied", None, id="unknown says nothing of not applied"),
    ],
)
async def test_evidence_after_a_resolution(
    store: FenceStore, resolution: Resolution, proved: Outcome, state: State, incident: Incident | None
) -> None:
    """It overwrites no resolution in silence; and an effect that happened is one that happened."""
    one = await ended(store, WRITE, "unknown")
    await resolved(store, resolution)
    reported = await incidents(store)

    told = await settled(store, one, proved)

    assert (told.outcome, told.incident, await state_of(store)) == (state, incident, state)
    assert await incidents(store) == reported + ([incident] if incident else [])


@pytest.mark.parametrize(
    ("resolution", "resolver"),
    [
        pytest.param("applied", "operator", id="resolved as applied"),
        pytest.param("not_applied", None, id="resolved as not applied, wrongly"),
    ],
)
async def test_a_late_answer_is_kept(store: FenceStore, resolution: Resolution, resolver: str | None) -> None:
    """Where none was; whoever resolved it wrongly is not named for what it is now."""
    one = await ended(store, WRITE, "unknown")
    await resolved(store, resolution)

    await settled(store, one, "applied", ANSWER)

    record = await store.recall(INTENT)
    assert record is not None
    assert (record.answer, record.resolved_by) == (ANSWER, resolver)


async def test_an_answer_that_is_kept_stays(store: FenceStore) -> None:
    """Callers have been given it."""
    one = await ended(store, WRITE, "applied", ANSWER)

    await settled(store, one, "applied", LATER)

    record = await store.recall(INTENT)
    assert record is not None and record.answer == ANSWER


async def test_a_late_answer_does_not_prolong_an_ended_intent(store: FenceStore, raw: Any) -> None:
    """Its time counts from its end."""
    one = await ended(store, WRITE, "unknown")
    await resolved(store, "applied")
    key = f"fg:{{{INTENT[:3]}}}:i:{INTENT}"
    ends_at = raw.pexpiretime(key)

    await settled(store, one, "applied", ANSWER)

    assert raw.pexpiretime(key) == ends_at


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        pytest.param("unknown", "not_applied", "unknown", id="a refusal proves nothing about the first"),
        pytest.param("unknown", "unknown", "unknown", id="nobody knows of either"),
        pytest.param("unknown", "applied", "applied", id="the second was executed"),
        pytest.param("not_applied", "not_applied", "not_applied", id="the first was proved not applied"),
    ],
)
async def test_what_two_attempts_conclude_to(store: FenceStore, first: Outcome, second: Outcome, told: Outcome) -> None:
    """A retry in doubt that is refused leaves the intent unknown."""
    await ended(store, NATIVE, first)

    again = await settled(store, await admitted(store, NATIVE), second)

    assert (again.outcome, await state_of(store)) == (told, told)


async def test_a_swept_retry_that_is_refused_after_a_resolution_contradicts_nothing(
    store: FenceStore, raw: Any
) -> None:
    """Its refusal proves nothing about the first attempt, which the resolution may have seen."""
    await ended(store, NATIVE, "unknown")
    again = await ended(store, NATIVE, "unknown")
    await resolved(store, "applied")

    told = await settled(store, again, "not_applied")

    assert (told.outcome, told.incident) == ("applied", None)


@pytest.mark.parametrize(
    ("second", "proved", "state", "incident"),
    [
        pytest.param("applied", "applied", "applied", "duplicate-effect", id="both were applied"),
        pytest.param("not_applied", "applied", "applied", "late-write", id="only the first was"),
        pytest.param("unknown", "applied", "applied", "late-write", id="the first was, nobody knows of the second"),
        pytest.param(None, "applied", "in_flight", "late-write", id="the first was, the second is in flight"),
        pytest.param("applied", "not_applied", "applied", None, id="only the second was"),
        pytest.param("applied", "unknown", "applied", None, id="the second was, nobody knows of the first"),
        pytest.param("not_applied", "not_applied", "not_applied", None, id="neither was"),
        pytest.param("unknown", "not_applied", "unknown", None, id="not the first, nobody knows of the second"),
        pytest.param("not_applied", "unknown", "not_applied", None, id="the first was judged before"),
        pytest.param(None, "not_applied", "in_flight", None, id="not the first, the second is in flight"),
    ],
)
async def test_evidence_of_an_attempt_whose_key_was_given_away(
    store: FenceStore, second: Outcome | None, proved: Outcome, state: str, incident: Incident | None
) -> None:
    """Resolved as not applied, sent again, and then the first attempt tells what it did."""
    first = await ended(store, WRITE, "unknown")
    await resolved(store, "not_applied")
    again = await admitted(store, WRITE)
    if second is not None:
        await settled(store, again, second)

    told = await settled(store, first, proved, ANSWER if proved == "applied" else None)

    assert (told.incident, await state_of(store)) == (incident, state)
    assert await incidents(store) == ([incident] if incident else [])


@pytest.mark.parametrize(
    ("proved", "incident"),
    [
        pytest.param("applied", "duplicate-effect", id="applied too"),
        pytest.param("not_applied", None, id="refused"),
        pytest.param("unknown", None, id="unknown"),
    ],
)
async def test_an_attempt_in_flight_concludes_to_the_effect_that_is_there(
    store: FenceStore, proved: Outcome, incident: Incident | None
) -> None:
    """The attempt before it turned out to have been applied: whatever becomes of this one, the intent is applied."""
    first = await ended(store, WRITE, "unknown")
    await resolved(store, "not_applied")
    again = await admitted(store, WRITE)
    await settled(store, first, "applied", ANSWER)

    told = await settled(store, again, proved)

    assert (told.outcome, told.incident) == ("applied", incident)
    record = await store.recall(INTENT)
    assert record is not None and (record.state, record.answer) == ("applied", ANSWER)


async def test_an_attempt_that_dies_beside_the_effect_concludes_to_it_too(store: FenceStore, raw: Any) -> None:
    """The sweeper ends it as applied; if its gateway then tells of a second effect, that is reported."""
    first = await ended(store, WRITE, "unknown")
    await resolved(store, "not_applied")
    again = await admitted(store, WRITE)
    await settled(store, first, "applied", ANSWER)
    make_overdue(raw, RESOURCE, again.ticket)
    await store.sweep(RESOURCE, again.ticket)
    assert await state_of(store) == "applied"

    assert (await settled(store, again, "applied", LATER)).incident == "duplicate-effect"


@pytest.mark.parametrize("second", ["applied", "not_applied", "unknown", None])
async def test_under_a_native_key_the_first_attempts_effect_is_no_incident(
    store: FenceStore, second: Outcome | None
) -> None:
    """The upstream itself refuses the second execution: there is one effect, whoever tells of it."""
    first = await ended(store, NATIVE, "unknown")
    again = await admitted(store, NATIVE)
    if second is not None:
        await settled(store, again, second)

    told = await settled(store, first, "applied", ANSWER)
    if second is None:
        told = await settled(store, again, "applied")

    assert (told.outcome, told.incident, await state_of(store)) == ("applied", None, "applied")
    assert await incidents(store) == []


async def test_an_effect_that_is_there_twice_is_told_for_each_attempt(store: FenceStore) -> None:
    """Three attempts of which each was wrongly resolved as not applied, and all were applied."""
    attempts = []
    for _ in range(2):
        attempts.append(await ended(store, WRITE, "unknown"))
        await resolved(store, "not_applied")
    attempts.append(await ended(store, WRITE, "applied", ANSWER))

    told = [(await settled(store, one, "applied")).incident for one in attempts]

    assert told == ["duplicate-effect", "duplicate-effect", None]


async def test_late_evidence_moves_no_revision(store: FenceStore) -> None:
    """An unknown write was counted when it ended."""
    write = keyed(bare(42, of=unknown_is("hold", rule(Fence(), counts=True))))
    one = await ended(store, write, "unknown")

    assert [(await settled(store, one, proved)).revision for proved in ("applied", "applied")] == [1, 1]
