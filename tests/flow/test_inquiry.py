"""Asking upstreams about unknown intents: what is asked, in which order, and what is concluded."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from gateway.core.faults import BrokenAnswer, StoreUnavailable
from gateway.core.intent import IntentId
from gateway.core.outcome import NoReply, NotSent
from gateway.core.record import IntentRecord
from tests.flow.inquiring import GZIPPED, JSON, LATE_ENOUGH_S, POLICY, TWICE, Play, answer, record
from tests.playbook.given import RESOURCE
from tests.playbook.script import STUCK, Transcript
from tests.playbook.upstream import ScriptedAnswer
from tests.stack import rules_from


class Stage(Protocol):
    """A play about these intents, each unknown for `after_s`; a `patient` policy gives the query half a minute."""

    def __call__(self, *records: IntentRecord, after_s: float = LATE_ENOUGH_S, patient: bool = False) -> Play: ...


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with (tmp_path / "log").open("ab") as lines:

        def play(*records: IntentRecord, after_s: float = LATE_ENOUGH_S, patient: bool = False) -> Play:
            text = POLICY.replace("total: 100ms", "total: 30s") if patient else POLICY
            rules = rules_from(tmp_path / "policies", text)
            return Play(rules, tmp_path / "log", lines.fileno(), *records, after_s=after_s)

        yield play


ASKED = ["recall 000one", "take 000one", "GET /mail/by-key/key-one of mail"]
READ = [*ASKED, "read small", "close"]


@pytest.mark.parametrize(
    ("evidence", "resolution"),
    [
        pytest.param(answer(200), "applied: the query answered 200", id="a yes"),
        pytest.param(answer(404), "not_applied: the query answered 404", id="a late no"),
        pytest.param(answer(200, TWICE), "duplicated: the query answered 200", id="more than once"),
        pytest.param(answer(404, b"nothing here"), "not_applied: the query answered 404", id="a no without JSON"),
        pytest.param(answer(200, GZIPPED, coding=b"gzip"), "duplicated: the query answered 200", id="compressed"),
        pytest.param(answer(404, b"", coding=b"gzip"), "not_applied: the query answered 404", id="coding of no body"),
    ],
)
async def test_what_an_upstream_knows_resolves_the_intent(
    stage: Stage, evidence: ScriptedAnswer, resolution: str
) -> None:
    """The query is sent once, its answer read to the end and its connection given back before anything is concluded."""
    said = await stage(record()).ask("000one", one=evidence)

    incident = ["incident duplicate-effect"] if resolution.startswith("duplicated") else []
    assert said == [*READ, f"resolve 000one {resolution}", *incident]


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        pytest.param(answer(500), "the query answered 500", id="an error"),
        pytest.param(
            answer(404, JSON, coding=b"br"), "the query's answer has a coding that cannot be undone", id="unreadable"
        ),
        pytest.param(answer(303), "the query answered 303", id="a redirect, which is not followed"),
        pytest.param(answer(200, JSON, whole=False), "the query's answer is larger than 65536 bytes", id="too large"),
        pytest.param(
            answer(200, b" " * 65_537), "the query's answer is larger than 65536 bytes", id="too large in one piece"
        ),
        pytest.param(
            ScriptedAnswer(Transcript(), 200, BrokenAnswer("reset")),
            "the query's answer broke off: reset",
            id="broken off",
        ),
        pytest.param(
            ScriptedAnswer(Transcript(), 200, STUCK), "the query was not answered within 0.1 s", id="never whole"
        ),
    ],
)
async def test_whatever_is_unclear_leaves_the_intent_unknown(stage: Stage, evidence: ScriptedAnswer, why: str) -> None:
    """The log says why; the store says when it is asked about again."""
    play = stage(record())

    assert await play.ask("000one", one=evidence) == READ

    (line,) = play.logged()
    assert (line["event"], line["why"], line["intent"]) == ("an intent stays unknown", why, "000one")


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        pytest.param(NotSent("unreachable", "refused"), "the query was not answered: refused", id="unreachable"),
        pytest.param(NoReply("closed", "reset"), "the query was not answered: reset", id="no answer"),
        pytest.param(STUCK, "the query was not answered within 0.1 s", id="not in time"),
    ],
)
async def test_a_query_without_an_answer_leaves_the_intent_unknown(stage: Stage, evidence: object, why: str) -> None:
    """An upstream that is away knows nothing yet."""
    play = stage(record())

    assert await play.ask("000one", one=evidence) == ASKED

    assert play.logged()[0]["why"] == why


@pytest.mark.parametrize(
    ("status", "unknown_for_s", "resolved"),
    [
        pytest.param(404, 30.9, False, id="the upstream may still be at it"),
        pytest.param(404, 31.0, True, id="it no longer is"),
        pytest.param(200, 0.0, True, id="a yes is a yes at any time"),
    ],
)
async def test_a_no_counts_only_late(stage: Stage, status: int, unknown_for_s: float, resolved: bool) -> None:
    """Past `timeouts.late` and the query's `not_before`: an early no would let the write run twice."""
    play = stage(record(), after_s=unknown_for_s)

    said = await play.ask("000one", one=answer(status))

    assert len(said) == len(READ) + resolved
    assert resolved or play.logged()[0]["why"] == "the query answered 404, too early for a no"


@pytest.mark.parametrize(
    ("evidence", "resolved"),
    [
        pytest.param(answer(404, age=b"7"), False, id="a cache's no"),
        pytest.param(answer(404, age=b"0"), True, id="one that a cache has asked for just now"),
        pytest.param(answer(200, age=b"7"), True, id="a cache's yes"),
    ],
)
async def test_a_no_of_before_does_not_count(stage: Stage, evidence: ScriptedAnswer, resolved: bool) -> None:
    """A cache between may have it from when the upstream was still at it, asked for a yes by this very gateway."""
    play = stage(record())

    said = await play.ask("000one", one=evidence)

    assert len(said) == len(READ) + resolved


@pytest.mark.parametrize(("status", "resolved"), [(202, False), (203, False), (206, False), (299, True)])
async def test_a_no_is_the_apis_own(stage: Stage, status: int, resolved: bool) -> None:
    """Not one that is not done yet, of another one (203) or of a part."""
    play = stage(record())
    play.rules = rules_from(play.directory / "counts", POLICY.replace("{status: 404}", "{json: {/count: 0}}"))

    said = await play.ask("000one", one=answer(status, b'{"count":0}'))

    assert len(said) == len(READ) + resolved


@pytest.mark.parametrize(("status", "resolved"), [(404, False), (200, True)], ids=["a no", "a yes"])
async def test_where_it_was_not_sent_nobody_can_say_no(stage: Stage, status: int, resolved: bool) -> None:
    """The upstream has another `url` since: what does not know of the write there is another server."""
    play = stage(replace(record(), origin="0a0b0c0d"))

    said = await play.ask("000one", one=answer(status))

    assert len(said) == len(READ) + resolved


@pytest.mark.parametrize(("unknown_for_s", "resolved"), [(60.9, False), (61.0, True)])
async def test_a_no_counts_no_sooner_than_when_it_was_sent(stage: Stage, unknown_for_s: float, resolved: bool) -> None:
    """`timeouts.late` or `not_before` is shorter by now: an attempt of before still lasts as long as they said then."""
    play = stage(replace(record(), no_after_s=61.0), after_s=unknown_for_s)

    said = await play.ask("000one", one=answer(404))

    assert len(said) == len(READ) + resolved


@pytest.mark.parametrize(
    ("evidence", "kept"),
    [
        pytest.param(answer(200), JSON, id="JSON"),
        pytest.param(answer(200, GZIPPED, coding=b"gzip"), TWICE, id="decoded"),
        pytest.param(answer(200, b"<p>sent</p>"), b"", id="no JSON"),
        pytest.param(answer(200, b'{"a":1,"a":2}'), b"", id="JSON that two readers read differently"),
        pytest.param(answer(200, b""), b"", id="empty"),
    ],
)
async def test_evidence_is_what_every_reader_reads_alike(stage: Stage, evidence: object, kept: bytes) -> None:
    """It is shown to agents as JSON."""
    play = stage(record())

    await play.ask("000one", one=evidence)

    assert play.questions.evidence == [kept]


async def test_a_query_says_nothing_but_what_it_asks(stage: Stage) -> None:
    """No header of an agent, an epoch or a key goes with it; the upstream's credentials are the sender's to add."""
    play = stage(record())

    await play.ask("000one", one=answer(200))

    (request,) = play.requests
    assert request.headers.pairs == ((b"Accept", b"application/json"), (b"Cache-Control", b"no-cache"))


async def test_a_double_effect_is_an_incident_with_what_to_do(stage: Stage) -> None:
    """Its resource is paused until somebody has looked: the log says so."""
    play = stage(record())

    await play.ask("000one", one=answer(200, TWICE))

    (line,) = play.logged()
    assert (line["level"], line["event"]) == (
        "error",
        "an intent took effect more than once: its resource is paused",
    )
    assert "resume the resource" in line["what_to_do"]
    assert (line["intent"], line["upstream"], line["rule"], line["resource"]) == ("000one", "mail", "send", RESOURCE)


async def test_what_was_resolved_meanwhile_is_neither_told_nor_an_incident(stage: Stage) -> None:
    """The write's own answer came after all, or an operator knew."""
    play = stage(record())
    play.questions.resolves = False

    said = await play.ask("000one", one=answer(200, TWICE))

    assert said == [*READ, "resolve 000one duplicated: the query answered 200"]
    assert play.logged() == []


@pytest.mark.parametrize(
    ("held", "why"),
    [
        pytest.param(record(upstream="gone"), "the policies in force have no query for its upstream", id="no upstream"),
        pytest.param(record(key=".."), "its key cannot stand in the query's path", id="a key that leads elsewhere"),
    ],
)
async def test_what_cannot_be_asked_stays_unknown(stage: Stage, held: IntentRecord, why: str) -> None:
    """Its turn is taken all the same, so that it is not found due every second."""
    play = stage(held)

    assert await play.ask("000one") == ["recall 000one", "take 000one"]

    assert play.logged()[0]["why"] == why


async def test_an_intent_without_a_record_is_taken_off_the_list(stage: Stage) -> None:
    """Taking the turn does that; there is nothing to ask."""
    assert await stage().ask("000one") == ["recall 000one", "take 000one"]


@pytest.mark.parametrize("verb", ["recall", "take", "resolve"])
async def test_a_store_that_goes_away_loses_nothing(stage: Stage, verb: str) -> None:
    """At whichever step: the intent stays as it is, and is asked about when it is found due again."""
    play = stage(record())
    play.questions.broken = {verb: StoreUnavailable("no answer")}
    await play.ask("000one", one=answer(200))
    play.questions.broken = {}
    play.said.clear()

    said = await play.ask("000one", one=answer(200))

    assert said == [*READ, "resolve 000one applied: the query answered 200"]


async def test_a_record_that_cannot_be_read_ends_no_other_inquiry(stage: Stage) -> None:
    """It is told by its id; the values that were handled there are not shown."""
    play = stage(record())
    play.questions.broken = {"take": KeyError("secret")}

    assert await play.ask("000one") == ["recall 000one", "take 000one"]

    (line,) = play.logged()
    assert (line["event"], line["intent"], line["kind"]) == ("asking about an intent failed", "000one", "KeyError")


async def test_what_is_being_asked_about_is_not_asked_again(stage: Stage) -> None:
    """However often it is found due: a slow upstream gets one query at a time for each intent."""
    play = stage(record(), patient=True)
    inquiry, _ = play.begin("000one", one=STUCK)
    await play.said.until(ASKED[-1])

    inquiry.begin([IntentId("000one")])
    await inquiry.close(0)

    assert play.said == ASKED


async def test_a_slow_upstream_holds_up_no_other(stage: Stage) -> None:
    """Its hundreds are asked about sixteen at a time; another upstream's one is asked about within as many turns as
    there are sixty-fours before it.
    """
    slow = [record(f"000{number:03}") for number in range(200)]
    other = record("3ffother", upstream="gone")
    due = [held.id for held in (*slow, other)]
    play = stage(*slow, other, patient=True)

    inquiry, _ = play.begin(*due, **{f"{number:03}": STUCK for number in range(200)})
    for looked_at in (64, 128, 192):
        await play.looked_at(looked_at)
        inquiry.begin(due)
    await play.said.until("take 3ffother")

    assert sum(line.startswith("GET") for line in play.said) == 16
    await inquiry.close(0)


async def test_whoever_closes_it_gives_the_connections_back(stage: Stage) -> None:
    """A query that is under way is broken off; its answer is closed and not concluded from."""
    play = stage(record(), patient=True)
    inquiry, _ = play.begin("000one", one=ScriptedAnswer(Transcript(), 200, STUCK))
    await play.said.until("read small")

    await inquiry.close(0)
    await play.said.until("close")

    assert play.said == READ
