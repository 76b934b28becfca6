"""One write from admission to reply, as a whole conversation with store, upstream and caller."""

import asyncio
from dataclasses import dataclass

import pytest

from gateway.core.clock import Deadline
from gateway.core.decision import STALE_EPOCH, Refused
from gateway.core.faults import BrokenAnswer, CallerGone, StoreUnavailable
from gateway.core.outcome import LateAnswer, NoReply, NotSent, Overdue
from gateway.core.rule import Limits, Rule, Upstream
from gateway.core.write import Waiting
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.inline import Inline
from gateway.flow.marks import Marks
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from tests.playbook import (
    ADMIT,
    RULE,
    SETTLED,
    STUCK,
    UPSTREAM,
    Admit,
    Counted,
    NoBody,
    ScriptedAnswer,
    ScriptedCaller,
    ScriptedSender,
    ScriptedStore,
    Settle,
    Transcript,
    request,
    unpaused,
    write,
)

TOLD = "refuse outcome-unknown"
STOPPED = "settle t1 unknown: the gateway was stopped while the write was in flight"
AWAY = StoreUnavailable("away")


@dataclass
class Play:
    """One write under scripts; `said` is the conversation."""

    said: Transcript
    sender: ScriptedSender
    store: ScriptedStore
    caller: ScriptedCaller
    rule: Rule = RULE

    def __post_init__(self) -> None:
        self.counted, self.tasks, clock = Counted(), Tasks(), BootClock()
        admission = Admission(self.store, clock, Wakes(), self.tasks, unpaused(self.store))
        self.inline = Inline(admission, self.store, self.sender, clock, self.tasks, self.counted)

    async def run(self) -> Marks | Refused:
        try:
            return await self.inline.run(write(self.rule), request(), NoBody(), self.caller)
        finally:
            assert await self.tasks.drain(5) == 0

    async def cancelled_at(self, line: str) -> None:
        """Stop the gateway's handler where the conversation stands at `line`."""
        running = asyncio.ensure_future(self.run())
        await self.said.until(line)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


def play(
    *evidence: object,
    rule: Rule = RULE,
    takes: tuple[bool, ...] = (),
    gone: tuple[bool, ...] = (),
    **store: list[object],
) -> Play:
    said = Transcript()
    for each in evidence:
        if isinstance(each, ScriptedAnswer):
            each.said = said
    scripts = {"admit": [ADMIT], "settle": [SETTLED], "abandon": [None]} | store
    sender, caller = ScriptedSender(said, *evidence), ScriptedCaller(said, takes, gone)
    return Play(said, sender, ScriptedStore(said, **scripts), caller, rule)


def answer(status: int = 200, **fields: object) -> ScriptedAnswer:
    return ScriptedAnswer(Transcript(), status, **fields)


def large(*pieces: object) -> ScriptedAnswer:
    return answer(small=(b"one", False), pieces=pieces)


BEFORE = ["admit t1", "proceed", "send t1"]


@pytest.mark.parametrize(
    ("evidence", "rest"),
    [
        (answer(), ["read small", "settle t1 applied: answered 200", "reply applied ok", "close"]),
        (answer(412), ["read small", "settle t1 not_applied: answered 412", "reply not_applied ok", "close"]),
        (answer(503), ["read small", "settle t1 unknown: answered 503", "reply unknown ok", "close"]),
        (
            answer(small=BrokenAnswer("reset")),
            ["read small", "settle t1 unknown: reset", "refuse outcome-unknown", "close"],
        ),
        (NoReply("timeout", "too slow"), ["settle t1 unknown: too slow", "refuse outcome-unknown"]),
        (NoReply("closed", "closed"), ["settle t1 unknown: closed", "refuse outcome-unknown"]),
        (NotSent("unreachable", "refused"), ["settle t1 not_applied: refused", "refuse upstream-unreachable"]),
        (NotSent("caller-broke", "gone"), ["settle t1 not_applied: gone", "refuse upstream-unreachable"]),
        (
            large(b"two", b""),
            [
                *("read small", "begin applied", "write one in time", "read on", "write two in time", "read on"),
                *("settle t1 applied: answered 200", "end", "close"),
            ],
        ),
        (
            large(BrokenAnswer("cut off")),
            [
                *("read small", "begin applied", "write one in time", "read on", "abort"),
                *("settle t1 unknown: cut off", "close"),
            ],
        ),
        (
            answer(is_stream=True, small=(b"", False), pieces=(b"",)),
            ["read at once", "begin applied", "read on", "settle t1 applied: answered 200", "end", "close"],
        ),
    ],
    ids=[
        "applied",
        "refused by the upstream",
        "an answer that proves nothing",
        "an answer that breaks off",
        "no answer in time",
        "closed without an answer",
        "not reached",
        "the caller's body broke off before the first byte",
        "a large answer",
        "a large answer that breaks off",
        "an event stream is not held back",
    ],
)
async def test_an_admitted_write_is_sent_once_and_settled_with_what_was_proved(
    evidence: object, rest: list[str]
) -> None:
    """Small answers are told after settling, large ones as they come; either is settled exactly once."""
    played = play(evidence)

    await played.run()

    assert played.said == BEFORE + rest
    assert played.counted.said == ["sent", "ended"]


async def test_a_refused_write_is_never_sent() -> None:
    """The store's word is passed on, and nobody else is asked."""
    refused = Refused(STALE_EPOCH, "d")
    played = play(admit=[refused])

    assert await played.run() is refused
    assert played.said == ["admit t1", "refuse stale-epoch"]
    assert played.counted.said == []


async def test_a_caller_that_left_before_admission_leaves_nothing() -> None:
    """The store is not even asked."""
    played = play(gone=(True,))

    with pytest.raises(CallerGone):
        await played.run()
    assert played.said == []


@pytest.mark.parametrize(
    ("takes", "written"),
    [
        ((False,), ["write one in time", "abort", "read on", "read on"]),
        ((True, False), ["write one in time", "read on", "write two in time", "abort", "read on"]),
    ],
    ids=["at the first piece", "at the second piece"],
)
@pytest.mark.parametrize(
    ("last", "settled"),
    [(b"", "settle t1 applied: answered 200"), (BrokenAnswer("cut off"), "settle t1 unknown: cut off")],
    ids=["whole", "cut off"],
)
async def test_a_slow_caller_is_cut_off_and_the_answer_read_to_its_end(
    takes: tuple[bool, ...], written: list[str], last: object, settled: str
) -> None:
    """The outcome never depends on the caller's pace."""
    played = play(large(b"two", last), takes=takes)

    await played.run()

    assert played.said == [*BEFORE, "read small", "begin applied", *written, settled, "close"]


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


async def test_an_overtaken_write_is_counted() -> None:
    """A newer epoch came while it was in flight: it ends as what was proved, and is counted."""
    played = play(answer(), settle=[Settle(overtaken=True)])

    await played.run()

    assert played.counted.said == ["sent", "overtaken", "ended"]


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

    settle = "settle t1 unknown: too slow"
    played = play(Overdue(NoReply("timeout", "too slow"), listen), settle=[SETTLED] * 3)

    await played.run()

    repeated = [settle, *late] if late else []
    assert played.said == [*BEFORE, settle, "refuse outcome-unknown", *repeated]


async def test_a_body_over_the_limit_of_which_nothing_was_sent_is_too_large() -> None:
    """Proved not applied; to send it again would not help."""
    limited = Upstream("u", UPSTREAM.origin, limits=Limits(stream=10))
    played = play(NotSent("too-large", "x"), rule=Rule("r", limited))

    await played.run()

    assert played.said == [*BEFORE, "settle t1 not_applied: x", "refuse body-too-large"]


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
            "settle t1 unknown: lost",
            NoReply("closed", "lost"),
            {"settle": [STUCK, SETTLED]},
            [TOLD, "settle t1 unknown: lost"],
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
        "sending, and the store is away",
    ],
)
async def test_stopped_anywhere_the_ticket_is_still_ended(
    line: str, evidence: object, store: dict[str, list[object]], ends: list[str]
) -> None:
    """Either nothing was sent and the ticket is abandoned, or it is settled with what is known, else as unknown; a
    caller that has no answer yet is told that nobody knows."""
    played = play(evidence, **store)

    await played.cancelled_at(line)

    assert played.said[played.said.index(line) + 1 :] == ends


@pytest.mark.parametrize(
    ("evidence", "settled", "shown"),
    [
        (answer(), Settle(revision=8), 8),
        (answer(409), Settle(revision=7), 7),
        (large(b""), Settle(revision=8), 8),
        (answer(404, small=(b"one", False), pieces=(b"",)), Settle(revision=7), 7),
    ],
    ids=["applied", "not applied", "large: foretold", "large and not applied: foretold"],
)
async def test_a_counted_write_shows_the_revision_after_it(evidence: object, settled: Settle, shown: int) -> None:
    """Where the gateway counts, the caller is told the count that includes its own write."""
    rule = Rule("r", UPSTREAM, revision="gateway")
    played = play(evidence, rule=rule, admit=[Admit(7)], settle=[settled])

    await played.run()

    assert [marks.revision for marks in played.caller.marks] == [shown]


async def test_a_refusal_says_what_happened() -> None:
    """Unknown names the ticket to ask an operator about, and warns against sending again."""
    played = play(NoReply("timeout", "too slow"))

    await played.run()

    (refused,) = played.caller.refusals
    assert (refused.facts.intent, refused.facts.epoch, refused.facts.resource) == ("t1", 42, "report/7")
    assert "may or may not have happened" in refused.detail and "Do not send it again" in refused.detail
    assert (refused.why, "too slow" in refused.detail) == ("too slow", False)


class Told(BootClock):
    """A clock that the conversation turns: so many seconds pass at each of these lines."""

    def __init__(self, passes: dict[str, float]) -> None:
        self.now = 1000.0
        self._passes = passes

    def boot(self) -> float:
        return self.now

    def after(self, seconds: float) -> Deadline:
        return Deadline(self.now + seconds, self.now + seconds)

    def left(self, deadline: Deadline) -> float:
        return deadline.boot - self.now

    def hear(self, line: str) -> None:
        self.now += next((seconds for begin, seconds in self._passes.items() if line.startswith(begin)), 0.0)


class Heard(Transcript):
    """What is said turns the clock."""

    def __init__(self, clock: Told) -> None:
        super().__init__()
        self._clock = clock

    def say(self, line: str) -> None:
        super().say(line)
        self._clock.hear(line)


@pytest.mark.parametrize(
    ("admit", "passes", "elsewhere_s"),
    [
        ([ADMIT], {"read small": 2.0}, 2.0),
        ([ADMIT], {"read small": 2.0, "settle": 4.0}, 2.0),
        ([ADMIT], {"admit t1": 8.0, "read small": 2.0}, 2.0),
        ([Waiting("busy", 0), ADMIT], {"admit t1": 16.0, "read small": 2.0}, 18.0),
    ],
    ids=["the upstream's time", "the store's is the gateway's own", "at admission too", "waiting for others is not"],
)
async def test_what_is_not_the_gateways_own_time_is_told(
    admit: list[object], passes: dict[str, float], elsewhere_s: float
) -> None:
    """What is left of the request's time is what the gateway adds to it."""
    clock = Told(passes)
    said = Heard(clock)
    sent = answer()
    sent.said = said
    store, tasks = ScriptedStore(said, admit=admit, settle=[SETTLED]), Tasks()
    admission = Admission(store, clock, Wakes(), tasks, unpaused(store))
    inline = Inline(admission, store, ScriptedSender(said, sent), clock, tasks, Counted())

    told = await inline.run(write(), request(), NoBody(), ScriptedCaller(said, (), ()))

    assert isinstance(told, Marks)
    assert told.elsewhere_s == elsewhere_s


async def test_a_large_answer_says_nothing_of_the_gateways_own_time() -> None:
    """It is passed on at its caller's pace."""
    told = await play(large(b"two", b"")).run()

    assert isinstance(told, Marks)
    assert told.elsewhere_s is None
