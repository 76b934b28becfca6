"""One write from admission to reply, as a whole conversation with store, upstream and caller."""

import pytest

from gateway.core.decision import STALE_EPOCH, Refused
from gateway.core.faults import BrokenAnswer, CallerGone
from gateway.core.outcome import NoReply, NotSent
from gateway.core.rule import Limits, Rule, Upstream
from tests.flow.playing import BEFORE, answer, large, play
from tests.playbook.given import UPSTREAM
from tests.playbook.store import Admit, Settle


@pytest.mark.parametrize(
    ("evidence", "rest"),
    [
        (answer(), ["read small", "settle t1 applied: answered 200", "reply applied ok", "close"]),
        (answer(412), ["read small", "settle t1 not_applied: answered 412", "reply not_applied ok", "close"]),
        (answer(503), ["read small", "settle t1 unknown, unfinished: answered 503", "reply unknown ok", "close"]),
        (
            answer(small=BrokenAnswer("reset")),
            ["read small", "settle t1 unknown, unfinished: reset", "refuse outcome-unknown", "close"],
        ),
        (NoReply("timeout", "too slow"), ["settle t1 unknown, unfinished: too slow", "refuse outcome-unknown"]),
        (NoReply("closed", "closed"), ["settle t1 unknown, unfinished: closed", "refuse outcome-unknown"]),
        # The API may be at work on what it was given.
        (NoReply("caller-broke", "gone"), ["settle t1 unknown, unfinished: gone", "refuse outcome-unknown"]),
        (answer(500), ["read small", "settle t1 unknown: answered 500", "reply unknown ok", "close"]),
        (
            answer(413, is_early=True),
            ["read small", "settle t1 unknown, unfinished: answered 413", "reply unknown ok", "close"],
        ),
        (
            answer(200, is_early=True),
            ["read small", "settle t1 unknown, unfinished: answered 200", "reply unknown ok", "close"],
        ),
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
                *("settle t1 unknown, unfinished: cut off", "close"),
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
        "the caller's body broke off in the middle",
        "a fault of the API itself",
        "refused in the middle of the body",
        "what was not given whole",
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
    [(b"", "settle t1 applied: answered 200"), (BrokenAnswer("cut off"), "settle t1 unknown, unfinished: cut off")],
    ids=["whole", "cut off"],
)
async def test_a_slow_caller_is_cut_off_and_the_answer_read_to_its_end(
    takes: tuple[bool, ...], written: list[str], last: object, settled: str
) -> None:
    """The outcome never depends on the caller's pace."""
    played = play(large(b"two", last), takes=takes)

    await played.run()

    assert played.said == [*BEFORE, "read small", "begin applied", *written, settled, "close"]


async def test_an_overtaken_write_is_counted() -> None:
    """A newer epoch came while it was in flight: it ends as what was proved, and is counted."""
    played = play(answer(), settle=[Settle(overtaken=True)])

    await played.run()

    assert played.counted.said == ["sent", "overtaken", "ended"]


async def test_a_body_over_the_limit_of_which_nothing_was_sent_is_too_large() -> None:
    """Proved not applied; to send it again would not help."""
    limited = Upstream("u", UPSTREAM.origin, limits=Limits(stream=10))
    played = play(NotSent("too-large", "x"), rule=Rule("r", limited))

    await played.run()

    assert played.said == [*BEFORE, "settle t1 not_applied: x", "refuse body-too-large"]


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
