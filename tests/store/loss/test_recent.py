"""What a process remembers between two marks, and how it asks a store for it."""

from dataclasses import replace

import pytest

from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.rule import Fence
from gateway.core.write import Admitted, ResourceKey, TicketId, Write
from gateway.store.keys import intent_id, intent_record, shard_of, shards
from gateway.store.links.link import Reply
from gateway.store.loss.places import NO_EPOCH, Place
from gateway.store.loss.recent import Proof, Recent
from gateway.store.reply import intent_of
from tests.store.fences import RESOURCE, RETAIN_S, TTL_S, bare, keyed, rule, unknown_is

TICKET = TicketId("262one1")
SINCE_MS = 1_796_007_602_338
KEPT = unknown_is("hold")


def admitted(*, key: bool, attempt: int = 1) -> Admitted:
    write = keyed(bare(42, of=KEPT)) if key else bare(42)
    return Admitted(write, TICKET, None, intent_of(write, TICKET), attempt)


def asked(recent: Recent, now: float = 0.0) -> list[str]:
    """The commands, by their first word."""
    return [proof.command[0] for proof in recent.proofs(now)]


def proofs(recent: Recent) -> list[Proof]:
    return [proof for proof in recent.proofs(0.0) if isinstance(proof, Proof)]


def test_each_kind_has_its_proof() -> None:
    """An epoch by its record, an intent by its attempts, and a write without a key by its ticket."""
    recent = Recent()
    recent.raised(RESOURCE, Epoch(42))
    recent.admitted(admitted(key=True, attempt=3), 0.0, TTL_S)
    recent.admitted(admitted(key=False), 0.0, TTL_S)
    recent.parked(admitted(key=True).intent, 0, SINCE_MS, 9.0)

    attempts, ticket = proofs(recent)

    assert next(iter(recent.proofs(0.0))) == Place(RESOURCE, 42, is_used=False, sequence=0, revision=0)
    assert (attempts.command[0], attempts.least, attempts.of) == ("GETRANGE", 3, "attempts")
    assert ticket.command[0] == "ZSCORE"
    assert ticket.command[2] == f"{TICKET} {RESOURCE}"
    recent.settled(admitted(key=True, attempt=3), "applied", 0, 0.0)
    assert attempts.left == "" and [proof.left for proof in proofs(recent)] == ["in_flight", ""]


def test_a_mark_covers_what_was_acknowledged_before_it_left() -> None:
    """What came while it was on its way is for the next one."""
    recent = Recent()
    recent.raised(RESOURCE, 42)
    recent.turn()
    recent.admitted(admitted(key=False), 0.0, TTL_S)

    assert asked(recent) == ["HMGET", "ZSCORE"]
    recent.covered()
    assert asked(recent) == ["ZSCORE"]


def test_a_mark_that_got_no_answer_covers_nothing() -> None:
    """All of it is asked for until a later one is acknowledged."""
    recent = Recent()
    recent.raised(RESOURCE, 42)
    recent.turn()
    recent.admitted(admitted(key=False), 0.0, TTL_S)
    recent.turn()

    assert asked(recent) == ["HMGET", "ZSCORE"]
    recent.covered()
    assert asked(recent) == []


def test_what_may_be_gone_by_right_is_not_asked_for() -> None:
    """A ticket that is settled or past its deadline, and an intent past its time."""
    recent = Recent()
    recent.admitted(admitted(key=False), 0.0, TTL_S)
    recent.admitted(admitted(key=True), 0.0, TTL_S)

    assert asked(recent, now=29.0) == ["GETRANGE", "ZSCORE"]
    assert asked(recent, now=31.0) == ["GETRANGE"]
    assert asked(recent, now=RETAIN_S + 1) == []
    recent.ending(TICKET)
    assert asked(recent) == ["GETRANGE"]
    recent.forget(7)
    assert recent.floor == 7
    assert asked(recent) == []


def test_what_nobody_knows_of_a_write_without_a_key_has_a_record() -> None:
    """Any other ending leaves nothing that could be asked for, but for its place."""
    recent = Recent()
    one = admitted(key=False)
    recent.settled(one, "not_applied", 0, 0.0)
    recent.settled(one, "applied", 0, 0.0)
    assert list(recent.proofs(0.0)) == []

    recent.settled(one, "unknown", 0, 0.0)

    (ending,) = proofs(recent)
    assert ending.command[:2] == ("GETRANGE", intent_record(one.intent)) and ending.left == "in_flight"


def test_a_session_is_asked_for_until_it_is_about_to_end() -> None:
    """By the deadline that was acknowledged last; an extension that is heard of after that says nothing."""
    recent = Recent()
    one = admitted(key=False)
    session = replace(one, write=replace(one.write, rule=replace(one.write.rule, upgrade="websocket")))
    recent.extended(session, 9.0, 7000)
    assert list(recent.proofs(0.0)) == []
    recent.admitted(session, 0.0, 5.0)
    recent.extended(session, 9.0, 7000)

    (ticket,) = proofs(recent)
    assert (ticket.command[0], ticket.least) == ("ZSCORE", 7000)
    assert asked(recent, now=9.0) == []
    recent.ending(session.ticket)
    recent.extended(session, 9.0, 7000)
    assert list(recent.proofs(0.0)) == []


def test_what_was_denied_does_not_wait_for_an_approval() -> None:
    """As long as its record is kept."""
    recent = Recent()
    recent.denied(admitted(key=True).intent, 2, 9.0)

    (denial,) = proofs(recent)
    assert (denial.least, denial.left) == (2, "awaiting_approval")
    assert asked(recent, now=9.0) == []


Parked = tuple[int, int]
PARKED: dict[str, tuple[list[Parked], tuple[int, str, int]]] = {
    "a new key": ([(0, 5)], (0, "", 5)),
    "a key that failed": ([(1, 5)], (1, "", 5)),
    "its repeat, heard of later": ([(1, 5), (1, 4)], (1, "", 5)),
    "another one after an attempt": ([(0, 5), (1, 9)], (1, "", 9)),
    "what came before it, heard of later": ([(1, 9), (0, 5)], (1, "", 9)),
}


@pytest.mark.parametrize("case", PARKED)
def test_what_was_taken_is_told_from_what_failed_under_its_key(case: str) -> None:
    """Both were as often attempted: it is there since later."""
    recent = Recent()
    heard, told = PARKED[case]
    for attempts, since_ms in heard:
        recent.parked(IntentId("000one"), attempts, since_ms, 9.0)

    (taken,) = proofs(recent)
    assert (taken.least, taken.left, taken.since_ms) == told


def test_what_was_taken_again_has_ended_before() -> None:
    """Neither of the two steps may be missing."""
    recent = Recent()
    recent.settled(admitted(key=True, attempt=2), "not_applied", 0, 0.0)
    recent.parked(admitted(key=True).intent, 2, SINCE_MS, 9.0)

    (taken,) = proofs(recent)
    assert (taken.least, taken.left, taken.since_ms) == (2, "in_flight", SINCE_MS)


def test_places_are_kept_together_and_begin_anew_after_a_reset() -> None:
    """What one write has taken of an epoch the next does not hide, also behind a mark. What was before holds by right
    where an operator has forgotten it.
    """
    recent = Recent()
    strict, numbered = bare(42, of=rule(Fence(order="strict"))), bare(42, of=rule(counts=True))
    for write, revision in ((strict, 0), (numbered, 7)):
        recent.settled(one_of(write), "applied", revision, 0.0)
        recent.turn()

    assert list(recent.proofs(0.0)) == [Place(RESOURCE, 42, is_used=True, sequence=0, revision=7)]
    recent.began(RESOURCE, 9)
    recent.settled(replace(one_of(strict), era=9), "applied", 0, 0.0)

    former, began, place = recent.proofs(0.0)
    assert former.holds([None, b"9", b"42", None, None, None, b"7"])
    assert began == Place(RESOURCE, NO_EPOCH, is_used=False, sequence=0, revision=0, era=9)
    assert place == Place(RESOURCE, 42, is_used=True, sequence=0, revision=7, era=9)


def one_of(write: Write) -> Admitted:
    return Admitted(write, TICKET, None, intent_of(write, TICKET))


DENIED = Proof(("GETRANGE",), 0, "attempts", "awaiting_approval")
AWAITING = Proof(("GETRANGE",), 1, "attempts", "", SINCE_MS)
ENDED = Proof(("GETRANGE",), 3, "attempts", "in_flight")


def record(attempts: int, state: str, instant_ms: int = SINCE_MS) -> bytes:
    """Of a record from the instant of its last step on; what is between that and the attempts is of no interest."""
    text = state.encode()
    return instant_ms.to_bytes(6, "big") + bytes(21) + attempts.to_bytes(4, "big") + bytes([len(text)]) + text + b"..."


ANSWERS: dict[str, tuple[Proof, Reply, bool]] = {
    "as many attempts": (Proof(("GETRANGE",), 3, "attempts"), record(3, "in_flight"), True),
    "fewer attempts": (Proof(("GETRANGE",), 3, "attempts"), record(2, "in_flight"), False),
    "one that waits": (Proof(("GETRANGE",), 0, "attempts"), record(0, "queued"), True),
    "no intent": (Proof(("GETRANGE",), 0, "attempts"), b"", False),
    "an ending": (ENDED, record(3, "applied"), True),
    "one that was lost": (ENDED, record(3, "in_flight"), False),
    "one with its attempt": (ENDED, record(2, "unknown"), False),
    "one that another attempt followed": (ENDED, record(4, "in_flight"), True),
    "an ending of nothing": (ENDED, b"", False),
    "a denial": (DENIED, record(0, "denied"), True),
    "a denial that was lost": (DENIED, record(0, "awaiting_approval"), False),
    "a denial of nothing": (DENIED, b"", False),
    "one that was taken": (AWAITING, record(1, "awaiting_approval"), True),
    "one that was taken, and then overtaken": (AWAITING, record(1, "superseded", SINCE_MS + 1), True),
    "one that was taken, and then sent": (AWAITING, record(2, "in_flight", SINCE_MS + 1), True),
    "one that failed before it": (AWAITING, record(1, "failed", SINCE_MS - 1), False),
    "a longer ticket": (Proof(("ZSCORE",), 1796007602338), b"1796007602338", True),
    "an extension that was lost": (Proof(("ZSCORE",), 1796007602339), b"1796007602338", False),
    "a ticket": (Proof(("ZSCORE",), 0), b"1796007602338", True),
    "no ticket": (Proof(("ZSCORE",), 0), None, False),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_what_an_answer_proves(case: str) -> None:
    """As much as was acknowledged, or more."""
    proof, answer, holds = ANSWERS[case]

    assert proof.holds(answer) is holds


def test_a_server_that_was_not_marked_is_asked_for_its_own() -> None:
    """What the marked ones acknowledged is forgotten; the other's waits for its mark, whatever kind it is of."""
    recent = Recent()
    here, there = ResourceKey("report/1"), ResourceKey("report/2")
    for resource in (here, there):
        write = replace(bare(42), resource=resource)
        recent.raised(resource, 42)
        recent.admitted(
            Admitted(write, TicketId(f"{shard_of(resource)}one1"), None, intent_of(write, TICKET)), 0.0, TTL_S
        )
        recent.parked(intent_id(resource, "digest"), 0, SINCE_MS, 9.0)
    recent.turn()
    recent.covered({shard_of(there)})

    assert asked(recent) == ["HMGET", "GETRANGE", "ZSCORE"]
    assert all(f"{{{shard_of(there)}}}" in proof.command[1] for proof in recent.proofs(0.0))
    recent.covered()
    assert asked(recent) == []


def test_of_a_server_that_stays_away_the_newest_are_remembered() -> None:
    """A store loses the end of what it acknowledged: they tell. What is raised again is the newest again."""
    recent = Recent()
    for number in range(1, 41):
        for shard in shards()[:2]:
            recent.parked(IntentId(f"{shard}{number}"), 0, SINCE_MS, 9.0)
            recent.parked(IntentId(f"{shard}0"), 0, SINCE_MS, 9.0)
        recent.turn()
        recent.covered({shards()[0]})

    intents = [proof.command[1].rpartition(":")[2] for proof in recent.proofs(0.0)]
    assert intents == [*(f"000{number}" for number in range(10, 41)), "0000"]
