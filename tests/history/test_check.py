"""The checker as a whole: a history in which all is well, and what one slip in it costs."""

import dataclasses

from tests.history.check import RULES, check
from tests.history.history import Call, Execution, Fence, History, Intent, Passage

R = "serial/1"
# A takes a lease and writes; B takes over, and A, who does not know, is refused; B goes on with what A had begun.
GOOD = History(
    calls=(
        Call("a1", "grant", R, 0.0, answered=0.1, status=201, decision="granted", granted=7),
        Call("a2", "write", R, 0.2, 7, "k", 0.5, 200, "forwarded", "applied"),
        Call("b1", "grant", R, 1.0, answered=1.1, status=201, decision="granted", granted=8),
        Call("a3", "write", R, 1.2, 7, None, 1.3, 412, "stale-epoch"),
        Call("b2", "write", R, 1.4, 8, "k", 1.5, 200, "replayed"),
        Call("b3", "write", R, 1.6, 8, None, 1.9, 200, "forwarded", "applied"),
        Call("b4", "write", R, 2.0, 8, "l", 4.0, 504, "outcome-unknown"),
    ),
    passages=(
        Passage("a2", R, 7, 0.3, 0.3, answered=0.4),
        Passage("b3", R, 8, 1.7, 1.7, answered=1.8),
        Passage("b4", R, 8, 2.1, 2.1, closed=4.0),
    ),
    executions=(Execution("a2", R, 7, 0.35, "k"), Execution("b3", R, 8, 1.75), Execution("b4", R, 8, 2.2, "l")),
    intents=(Intent("i", R, "applied", "k"), Intent("j", R, "unknown", "l")),
    fences={R: Fence(8, endings={7: 1, 8: 2})},
)


def test_a_good_history_breaks_nothing() -> None:
    """A takeover, a refusal, a replay and an unknown write are what the promises allow."""
    assert check(GOOD) == []


def test_a_slip_is_named_with_its_evidence() -> None:
    """A's late write came to the API: every rule that this breaks says so, and shows it."""
    late = Passage("a3", R, 7, 1.75, 1.75, answered=1.76)
    found = check(dataclasses.replace(GOOD, passages=(*GOOD.passages, late)))

    assert {violation.rule for violation in found} == {
        "an older write began after a newer one",
        "two writes were under way at once",
        "a write was forwarded after a newer lease had been granted",
        "a write was refused as not forwarded, and was forwarded",
    }
    assert all("a3" in str(violation) for violation in found)


def test_every_rule_is_asked() -> None:
    """Each is there once; an empty history breaks none."""
    assert len(set(RULES)) == len(RULES) == 16
    assert check(History()) == []
