"""G4, and what callers are told, as rules over histories."""

import pytest

from tests.history.effects import executed_twice, faulty_answers, lost_acknowledgements, refused_and_sent, refused_reads
from tests.history.history import Call, Execution, History, Loss, Passage

R = "serial/1"

TWICE = {
    "two intents": ((Execution("a", R, 1, 0, "k"), Execution("b", R, 1, 1, "l")), 0),
    "two writes without a key": ((Execution("a", R, 1, 0), Execution("b", R, 1, 1)), 0),
    "one intent by two requests": ((Execution("a", R, 1, 0, "k"), Execution("b", R, 2, 1, "k")), 1),
    "the same key of two resources": ((Execution("a", R, 1, 0, "k"), Execution("b", "serial/2", 1, 1, "k")), 0),
    "one request without a key twice": ((Execution("a", R, 1, 0), Execution("a", R, 1, 1)), 1),
    "a key that is another request's name": ((Execution("a", R, 1, 0), Execution("b", R, 1, 1, "a")), 0),
}


@pytest.mark.parametrize(("executions", "times"), TWICE.values(), ids=TWICE)
def test_executed_twice(executions: tuple[Execution, ...], times: int) -> None:
    """An intent takes effect once, and so does a request."""
    assert len(list(executed_twice(History(executions=executions)))) == times


# Done, forgotten, and let go on at 3.
LOSS = Loss(since=0.5, found=2.0, accepted=3.0)
AGAIN = {
    "forgotten, and done again once that was accepted": (1.0, 4.0, (LOSS,), 0),
    "forgotten, and done again before that was accepted": (1.0, 2.5, (LOSS,), 1),
    "forgotten, and never accepted": (1.0, 4.0, (Loss(0.5, 2.0),), 1),
    "done before anything was lost": (0.2, 4.0, (LOSS,), 1),
    "done after the loss was found": (2.5, 4.0, (LOSS,), 1),
    "forgotten twice": (1.0, 4.0, (LOSS, Loss(3.5, 5.0, 6.0)), 0),
}


@pytest.mark.parametrize(("first", "second", "losses", "times"), AGAIN.values(), ids=AGAIN)
def test_executed_again_after_a_loss(first: float, second: float, losses: tuple[Loss, ...], times: int) -> None:
    """What the store forgot may be done again once an operator has accepted that, and not before."""
    executions = Execution("a", R, 1, first, "k"), Execution("b", R, 2, second, "k")
    assert len(list(executed_twice(History(executions=executions, losses=losses)))) == times


def test_what_counts_is_when_a_request_came() -> None:
    """Taken before the loss was accepted, and done after: the API took its time, and the gateway did not wait."""
    executions = Execution("a", R, 1, 1.0, "k"), Execution("b", R, 2, 4.0, "k")
    history = History(passages=(Passage("b", R, 2, 2.5),), executions=executions, losses=(LOSS,))
    assert len(list(executed_twice(history))) == 1


def told(decision: str, outcome: str = "", status: int = 200, id: str = "a") -> Call:
    return Call(id, "write", R, 0, 1, "k", 1, status, decision, outcome)


ACKNOWLEDGED = {
    "applied, and done": (told("forwarded", "applied"), Execution("a", R, 1, 0.5, "k"), 0),
    "applied, and not done": (told("forwarded", "applied"), None, 1),
    "applied, and done by another request only": (told("forwarded", "applied"), Execution("b", R, 1, 0.5, "k"), 1),
    "replayed, and done by another request": (told("replayed"), Execution("b", R, 1, 0.5, "k"), 0),
    "replayed, and never done": (told("replayed"), None, 1),
    "not applied, and not done": (told("forwarded", "not_applied", 422), None, 0),
    "unknown, and not done": (told("outcome-unknown", status=504), None, 0),
}


@pytest.mark.parametrize(("call", "execution", "times"), ACKNOWLEDGED.values(), ids=ACKNOWLEDGED)
def test_lost_acknowledgements(call: Call, execution: Execution | None, times: int) -> None:
    """What a caller was told to be done is done."""
    executions = (execution,) if execution is not None else ()
    assert len(list(lost_acknowledgements(History((call,), executions=executions)))) == times


def test_an_api_that_refuses_the_second_answers_it_as_done() -> None:
    """There a write is acknowledged whichever of its attempts was executed."""
    call = Call("a", "write", "native/1", 0, 2, "k", 1, 200, "forwarded", "applied")
    executions = (Execution("b", "native/1", 1, 0.5, "k"),)

    assert list(lost_acknowledgements(History((call,), executions=executions))) == []


REFUSED = {
    "stale, and never came": (told("stale-epoch", status=412), False, False, 0),
    "stale, and came": (told("stale-epoch", status=412), True, False, 1),
    "unreachable, and came": (told("upstream-unreachable", status=502), True, False, 1),
    "held for unknown, and came": (told("outcome-unknown", status=409), True, False, 1),
    "unknown, and came": (told("outcome-unknown", status=504), True, True, 0),
    "refused by the API": (told("forwarded", "not_applied", 422), True, False, 0),
    "refused by the API, and done": (told("forwarded", "not_applied", 422), True, True, 1),
}


@pytest.mark.parametrize(("call", "came", "done", "times"), REFUSED.values(), ids=REFUSED)
def test_refused_and_sent(call: Call, came: bool, done: bool, times: int) -> None:
    """What a caller was told to be refused never came to the API, or had no effect there."""
    passages = (Passage("a", R, 1, 0.5),) if came else ()
    executions = (Execution("a", R, 1, 0.6, "k"),) if done else ()
    assert len(list(refused_and_sent(History((call,), passages, executions)))) == times


@pytest.mark.parametrize(
    ("decision", "intent", "times"),
    [("replayed", "", 0), ("store-unavailable", "", 0), ("stale-epoch", "", 1), ("lease-expired", "queued", 0)],
)
def test_what_was_taken_may_be_sent_before_its_caller_is_told(decision: str, intent: str, times: int) -> None:
    """The answer of its own delivery, that the store could not say whether it was taken, or that it was."""
    call = Call("a", "write", "queued/1", 0, 1, "k", 1, 200, decision, intent=intent)
    passages = (Passage("a", "queued/1", 1, 0.5),)
    assert len(list(refused_and_sent(History((call,), passages)))) == times


@pytest.mark.parametrize(
    ("call", "times"),
    [
        (told("forwarded", "applied"), 0),
        (told("internal-error", status=500), 1),
        (told("", status=500), 1),
        (Call("a", "write", R, 0, 1), 0),
    ],
    ids=["decided", "a fault", "nothing was decided", "no answer"],
)
def test_faulty_answers(call: Call, times: int) -> None:
    """An answer says what was decided, and that is never that the gateway failed."""
    assert len(list(faulty_answers(History((call,))))) == times


@pytest.mark.parametrize(("decision", "times"), [("passed", 0), ("upstream-timeout", 0), ("store-unavailable", 1)])
def test_refused_reads(decision: str, times: int) -> None:
    """A read fails with its API alone."""
    call = Call("a", "read", R, 0, answered=1, status=200, decision=decision)
    assert len(list(refused_reads(History((call,))))) == times
