"""What a run amounts to."""

from tests.history.figures import count
from tests.history.history import Call, History, Loss


def test_recovery_is_the_time_to_the_next_applied_write() -> None:
    """Of each kind of fault the median and the longest."""
    answered = (1.0, 2.5, 4.0)
    calls = tuple(
        Call(str(at), "write", "serial/1", at - 0.1, 7, None, at, 200, "forwarded", "applied") for at in answered
    )
    log = [
        {"event": "fault", "kind": "kill-store", "at": 1.0},
        *({"event": "healed", "kind": "kill-store", "at": at} for at in (1.5, 3.8, 9.0)),
    ]

    figures = count(History(calls), log, 0)

    assert figures.faults == {"kill-store": 1}
    assert figures.recovery_s == {"kill-store": (0.6, 1.0)}


def test_calls_are_counted_by_kind_and_by_what_they_were_told() -> None:
    """Those that were never answered too."""
    calls = (
        Call("a", "write", "serial/1", 0.0, 7, None, 1.0, 412, "stale-epoch"),
        Call("b", "write", "serial/1", 0.0, 7),
        Call("c", "read", "serial/1", 0.0, None, None, 1.0, 200, "passed"),
        Call("d", "renew", "serial/1", 0.0, 7, None, 1.0, 200, "renewed"),
    )

    figures = count(History(calls), [], 2)

    assert (figures.writes, figures.reads, figures.leases, figures.unanswered) == (2, 1, 1, 1)
    assert figures.decisions == {"stale-epoch": 1, "passed": 1, "renewed": 1}
    assert "violations: 2" in list(figures.lines())


def test_after_a_failover_the_first_write_counts_that_was_asked_for_since() -> None:
    """One that was asked for before may have been admitted by the former primary."""
    calls = (
        Call("a", "write", "serial/1", 0.5, 7, None, 1.5, 200, "forwarded", "applied"),
        Call("b", "write", "serial/1", 1.2, 7, None, 3.0, 200, "forwarded", "applied"),
    )
    log = [{"event": "promoted", "since": 0.0, "at": 1.0}, {"event": "promoted", "since": 0.0, "at": 4.0}]

    figures = count(History(calls, losses=(Loss(0.0, 1.1),)), log, 0)

    assert (figures.promotions, figures.losses, figures.promoted_s) == (2, 1, (2.0, 2.0))
    assert "first write asked for after a failover: 2.00 s, at most 2.00 s" in list(figures.lines())


def test_what_did_not_happen_is_not_told() -> None:
    """A run without failovers says nothing of them."""
    assert not any("failover" in line for line in count(History(), [], 0).lines())
