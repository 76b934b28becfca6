"""G5 as rules over histories: the records in the end."""

import pytest

from tests.history.ends import (
    broken_words,
    left_in_flight,
    low_fences,
    unexpected_losses,
    unrecorded_endings,
    untrue_records,
)
from tests.history.history import Call, Execution, Fence, History, Intent, Loss, Passage

R = "serial/1"
DONE = Execution("a", R, 3, 0.5, "k")

RECORDS = {
    "applied": ((Intent("i", R, "applied", "k"),), 0),
    "unknown": ((Intent("i", R, "unknown", "k"),), 0),
    "not applied": ((Intent("i", R, "not_applied", "k"),), 1),
    "failed": ((Intent("i", R, "failed", "k"),), 1),
    "still queued": ((Intent("i", R, "queued", "k"),), 1),
    "of another resource": ((Intent("i", "serial/2", "unknown", "k"),), 1),
    "forgotten": ((), 1),
}


@pytest.mark.parametrize(("intents", "times"), RECORDS.values(), ids=RECORDS)
def test_records_of_what_was_executed(intents: tuple[Intent, ...], times: int) -> None:
    """What was executed is applied or unknown in the table."""
    assert len(list(untrue_records(History(executions=(DONE,), intents=intents)))) == times


@pytest.mark.parametrize(("state", "times"), [("applied", 1), ("unknown", 0), ("not_applied", 0), ("failed", 0)])
def test_records_of_what_was_not_executed(state: str, times: int) -> None:
    """What is applied in the table was executed."""
    assert len(list(untrue_records(History(intents=(Intent("i", R, state, "k"),))))) == times


@pytest.mark.parametrize(("endings", "times"), [({3: 2}, 0), ({3: 3}, 0), ({3: 1}, 1), ({2: 2}, 1), ({}, 1)])
def test_endings(endings: dict[int, int], times: int) -> None:
    """The audit trail has an ending for each execution of an epoch, those without a key too."""
    executions = DONE, Execution("b", R, 3, 0.6)
    history = History(executions=executions, fences={R: Fence(3, endings=endings)})
    assert len(list(unrecorded_endings(history))) == times


WORDS = {
    "and recorded": ("applied", (), 0),
    "and not known": ("unknown", (), 1),
    "and not known, its gateway killed": ("unknown", (5.0,), 0),
    "after the last death, and not known": ("unknown", (0.5,), 1),
    "and proved not to be": ("not_applied", (), 1),
}


@pytest.mark.parametrize(("state", "deaths", "times"), WORDS.values(), ids=WORDS)
def test_told_to_be_applied(state: str, deaths: tuple[float, ...], times: int) -> None:
    """A gateway that lives records what it has said."""
    call = Call("a", "write", R, 1, 3, "k", 2, 200, "forwarded", "applied")
    history = History((call,), intents=(Intent("i", R, state, "k"),), deaths=deaths)
    assert len(list(broken_words(history))) == times


LATER = {
    "recorded at once": (1.5, (Loss(5, 6),), (), 1),
    "recorded later, and then lost": (0.0, (Loss(5, 6),), (), 0),
    "recorded later, and never lost": (0.0, (), (), 1),
    "recorded later, and lost before": (0.0, (Loss(0.2, 0.4),), (), 1),
    "told by a store that is full, and then lost": (1.5, (Loss(5, 6),), ((1.5, 2.5),), 0),
    "told before it was full": (1.5, (Loss(5, 6),), ((2.5, 3.5),), 1),
    "told by one that is full, and never lost": (1.5, (), ((1.5, 2.5),), 1),
}


@pytest.mark.parametrize(("answered", "losses", "full", "times"), LATER.values(), ids=LATER)
def test_told_while_the_store_was_away(
    answered: float, losses: tuple[Loss, ...], full: tuple[tuple[float, float], ...], times: int
) -> None:
    """What a gateway could not record at once may be recorded, and lost, after its caller was told."""
    call = Call("a", "write", R, 1, 3, "k", 2, 200, "forwarded", "applied")
    passage = Passage("a", R, 3, 0.0, answered=answered)
    unknown = (Intent("i", R, "unknown", "k"),)
    history = History((call,), (passage,), intents=unknown, losses=losses, full=full)
    assert len(list(broken_words(history))) == times


@pytest.mark.parametrize(
    ("intents", "in_flight", "times"),
    [((), 0, 0), ((), 1, 1), ((Intent("i", R, "in_flight", "k"),), 0, 1), ((Intent("i", R, "unknown", "k"),), 0, 0)],
)
def test_nothing_stays_in_flight(intents: tuple[Intent, ...], in_flight: int, times: int) -> None:
    """No intent and no ticket, in the end."""
    assert len(list(left_in_flight(History(intents=intents, fences={R: Fence(3, in_flight)})))) == times


@pytest.mark.parametrize(("epoch", "times"), [(3, 0), (4, 0), (2, 1), (None, 1)])
def test_fences(epoch: int | None, times: int) -> None:
    """What was executed was not above the highest epoch."""
    fences = {R: Fence(epoch)} if epoch is not None else {}
    assert len(list(low_fences(History(executions=(DONE,), fences=fences)))) == times


FORGOTTEN = {
    "while it was lost": (Loss(0.2, 0.8), 0),
    "before anything was lost": (Loss(0.7, 0.8), 1),
    "after the loss was found": (Loss(0.2, 0.3), 1),
}


@pytest.mark.parametrize(("loss", "times"), FORGOTTEN.values(), ids=FORGOTTEN)
def test_records_of_what_was_forgotten(loss: Loss, times: int) -> None:
    """No intent, no ending, no epoch is left of what was done while it was lost; all of it, of anything else."""
    history = History(executions=(DONE,), losses=(loss,))
    for rule in (untrue_records, unrecorded_endings, low_fences):
        assert len(list(rule(history))) == times


def test_words_that_were_forgotten() -> None:
    """What a caller was told before a loss, and its record was lost with it."""
    call = Call("a", "write", R, 1, 3, "k", 2, 200, "forwarded", "applied")
    assert list(broken_words(History((call,), losses=(Loss(1.5, 2.5),)))) == []
    assert len(list(broken_words(History((call,), losses=(Loss(2.5, 3.5),))))) == 1


@pytest.mark.parametrize(("may_lose", "times"), [(True, 0), (False, 1)])
def test_losses(may_lose: bool, times: int) -> None:
    """A store whose acknowledgements outlive a server loses nothing."""
    assert len(list(unexpected_losses(History(losses=(Loss(0.2, 0.8),), may_lose=may_lose)))) == times
