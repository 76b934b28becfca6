"""Writes that are sent later: what is asked of the store, and what their callers are told."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from gateway.core.decision import STALE_EPOCH, TOKEN_INVALID, UNAUTHENTICATED, Facts, Refused
from gateway.core.faults import BodyTooLarge, CallerGone, NoRoom, StoreUnavailable
from gateway.core.intent import KeptAnswer
from gateway.core.parking import Approval
from gateway.core.request import Headers
from gateway.core.rule import Limits
from gateway.core.term import Term
from gateway.core.write import Replayed, Write
from gateway.flow import parking
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.parking import Parking
from gateway.flow.quarantine import Quarantine
from gateway.flow.room import Room
from gateway.flow.standing import Standing
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from tests.flow.queueing import JUST_NOW, Nobody, record
from tests.hand_clock import HandClock
from tests.playbook.caller import Counted, NoBody, ScriptedCaller
from tests.playbook.given import INTENT, INTENT_ID, RULE, UPSTREAM, request, write
from tests.playbook.script import Transcript
from tests.playbook.store import ScriptedStore, unpaused

QUEUED = replace(RULE, upstream=replace(UPSTREAM, limits=Limits(body=10)), parks="queued")
AWAITED = record("awaiting_approval", approval=Approval("awaited", 9_000))


@dataclass
class Body(NoBody):
    """Implements `ports.BodySource`."""

    length: int | None = None
    whole: bytes = b"body"
    pieces: list[bytes] = field(default_factory=list)
    fault: Exception | None = None
    spooled: bool = False

    reads: int = 0

    def rewind(self) -> bool:
        self.pieces = [self.whole] if self.spooled else []
        return self.spooled

    async def spool(self, feed: Callable[[bytes], None], in_memory: int) -> bytes | None:
        assert in_memory <= 1 << 20
        if self.fault is not None:
            raise self.fault
        self.spooled, self.length = True, len(self.whole)
        return None

    def take_buffered(self) -> bytes | None:
        return None

    async def read(self) -> bytes:
        self.reads += 1
        return self.pieces.pop(0) if self.pieces else b""


async def parked(
    *replies: object, body: Body | None = None, prefer: bytes = b"", gone: tuple[bool, ...] = (), of: object = QUEUED,
    stopping: bool = False, room: Room | None = None, **scripts: list[object],
) -> tuple[list[str], ScriptedCaller, int]:  # fmt: skip
    """The conversation, the caller, and how often the deliverer was nudged."""
    said, clock, deliverer = Transcript(), BootClock(), Nobody(is_stopping=stopping)
    store = ScriptedStore(said, park=list(replies), **scripts)
    admission = Admission(store, clock, Wakes(), Tasks(), unpaused(store))
    taking = Parking(store, admission, Quarantine(store, Counted(), clock), room or Room(), clock, deliverer)
    caller = ScriptedCaller(said, gone=gone)
    asked = replace(request(), headers=Headers(((b"Prefer", prefer),) if prefer else ()))
    await taking.run(write(of, intent=INTENT), asked, body or Body(), caller)
    return said, caller, deliverer.nudged


@pytest.mark.parametrize(
    ("found", "told"),
    [(record(), "queued queued"), (AWAITED, "awaiting-approval awaiting_approval")],
    ids=["queued", "awaits an approval"],
)
async def test_what_was_taken_is_told(found: object, told: str) -> None:
    """At once, with its record."""
    said, caller, nudged = await parked(found)

    assert said == ["proceed", "park PUT /reports/7 body", f"park {told}"]
    assert caller.marks[0].intent == INTENT_ID and nudged == 1


async def test_an_intent_that_was_applied_is_replayed() -> None:
    """Nothing is queued."""
    replayed = Replayed(write(QUEUED, intent=INTENT), INTENT_ID, KeptAnswer(201, (), b"made"))
    said, _, nudged = await parked(replayed)

    assert said[-1] == "replay 201 made" and nudged == 0


@pytest.mark.parametrize(
    "body",
    [Body(length=11), Body(whole=b"x" * 11), Body(fault=BodyTooLarge())],
    ids=["announced", "read before", "as it turns out"],
)
async def test_a_body_that_cannot_be_kept_is_refused(body: Body) -> None:
    """Before the store is asked, and without being held."""
    said, _, _ = await parked(body=body)

    assert said == ["proceed", "refuse body-too-large"]
    assert body.reads == 0


async def test_a_body_for_which_the_disk_has_no_room_is_refused() -> None:
    """Its caller may send it again."""
    said, caller, _ = await parked(body=Body(fault=NoRoom("the disk is full")))

    assert said == ["proceed", "refuse no-room"]
    assert caller.refusals[0].why == "the disk is full"


async def test_a_large_body_is_held_only_when_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits on the disk for its turn; one that has waited too long is refused, and may be sent again."""
    monkeypatch.setattr(parking, "PATIENCE_S", 0.01)
    large, room = replace(RULE, upstream=replace(UPSTREAM, limits=Limits(body=1 << 20)), parks="queued"), Room(1 << 20)
    body = Body(whole=b"x" * (1 << 20))
    async with room.taken(1 << 20):
        said, caller, _ = await parked(body=body, of=large, room=room)

        assert said == ["proceed", "refuse no-room"]
        assert (caller.refusals[0].facts.retry_after_s, body.reads) == (1, 0)

    said, _, _ = await parked(record(), body=body, of=large, room=room)
    assert said[-1] == "park queued queued"


async def test_a_caller_that_is_gone_leaves_nothing() -> None:
    """It was not told that anything was taken, and nothing was."""
    with pytest.raises(CallerGone):
        await parked(gone=(True,))


async def test_of_a_store_that_goes_away_nobody_knows_whether_it_took_the_write() -> None:
    """Its caller is not told that nothing was done, and the repeat that it is told to send finds what may have been."""
    said, caller, _ = await parked(StoreUnavailable("away"))

    assert said[-1] == "refuse store-unavailable" and caller.refusals[0].decision.action == "retry"
    assert caller.refusals[0].detail.startswith("Nobody knows whether it was taken")
    assert "Repeat it with the same key" in caller.refusals[0].detail


async def test_what_comes_too_late_is_kept_where_the_rule_says_so() -> None:
    """As of any other write."""
    stale = Refused(STALE_EPOCH, "Not taken: too old. Stop.", Facts(highest_epoch=43))
    said, caller, _ = await parked(stale, of=replace(QUEUED, on_stale="quarantine"), quarantine=["q-1"])

    assert said[-2:] == ["quarantine body", "refuse stale-epoch"]
    assert caller.refusals[0].facts.quarantine == "q-1"


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (record("unknown"), "refuse outcome-unknown"),
        (record("denied", reason="not now"), "refuse approval-denied"),
        (record("expired"), "refuse approval-denied"),
        (record("superseded"), "refuse stale-epoch"),
        (replace(record("failed"), answer=KeptAnswer(422, (), b"bad")), "replay 422 bad"),
        (record("failed", reason="answered 422"), "refuse answer-not-kept"),
        (record("failed", reason="its request was lost"), "refuse upstream-unreachable"),
        (record("failed", reason="the policy no longer takes it: no rule takes it"), "refuse no-policy"),
        (replace(record("applied"), answer=KeptAnswer(201, (), b"made")), "replay 201 made"),
        (replace(record("applied"), resolved_by="operator"), None),
    ],
    ids=lambda value: value.state if hasattr(value, "state") else None,
)
async def test_whoever_prefers_to_wait_is_told_how_it_ended(found: object, told: str | None) -> None:
    """As the record says by then; the store may be away in between."""
    said, caller, _ = await parked(record(), prefer=b"wait=5", recall=[StoreUnavailable("away"), record(), found])

    assert said[2:5] == [f"recall {INTENT_ID}"] * 3
    assert told is None or said[5] == told
    if caller.replays:
        assert caller.replays[0].headers[-1] == (b"Preference-Applied", b"wait=5") or told is None


OTHER = replace(JUST_NOW, digest="another")


@pytest.mark.parametrize(
    ("later", "told"),
    [
        (replace(record(), parking=OTHER, fingerprint=b"another"), "refuse intent-mismatch"),
        (replace(record("applied"), parking=None, fingerprint=b"another"), "refuse intent-mismatch"),
        (replace(record("applied"), parking=OTHER), "refuse intent-in-progress"),
        (replace(record("applied"), parking=OTHER, created_at_ms=9_000), "refuse outcome-unknown"),
        (replace(record("applied"), parking=None, answer=KeptAnswer(201, (), b"made")), "replay 201 made"),
    ],
    ids=["another request", "another one, sent at once", "the same by its rule, anew", "its record is gone", "its own"],
)
async def test_whoever_prefers_to_wait_is_not_told_of_another_request(later: object, told: str) -> None:
    """Its key was free, and was used again; only a record that was lost and written anew has no kept request."""
    said, caller, _ = await parked(record(), prefer=b"wait=5", recall=[later])

    assert said[-1] == told
    detail = caller.refusals[0].detail if caller.refusals else ""
    assert detail.startswith("Nobody can tell" if "unknown" in told else "Not applied") or not detail


async def test_waiting_ends_when_the_caller_leaves() -> None:
    """Nobody is there to be told; what was taken stays taken."""
    said, _, _ = await parked(record(), prefer=b"wait=5", gone=(False, False, True), recall=[record()])

    assert said[-1] == "park queued queued after 5 s"


async def test_waiting_ends_when_the_gateway_does() -> None:
    """Its caller learns that the write was taken, and asks another gateway for the answer."""
    said, _, _ = await parked(record(), prefer=b"wait=5", stopping=True)

    assert said[-1] == "park queued queued after 5 s"


class Rights(Standing):
    """Its answer by the principals at each look, the last one for good; and what is told of the claim."""

    def __init__(self, *looks: Refused | None, claim: Refused | None = None) -> None:
        self._looks = list(looks)
        self._claim = claim
        self.asked = 0

    def barred(self, write: Write, headers: Headers) -> Refused | None:
        self.asked += 1
        return self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]

    async def lost(self, write: Write, headers: Headers) -> Refused | None:
        return self.barred(write, headers) or self._claim


@dataclass
class Ending(Nobody):
    """Implements `parking.Delivers`: other policies come into force a second after something was queued."""

    term: Term = field(default_factory=Term)
    clock: HandClock = field(default_factory=HandClock)

    def nudge(self) -> None:
        self.clock.now += 1.0
        self.term.end()


APPLIED = replace(record("applied"), answer=KeptAnswer(201, (), b"made"))
FAILED = replace(record("failed"), answer=KeptAnswer(422, (), b"bad"))
GONE = Refused(UNAUTHENTICATED, "Nothing was done: nobody has the key. Stop.")


async def waited(
    rights: Standing, *found: object, ends: bool = True, claim_s: float | None = None
) -> tuple[list[str], ScriptedCaller]:
    """Of one that prefers to wait; `ends`: the policies do, once it was taken. `claim_s`: its claim, in so long."""
    said, clock, term = Transcript(), HandClock(), Term()
    store = ScriptedStore(said, park=[found[0]], recall=list(found[1:]))
    admission = Admission(store, clock, Wakes(), Tasks(), unpaused(store))
    deliverer = Ending(term=term if ends else Term(), clock=clock)
    taking = Parking(store, admission, Quarantine(store, Counted(), clock), Room(), clock, deliverer, rights)
    caller = ScriptedCaller(said)
    asked = replace(request(), headers=Headers(((b"Prefer", b"wait=5"),)))
    rule = replace(QUEUED, upstream=replace(QUEUED.upstream, term=term))
    expires = None if claim_s is None else clock.after(claim_s)
    await taking.run(replace(write(rule, intent=INTENT), expires=expires), asked, Body(), caller)
    return said, caller


LATER = {
    "while it is queued": (record(), record()),
    "as it is applied": (record(), APPLIED),
    "as it is refused": (record(), FAILED),
    "as its key is another's": (record(), replace(APPLIED, parking=OTHER)),
}


@pytest.mark.parametrize("found", LATER.values(), ids=LATER.keys())
async def test_who_loses_the_right_while_it_waits_is_told_no_more(found: tuple[object, ...]) -> None:
    """At the next look, with what its next request would be refused with; what was taken is not ended by it."""
    said, caller = await waited(Rights(GONE), *found)

    assert said[2:] == [f"recall {INTENT_ID}", "refuse unauthenticated"]
    assert caller.refusals[0].detail.startswith("What was taken is not ended by this")
    assert caller.refusals[0].detail.endswith(": nobody has the key. Stop.")


@pytest.mark.parametrize("found", [APPLIED, FAILED], ids=["applied", "refused"])
async def test_a_right_is_looked_at_once_more_before_the_answer(found: object) -> None:
    """The request's body may have waited for room in between."""
    said, _ = await waited(Rights(None, GONE), record(), found)

    assert said[-1] == "refuse unauthenticated"


async def test_a_right_is_not_looked_at_as_long_as_the_policies_are_in_force() -> None:
    """Nothing that can be withdrawn has changed."""
    rights = Rights(GONE)
    said, _ = await waited(rights, record(), APPLIED, ends=False)

    assert (said[-1], rights.asked) == ("replay 201 made", 0)


@pytest.mark.parametrize(
    ("claim_s", "told"),
    [(0.5, "replay 201 made"), (60.0, "refuse token-invalid")],
    ids=["its time is over", "its key is withdrawn"],
)
async def test_a_claim_that_ends_in_its_own_time_takes_nothing_from_who_waits(claim_s: float, told: str) -> None:
    """It was good for the request; a key that nobody trusts any more is good for nothing."""
    said, _ = await waited(Rights(None, claim=Refused(TOKEN_INVALID, "")), record(), APPLIED, claim_s=claim_s)

    assert said[-1] == told
