"""One write whose store is away, whose gateway slept or is stopped, or whose answer comes late: its ticket ends."""

import pytest

from gateway.core.outcome import LateAnswer, NoReply, NotSent, Overdue
from tests.flow.playing import AWAY, BEFORE, STOPPED, TOLD, answer, large, play
from tests.playbook.script import STUCK
from tests.playbook.store import ADMIT, SETTLED, Settle


async def test_late_is_asked_again() -> None:
    """A gateway that slept past the deadline gives the ticket back unsent and asks anew, under a new deadline."""
    played = play(NotSent("late", "late"), answer(), admit=[ADMIT, ADMIT], settle=[SETTLED, SETTLED])

    await played.run()

    again = ["settle t1 not_applied: late", "admit t2", "proceed", "send t2"]
    assert played.said == [
        *BEFORE,
        *again,
        "read small",
        "settle t2 applied: answered 200",
        "reply applied ok",
        "close",
    ]
    first, second = played.sender.deadlines
    assert first.boot < second.boot


async def test_late_three_times_is_the_end() -> None:
    """The caller is told that nothing was sent; no ticket is left."""
    late = NotSent("late", "late")
    played = play(late, late, late, admit=[ADMIT] * 3, settle=[SETTLED] * 3)

    await played.run()

    assert played.said == [
        *("admit t1", "proceed", "send t1", "settle t1 not_applied: late"),
        *("admit t2", "proceed", "send t2", "settle t2 not_applied: late"),
        *("admit t3", "proceed", "send t3", "settle t3 not_applied: late"),
        "refuse upstream-unreachable",
    ]


async def test_a_store_that_is_away_at_admission_means_no_write() -> None:
    """The lost admission is ended as never sent; the caller may come again."""
    played = play(admit=[AWAY])

    await played.run()

    assert played.said == ["admit t1", "refuse store-unavailable", "abandon t1"]


async def test_an_abandoned_ticket_that_cannot_be_ended_is_left_to_its_deadline() -> None:
    """Abandoning is an attempt; it fails quietly."""
    played = play(admit=[AWAY], abandon=[AWAY])

    await played.run()

    assert played.said == ["admit t1", "refuse store-unavailable", "abandon t1"]


async def test_a_store_that_is_away_at_settling_is_settled_later() -> None:
    """The caller gets its answer; the ticket is settled with the same outcome as soon as the store is back."""
    played = play(answer(), settle=[AWAY, AWAY, Settle(overtaken=True)])

    await played.run()

    settle = "settle t1 applied: answered 200"
    assert played.said == [*BEFORE, "read small", settle, "reply applied ok", "close", settle, settle]
    assert played.counted.said == ["sent", "ended", "overtaken"]


@pytest.mark.parametrize(
    ("replied", "late"),
    [
        (None, []),
        (LateAnswer(200, (), b"done"), ["settle t1 applied: answered 200, late"]),
        (LateAnswer(409, (), b"no"), ["settle t1 not_applied: answered 409, late"]),
    ],
    ids=["none comes", "applied", "not applied"],
)
async def test_a_late_answer_is_recorded(replied: LateAnswer | None, late: list[str]) -> None:
    """The caller was told that the outcome is unknown; first that is recorded, then what the answer proves."""

    async def listen(keep: int) -> LateAnswer | None:
        assert keep == 0, "no answer is kept of a write without a key"
        return replied

    settle = "settle t1 unknown, unfinished: too slow"
    played = play(Overdue(NoReply("timeout", "too slow"), listen), settle=[SETTLED] * 3)

    await played.run()

    repeated = [settle, *late] if late else []
    assert played.said == [*BEFORE, settle, "refuse outcome-unknown", *repeated]


@pytest.mark.parametrize(
    ("line", "evidence", "store", "ends"),
    [
        ("admit t1", answer(), {"admit": [STUCK]}, ["abandon t1"]),
        ("send t1", STUCK, {}, [TOLD, STOPPED]),
        ("read small", answer(small=STUCK), {}, ["close", TOLD, STOPPED]),
        ("read on", large(STUCK), {}, ["close", STOPPED]),
        (
            "settle t1 applied: answered 200",
            answer(),
            {"settle": [STUCK, SETTLED]},
            ["close", TOLD, "settle t1 applied: answered 200"],
        ),
        (
            "settle t1 unknown, unfinished: lost",
            NoReply("closed", "lost"),
            {"settle": [STUCK, SETTLED]},
            [TOLD, "settle t1 unknown, unfinished: lost"],
        ),
        (
            "settle t1 not_applied: nobody listens",
            NotSent("unreachable", "nobody listens"),
            {"settle": [STUCK, SETTLED]},
            ["refuse upstream-unreachable", "settle t1 not_applied: nobody listens"],
        ),
        (
            "settle t1 not_applied: too late",
            NotSent("late", "too late"),
            {"settle": [STUCK, SETTLED]},
            ["refuse upstream-unreachable", "settle t1 not_applied: too late"],
        ),
        ("send t1", STUCK, {"settle": [AWAY, SETTLED]}, [TOLD, STOPPED, STOPPED]),
    ],
    ids=[
        "asking the store",
        "sending",
        "waiting for a small answer",
        "relaying a large answer",
        "settling what was proved",
        "settling what is unknown",
        "settling what was not sent",
        "settling what was too late to be sent",
        "sending, and the store is away",
    ],
)
async def test_stopped_anywhere_the_ticket_is_still_ended(
    line: str, evidence: object, store: dict[str, list[object]], ends: list[str]
) -> None:
    """Either nothing was sent and the ticket is abandoned, or it is settled with what is known, else as unknown; a
    caller that has no answer yet is told that nobody knows, but for what is proved not to have been sent."""
    played = play(evidence, **store)

    await played.cancelled_at(line)

    assert played.said[played.said.index(line) + 1 :] == ends
