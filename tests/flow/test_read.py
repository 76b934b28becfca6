"""Reads: passed on as they come, whatever the store does."""

import asyncio
from dataclasses import replace

import pytest

from gateway.core.caller import Caller
from gateway.core.faults import BrokenAnswer, StoreUnavailable
from gateway.core.outcome import NoReply, NotSent
from gateway.core.term import Term
from gateway.core.write import ResourceKey
from gateway.flow.read import Reading
from gateway.flow.standing import Standing
from gateway.policy.principals import Principals
from gateway.policy.ruleset import build_ruleset
from tests.flow.test_standing import Issuers
from tests.playbook.caller import NoBody, ScriptedCaller
from tests.playbook.given import RESOURCE, UPSTREAM, request
from tests.playbook.script import STUCK, Transcript
from tests.playbook.store import ScriptedStore
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender


async def read(
    evidence: object, counted: ResourceKey | None = None, *, revision: object = 7, takes: tuple[bool, ...] = ()
) -> tuple[Transcript, ScriptedCaller]:
    said = Transcript()
    if isinstance(evidence, ScriptedAnswer):
        evidence.said = said
    caller = ScriptedCaller(said, takes)
    reading = Reading(ScriptedStore(said, revision=[revision]), ScriptedSender(said, evidence))
    await reading.run(UPSTREAM, counted, request("GET"), NoBody(), caller)
    return said, caller


def answer(small: object = (b"ok", True), *pieces: object) -> ScriptedAnswer:
    return ScriptedAnswer(Transcript(), small=small, pieces=pieces)


@pytest.mark.parametrize(
    ("evidence", "takes", "rest"),
    [
        (answer(), (), ["read at once", "reply passed ok", "close"]),
        (
            answer((b"one", False), b"two", b""),
            (),
            [
                "read at once",
                "begin passed",
                "write one in time",
                "read on",
                "write two in time",
                "read on",
                "end",
                "close",
            ],
        ),
        (answer((b"", False), b""), (), ["read at once", "begin passed", "read on", "end", "close"]),
        (answer((b"one", False)), (False,), ["read at once", "begin passed", "write one in time", "abort", "close"]),
        (
            answer((b"one", False), BrokenAnswer("cut")),
            (),
            ["read at once", "begin passed", "write one in time", "read on", "abort", "close"],
        ),
        (answer(BrokenAnswer("cut")), (), ["read at once", "refuse upstream-broken", "close"]),
        (NotSent("unreachable", "x"), (), ["refuse upstream-unreachable"]),
        (NoReply("timeout", "x"), (), ["refuse upstream-timeout"]),
        (NoReply("closed", "x"), (), ["refuse upstream-broken"]),
    ],
    ids=[
        "small",
        "large, at the caller's own pace",
        "nothing yet",
        "the caller left",
        "breaks off while it is passed on",
        "breaks off before",
        "not reached",
        "no answer in time",
        "no answer",
    ],
)
async def test_a_read_is_passed_on(evidence: object, takes: tuple[bool, ...], rest: list[str]) -> None:
    """The store is not asked; a broken answer is seen as broken, never as a short one."""
    said, _ = await read(evidence, takes=takes)

    assert said == ["proceed", "send read", *rest]


@pytest.mark.parametrize(("revision", "shown"), [(7, 7), (StoreUnavailable("away"), None)], ids=["known", "away"])
async def test_the_count_is_fetched_before_the_read(revision: object, shown: int | None) -> None:
    """Too old a count refuses a write, too new a one lets a lost update through; without a store a read passes."""
    said, caller = await read(answer(), RESOURCE, revision=revision)

    assert said[:3] == ["revision of report/7", "proceed", "send read"]
    assert [marks.revision for marks in caller.marks] == [shown]


@pytest.mark.parametrize(("age", "shown"), [(b"0", 7), (b"1", None), (b"3600, 0", None)])
async def test_what_a_cache_kept_has_no_count(age: bytes, shown: int | None) -> None:
    """It may be of before the last write, and the count is of behind it: a lost update would pass."""
    stored = ScriptedAnswer(Transcript(), small=(b"ok", True), headers=((b"Age", age),))

    _, caller = await read(stored, RESOURCE)

    assert [marks.revision for marks in caller.marks] == [shown]


async def test_a_silent_event_stream_is_left_when_its_caller_has() -> None:
    """Nothing more is awaited from the upstream, and its connection is given up."""
    said = Transcript()
    stream = ScriptedAnswer(said, small=(b"", False), pieces=(STUCK,), is_stream=True)
    caller = ScriptedCaller(said, gone=(False, True))
    reading = Reading(ScriptedStore(said), ScriptedSender(said, stream))
    await reading.run(UPSTREAM, None, request("GET"), NoBody(), caller)

    assert said == ["proceed", "send read", "read at once", "begin passed", "read on", "end", "close"]


async def asked_under(term: Term, evidence: object, *, is_known: bool = False) -> Transcript:
    """What is said to whoever has shown no key, and is somebody only where no key is wanted."""
    said = Transcript()
    if isinstance(evidence, ScriptedAnswer):
        evidence.said = said
    rules = build_ruleset((), Principals({} if is_known else {b"another's": Caller("bob")}))
    reading = Reading(ScriptedStore(said), ScriptedSender(said, evidence), Standing(lambda: rules, Issuers()))
    upstream = replace(UPSTREAM, term=term)
    await reading.run(upstream, None, request("GET"), NoBody(), ScriptedCaller(said))
    return said


OVER, IN_FORCE = Term(), Term()
OVER.end()
UNKNOWN = {
    "an answer that is whole at once": (answer(), ["close", "refuse unauthenticated"]),
    "one that comes in pieces": (answer((b"one", False), b"two", b""), ["close", "refuse unauthenticated"]),
    "none": (NoReply("closed", "x"), ["refuse unauthenticated"]),
    "a head that does not come": (STUCK, ["refuse unauthenticated"]),
}


@pytest.mark.parametrize(("evidence", "rest"), UNKNOWN.values(), ids=UNKNOWN.keys())
async def test_who_is_nobody_any_more_is_given_nothing(
    evidence: object, rest: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused as its next request would be, and the connection to the upstream is given up."""
    monkeypatch.setattr("gateway.flow.read._LOOK_EVERY_S", 0.01)

    assert await asked_under(OVER, evidence) == ["proceed", "send read", *rest]


@pytest.mark.parametrize(
    ("term", "is_known"), [(OVER, True), (IN_FORCE, False)], ids=["still known", "nothing has changed"]
)
async def test_whose_right_stands_is_answered(term: Term, is_known: bool) -> None:
    """Nobody is looked for as long as the policies are those by which the read was let in."""
    assert (await asked_under(term, answer(), is_known=is_known))[2:] == ["read at once", "reply passed ok", "close"]


async def test_a_gateway_that_is_stopped_waits_for_no_head() -> None:
    """Its caller is told nothing more by the read itself, as by any request."""
    said = Transcript()
    standing = Standing(lambda: build_ruleset((), Principals()), Issuers())
    reading = Reading(ScriptedStore(said), ScriptedSender(said, STUCK), standing)
    running = asyncio.ensure_future(reading.run(UPSTREAM, None, request("GET"), NoBody(), ScriptedCaller(said)))
    await said.until("send read")

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert said == ["proceed", "send read"]
