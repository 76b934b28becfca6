"""The promises as predicates, on worlds that are made by hand."""

import pytest

from gateway.store.keys import intent_id
from tests.model.explore import promises
from tests.model.explore.gateway import RESOURCE
from tests.model.explore.promises import Books
from tests.model.explore.questions import INTENT, ticket_of
from tests.model.explore.shelf import State
from tests.model.explore.world import Attempt, Bounds, Slot, Token, World, beginning

OLD, NEW = Token(41, None), Token(42, None)
OF_A = Attempt(Slot(0, True, 0), 0, OLD)
OF_B = Attempt(Slot(1, True, 0), 0, NEW)
PLAIN = Attempt(Slot(0, False, 0), 0, OLD)
NOTHING = Books({}, ())


def world(*attempts: Attempt) -> World:
    made = beginning(Bounds("header"), State(()))
    for attempt in attempts:
        made = made.with_attempt(attempt)
    return made


def test_the_ids_are_the_products_own() -> None:
    assert intent_id(RESOURCE, INTENT[3:]) == INTENT
    assert len({ticket_of(one.slot) for one in (OF_A, OF_B, PLAIN)}) == 3


def test_an_older_epoch_is_admitted_after_a_newer_one() -> None:
    """G1 where it was seen, G2 where it was granted."""
    assert promises.at_admission(world()._replace(seen=41, granted=41), OF_A) == ()
    assert [broken[:2] for broken in promises.at_admission(world()._replace(seen=42, granted=42), OF_A)] == ["G1", "G2"]


ORDERS = {
    "an older write is on its way": (OF_A._replace(stage="sent", arrived="whole"), OF_B, True),
    "an older write has been answered": (
        OF_A._replace(stage="settling", arrived="executed", outcome="applied", proved=True),
        OF_B,
        False,
    ),
    "an older write's time is over": (
        OF_A._replace(stage="sent", arrived="whole", left_ms=0, proved=True),
        OF_B,
        False,
    ),
    "a newer write was forwarded": (OF_B._replace(stage="done", arrived="refused", proved=True), OF_A, True),
    "a newer write was only admitted": (OF_B._replace(stage="admitted"), OF_A, False),
}


@pytest.mark.parametrize("case", ORDERS)
def test_a_write_is_forwarded_out_of_order(case: str) -> None:
    """G3: not while an older one is in flight, and not after a newer one."""
    other, attempt, is_broken = ORDERS[case]
    assert bool(promises.in_order(world(other, attempt), attempt)) == is_broken


SENT_BEFORE = {
    "and may have acted": (OF_A._replace(stage="dead", arrived="whole", left_ms=0), True),
    "and has refused": (OF_A._replace(stage="done", arrived="refused", outcome="not_applied", proved=True), False),
    "and somebody knows that it has not acted": (OF_A._replace(stage="done", arrived="dropped", proved=True), False),
    "and was not sent": (OF_A._replace(stage="dead"), False),
}


@pytest.mark.parametrize("case", SENT_BEFORE)
def test_an_intent_is_sent_again(case: str) -> None:
    """G4: only where it is proved that it was not applied."""
    other, is_broken = SENT_BEFORE[case]
    assert bool(promises.sent_once(world(other, OF_B), OF_B)) == is_broken


def test_an_intent_takes_effect_twice() -> None:
    """G4, at the upstream."""
    executed = [one._replace(arrived="executed") for one in (OF_A, OF_B)]
    assert promises.at_execution(world(executed[0])) == ()
    assert promises.at_execution(world(*executed)) == ("G4: the intent took effect twice",)


DONE = OF_A._replace(stage="done", arrived="executed", outcome="applied")
UNSENT = OF_A._replace(stage="dead")
SENT = PLAIN._replace(stage="dead", arrived="whole")
BOOKS: dict[str, tuple[Attempt, dict[str, str], dict[str, str], str]] = {
    "what was executed is applied": (DONE, {INTENT: "applied"}, {INTENT: "applied"}, ""),
    "what was executed is unknown": (DONE, {INTENT: "unknown"}, {INTENT: "unknown"}, ""),
    "what was executed was not applied": (DONE, {INTENT: "not_applied"}, {INTENT: "not_applied"}, "and may be"),
    "what was not executed is applied": (UNSENT, {INTENT: "applied"}, {INTENT: "applied"}, "nothing was executed"),
    "what was sent is forgotten": (SENT, {}, {}, "nobody is told"),
    "what was sent is unknown once it is swept": (SENT, {}, {ticket_of(SENT.slot): "unknown"}, ""),
    "what is in flight stays so": (UNSENT, {INTENT: "in_flight"}, {INTENT: "in_flight"}, "for ever"),
}


@pytest.mark.parametrize("case", BOOKS)
def test_records_are_honest(case: str) -> None:
    """G5: in the end everything is applied, not applied or unknown, and is what it is said to be."""
    attempt, now, at_last, expected = BOOKS[case]
    broken = " ".join(promises.of_records(world(attempt), INTENT, Books(now, ()), Books(at_last, ())))
    assert expected in broken if expected else not broken


def test_of_a_write_without_a_key_nothing_is_kept_once_it_is_applied() -> None:
    """While its ticket is there, the store does not know."""
    applied = PLAIN._replace(stage="settling", arrived="executed", outcome="applied")
    assert promises.of_records(world(applied), INTENT, NOTHING, NOTHING) == ()
    assert promises.of_records(world(applied), INTENT, Books({}, [ticket_of(PLAIN.slot)]), NOTHING) != ()
