"""G1, G2, G3 and G7 as rules over histories: which are good and which are not."""

import pytest

from tests.history.history import Call, Execution, History, Loss, Passage
from tests.history.order import (
    falling_arrivals,
    falling_executions,
    grants_that_do_not_grow,
    overlaps,
    overtaken_writes,
)

R = "serial/1"


def call(id: str, at: float, epoch: int, resource: str = R) -> Call:
    return Call(id, "write", resource, at, epoch)


def grant(id: str, at: float, answered: float, epoch: int, resource: str = R) -> Call:
    return Call(id, "grant", resource, at, answered=answered, status=201, decision="granted", granted=epoch)


ARRIVALS = {
    "each epoch is newer than the one before": ((Passage("a", R, 1, 0, 0), Passage("b", R, 2, 1, 1)), 0),
    "an epoch writes twice": ((Passage("a", R, 1, 0, 0), Passage("b", R, 1, 1, 1)), 0),
    "other resources have epochs of their own": ((Passage("a", R, 2, 0), Passage("b", "serial/2", 1, 1)), 0),
    "an older one begins after a newer one": ((Passage("a", R, 2, 0), Passage("b", R, 1, 1)), 1),
    "each older one after a newer one counts": ((Passage("a", R, 2, 0), *(Passage("b", R, 1, at) for at in (1, 2))), 2),
    "an older one gets its last byte after a newer one began": (
        (Passage("a", R, 1, 0, whole=3), Passage("b", R, 2, 1, 1)),
        1,
    ),
    "an older one that is never whole ended where it was": ((Passage("a", R, 1, 0), Passage("b", R, 2, 1, 1)), 0),
}


@pytest.mark.parametrize(("passages", "times"), ARRIVALS.values(), ids=ARRIVALS)
def test_arrivals(passages: tuple[Passage, ...], times: int) -> None:
    """At the API's door no older write begins or ends once a newer one has begun."""
    assert len(list(falling_arrivals(History(passages=passages)))) == times


@pytest.mark.parametrize(("resource", "times"), [("bare/1", 0), (R, 1)])
def test_arrivals_after_a_loss(resource: str, times: int) -> None:
    """An epoch from elsewhere may be forgotten, and an operator let older ones go on; a lease's never is."""
    passages = Passage("a", resource, 2, 0), Passage("b", resource, 1, 4)
    history = History(passages=passages, losses=(Loss(0, 2, accepted=3),))
    assert len(list(falling_arrivals(history))) == times


EXECUTIONS = {
    "in order": ((Execution("a", R, 1, 0.5), Execution("b", R, 2, 1.5)), None, 0),
    "an older one after a newer one": ((Execution("b", R, 2, 0.5), Execution("a", R, 1, 1.5)), None, 1),
    "an older one that its gateway had given up": ((Execution("b", R, 2, 0.5), Execution("a", R, 1, 1.5)), 1.0, 0),
    "an older one after its time was over": ((Execution("b", R, 2, 0.5), Execution("a", R, 1, 2.5)), None, 0),
}


@pytest.mark.parametrize(("executions", "closed", "times"), EXECUTIONS.values(), ids=EXECUTIONS)
def test_executions(executions: tuple[Execution, ...], closed: float | None, times: int) -> None:
    """What takes effect does so in the order of epochs, unless the API acts on what its gateway has given up."""
    passages = Passage("a", R, 1, 0.1, closed=closed), Passage("b", R, 2, 0.2)
    history = History((call("a", 0, 1), call("b", 0, 2)), passages, executions, total_s=2)

    assert len(list(falling_executions(history))) == times


OVERLAPS = {
    "the one before was answered": (R, (1, 1), {"answered": 1.0}, 0),
    "the one before lost its connection": (R, (1, 1), {"closed": 1.0}, 0),
    "two of one epoch": (R, (1, 1), {"answered": 1.6}, 1),
    "two of two epochs": (R, (1, 2), {"answered": 1.6}, 1),
    "two of one epoch, never answered": (R, (1, 1), {}, 1),
    "two of one epoch of a parallel resource": ("parallel/1", (1, 1), {"answered": 1.6}, 0),
    "two of two epochs of a parallel resource": ("parallel/1", (1, 2), {"answered": 1.6}, 1),
}


@pytest.mark.parametrize(("resource", "epochs", "ends", "times"), OVERLAPS.values(), ids=OVERLAPS)
def test_overlaps(resource: str, epochs: tuple[int, int], ends: dict[str, float], times: int) -> None:
    """A write begins once those that it has to wait for are over, by their answer or their connection's end."""
    calls = call("a", 0, epochs[0], resource), call("b", 1, epochs[1], resource)
    passages = Passage("a", resource, epochs[0], 0.5, **ends), Passage("b", resource, epochs[1], 1.5, answered=1.7)

    assert len(list(overlaps(History(calls, passages, total_s=2)))) == times


def test_a_write_whose_time_is_over_is_under_way_no_more() -> None:
    """Past its deadline the gateway may let the next one go, though the API still has the connection."""
    calls = call("a", 0, 1), call("b", 1, 2)
    passages = Passage("a", R, 1, 0.5), Passage("b", R, 2, 2.1, answered=2.2)

    assert list(overlaps(History(calls, passages, total_s=2))) == []


OVERTAKEN = {
    "sent before the newer grant was answered": (0.9, True, R, 0),
    "sent afterwards and refused": (1.1, False, R, 0),
    "sent afterwards and forwarded": (1.1, True, R, 1),
    "sent to another resource": (1.1, True, "serial/2", 0),
    "taken afterwards, to be sent under its successor's epoch": (1.1, True, "queued/1", 0),
}


@pytest.mark.parametrize(("sent", "came", "resource", "times"), OVERTAKEN.values(), ids=OVERTAKEN)
def test_overtaken_writes(sent: float, came: bool, resource: str, times: int) -> None:
    """From the moment at which a holder has its lease, what older ones send is not forwarded."""
    of = resource if resource.startswith("queued") else R
    calls = grant("g", 0.5, 1.0, 2, of), call("a", sent, 1, resource)
    passages = (Passage("a", resource, 1, sent + 0.1),) if came else ()

    assert len(list(overtaken_writes(History(calls, passages)))) == times


FORGOTTEN = {
    "before the loss is told": (Loss(0.4, 3.0), 0),
    "after the loss was told": (Loss(0.4, 1.5), 1),
    "the grant was in step": (Loss(1.2, 3.0), 1),
}


@pytest.mark.parametrize(("loss", "times"), FORGOTTEN.values(), ids=FORGOTTEN)
def test_a_grant_that_was_lost_holds_from_the_moment_at_which_that_is_told(loss: Loss, times: int) -> None:
    """A store that loses what it acknowledged is noticed a moment later."""
    calls = grant("g", 0.5, 1.0, 2), call("a", 2.0, 1)
    history = History(calls, (Passage("a", R, 1, 2.1),), losses=(loss,))

    assert len(list(overtaken_writes(history))) == times


GRANTS = {
    "one after the other": ((grant("a", 0, 1, 5), grant("b", 2, 3, 6)), 0),
    "at the same time, in any order": ((grant("a", 0, 2, 6), grant("b", 1, 3, 5)), 0),
    "the same epoch": ((grant("a", 0, 1, 5), grant("b", 2, 3, 5)), 1),
    "a smaller epoch later": ((grant("a", 0, 1, 6), grant("b", 2, 3, 5)), 1),
    "the same epoch of another resource": ((grant("a", 0, 1, 5), grant("b", 2, 3, 5, "serial/2")), 0),
}


@pytest.mark.parametrize(("calls", "times"), GRANTS.values(), ids=GRANTS)
def test_grants(calls: tuple[Call, ...], times: int) -> None:
    """No epoch is granted twice, and epochs grow."""
    assert len(list(grants_that_do_not_grow(History(calls)))) == times
